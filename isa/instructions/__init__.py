"""The entries of the instruction table, one file a family; the order here is the table's."""

# isort: off
from . import integer, bits, wide  # noqa: F401
from . import single, double, half  # noqa: F401
from . import compare, convert, move  # noqa: F401
from . import memory, atomic, warp, control  # noqa: F401
