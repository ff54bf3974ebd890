"""How a number is made private: one file for each way, and the parts that ways may differ by."""

from perrecord.queries.methods.blurring import Blur, OwnBlur, Widening, blur_of
from perrecord.queries.methods.clamping import Clamping
from perrecord.queries.methods.counting import Counting
from perrecord.queries.methods.method import Accounting, Method, Methods
from perrecord.queries.methods.splitting import Splitting
from perrecord.queries.methods.tapering import Blurring, Taper, Tapering, taper_of
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
    "Blurring",
    "Branch",
    "Clamping",
    "Counting",
    "Leaf",
    "Method",
    "Methods",
    "OwnBlur",
    "Scales",
    "Splitting",
    "Taper",
    "Tapering",
    "Tree",
    "Widening",
    "at",
    "blur_of",
    "dimensions_of",
    "has_default",
    "leaves",
    "scales_of",
    "taper_of",
    "tree_of",
]
