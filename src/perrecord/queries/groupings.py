"""How the cells of an answer are found: declared keys, a sparse domain, or selection (T9)."""

from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import QueryError, about, listing
from perrecord.exact import Exact, whole
from perrecord.policy.inputs import amount_of
from perrecord.policy.slots import Slot
from perrecord.policy.split import Scheme
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys


@dataclass(frozen=True, slots=True, init=False)
class SelectKeys:
    """Keys unknown: publish those whose noisy number of split rows reaches a threshold (T9).

    The policy is rho * pieces^2 with delta(pieces). Give the delta that an unsplit record is
    promised, or the threshold itself. Large records alone in their key are openly revealed. With
    `rows_as="rows"` the noisy numbers of split rows are published too, at no further cost.

    >>> from perrecord import Split
    >>> SelectKeys(rho="0.1", delta="1e-6", split=Split(employees=50)).threshold
    13
    """

    rho: Fraction
    threshold: int
    split: Scheme | None
    rows_as: str | None

    def __init__(
        self,
        *,
        rho: Exact,
        delta: Exact | None = None,
        threshold: int | None = None,
        split: Scheme | None = None,
        rows_as: str | None = None,
    ) -> None:
        slot = Slot.of(rho, ["key"], split, threshold, delta)
        object.__setattr__(self, "rho", amount_of(rho, None)[1])
        object.__setattr__(self, "threshold", slot.threshold)
        object.__setattr__(self, "split", split)
        object.__setattr__(self, "rows_as", rows_as)


@dataclass(frozen=True, slots=True, init=False)
class SelectCells:
    """All possible keys declared, most of them empty: publish the cells of one large answer (T9).

    Every cell of the domain gets noise and is kept if the named answer reaches the threshold: pure
    zCDP, computed without visiting the empty cells. The other answers are given for the kept
    cells, with noise of their own.
    """

    domain: Domain
    answer: str
    at_least: int

    def __init__(self, domain: Domain, *, answer: str, at_least: int) -> None:
        if not isinstance(domain, Domain):
            raise QueryError(
                f"the domain is a {type(domain).__name__}; expected a Domain, such as "
                'Domain.from_dict({"county": counties, "naics": codes}).'
            )
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "answer", answer)
        object.__setattr__(self, "at_least", whole(at_least, "the threshold"))


KEYS_CHARGE = "keys"
"""The name of what finding the keys costs, beside the names of the answers."""

WhichCells = Keys | SelectKeys | SelectCells


@dataclass(frozen=True, slots=True)
class Grouping:
    """One set of grouping columns, and how its cells are found; no columns mean one total."""

    columns: tuple[str, ...]
    cells: WhichCells | None

    @property
    def keys(self) -> Keys | None:
        """Its public keys; None for a total, or where keys are selected."""
        return self.cells if isinstance(self.cells, Keys) else None

    @classmethod
    def of(cls, columns: tuple[str, ...], cells: WhichCells | None) -> "Grouping":
        """Check that the cells fit the columns, and narrow them to the columns."""
        if len(set(columns)) < len(columns):
            raise QueryError(
                f"a grouping column is named twice in {listing(columns)}; name each once.",
                about=("group_by",),
            )
        if not columns:
            return cls((), None)
        if cells is None:
            raise QueryError(WITHOUT_KEYS.format(listing(columns)), about=("group_by",))
        with about("keys"):
            match cells:
                case Keys():
                    return cls(columns, _keys_of(columns, cells))
                case SelectCells(domain=domain):
                    _match(columns, domain.columns, "the domain")
                    return cls(domain.columns, cells)
                case SelectKeys():
                    return cls(columns, cells)
                case _:
                    raise QueryError(
                        f"the keys are a {type(cells).__name__}; expected Keys, SelectKeys or "
                        "SelectCells."
                    )


WITHOUT_KEYS = (
    "the query groups by {0} without saying which keys are published; keys found in the data "
    "would reveal who is in it. Give keys, in a spec the name of one of its keys: a public list, "
    "every key of which appears (Keys.read); the large cells of a declared domain (SelectCells); "
    "or keys selected from the data with noise (SelectKeys)."
)


def _keys_of(columns: tuple[str, ...], keys: Keys) -> Keys:
    if keys.columns == columns:
        return keys
    missing = [name for name in columns if name not in keys.columns]
    if missing:
        raise QueryError(
            f"the keys have no column {listing(missing)}; they have {listing(keys.columns)}. Give "
            f"keys over {listing(columns)}: the columns of a list of keys have the names of the "
            "dimensions, so rename those of the list."
        )
    return keys.project(columns)


def _match(columns: tuple[str, ...], found: tuple[str, ...], what: str) -> None:
    if sorted(columns) != sorted(found):
        raise QueryError(
            f"{what} is over {listing(found)}, but the query groups by {listing(columns)}; "
            "expected the same columns."
        )
