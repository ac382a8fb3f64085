"""Pairing the profiler's table with the launches that it measured."""

import pytest

from tinygpu.isa.errors import MissingError
from tinygpu.validate.measure import counters
from tinygpu.validate.measure.body import Body
from tinygpu.validate.measure.counters import Case
from tinygpu.validate.measure.patterns_shared import Pattern

TABLE = """==PROF== Connected to process 1
"ID","Process ID","Kernel Name","a.sum","b.sum"
"","","","byte","cycle"
"0","1","benchmark","1,024","7"
"1","1","benchmark","16","3.5"
==PROF== Disconnected
"""
BODY = Body("eight", ("",), (8,))


def case(name, operation="load", active=32):
    return Case(operation, Pattern(name, 32, (0,) * active + (-1,) * (32 - active)), BODY)


def test_table_is_read_with_units_row_and_thousands():
    assert counters.parse(TABLE.rsplit("==PROF", 1)[0], ("a.sum", "b.sum")) == [
        {"a.sum": 1024.0, "b.sum": 7.0},
        {"a.sum": 16.0, "b.sum": 3.5},
    ]


def test_metric_that_is_missing_is_left_out():
    assert counters.parse(TABLE.rsplit("==PROF", 1)[0], ("a.sum", "c.sum"))[0] == {"a.sum": 1024.0}


def test_no_table_is_a_missing_profiler():
    with pytest.raises(MissingError) as caught:
        counters.parse("==ERROR== no permission\n", ("a.sum",))
    assert "no permission" in caught.value.hint


def test_counts_are_per_access_and_less_the_empty_launch():
    planned = [case("nobody", active=0), case("stride_1"), case("first_3", active=3)]
    measured = [{"a": 4.0, "b": 1.0}, {"a": 36.0, "b": 1.0}, {"a": 12.0, "b": 9.0}]
    assert counters.pair(planned, measured, less_nobody=True) == [
        {"operation": "load", "width": 32, "pattern": "stride_1", "active": 32, "a": 4.0},
        {"operation": "load", "width": 32, "pattern": "first_3", "active": 3, "a": 1.0, "b": 1.0},
    ]


def test_counts_stand_as_they_are_where_the_empty_launch_is_a_row():
    planned = [case("nobody", active=0), case("stride_1")]
    rows = counters.pair(planned, [{"a": 8.0}, {"a": 16.0}], less_nobody=False)
    assert [(row["pattern"], row["a"]) for row in rows] == [("nobody", 1.0), ("stride_1", 2.0)]


def test_a_launch_too_few_is_said():
    with pytest.raises(MissingError, match="1 launches of 2"):
        counters.pair([case("a"), case("b")], [{}], less_nobody=False)


def test_every_operation_begins_with_nobody_but_ldmatrix():
    for group, count in (("shared", 1239), ("global", 470)):
        planned = list(counters.cases(group))
        assert len(planned) == count
        seen = None
        for one in planned:
            key = (one.operation, one.pattern.width)
            if key != seen:
                matrix = one.operation.startswith("ldmatrix")
                assert (one.pattern.name == "nobody") != matrix, key
            seen = key


def test_without_the_profiler_there_is_a_plain_error(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(MissingError, match="timing only"):
        counters.profile("shared")
