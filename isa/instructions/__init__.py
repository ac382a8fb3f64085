"""The entries of the instruction table, one file a family; the order here is the table's."""

from . import (  # noqa: F401
    integer,
)
