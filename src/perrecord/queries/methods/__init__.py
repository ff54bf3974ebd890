"""How a number is made private: one file for each way, and the parts that ways may differ by."""

from perrecord.queries.methods.blurring import Blur, Widening, widening_of
from perrecord.queries.methods.clamping import Clamping
from perrecord.queries.methods.counting import Counting
from perrecord.queries.methods.method import Accounting, Method, Methods
from perrecord.queries.methods.splitting import Splitting
from perrecord.queries.methods.tapering import Taper, Tapering, taper_of
from perrecord.queries.methods.trees import (
    Branch,
    Leaf,
    Scales,
    Tree,
    at,
    dimensions_of,
    has_default,
    leaves,
    scales_of,
    tree_of,
)

__all__ = [
    "Accounting",
    "Blur",
    "Branch",
    "Clamping",
    "Counting",
    "Leaf",
    "Method",
    "Methods",
    "Scales",
    "Splitting",
    "Taper",
    "Tapering",
    "Tree",
    "Widening",
    "at",
    "dimensions_of",
    "has_default",
    "leaves",
    "scales_of",
    "taper_of",
    "tree_of",
    "widening_of",
]
