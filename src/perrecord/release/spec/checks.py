"""What a spec says against itself: names, references, cycles, grids. No file is opened."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from perrecord.errors import InputError, listing, suggestion
from perrecord.exact import text
from perrecord.release.spec.declared import READING
from perrecord.release.spec.models import (
    BudgetEntry,
    KeysEntry,
    SelectEntry,
    SelectionEntry,
    Spec,
    SplitEntry,
    TaperedEntry,
    WeighedEntry,
)
from perrecord.release.spec.names import Found, null_cases, one_of, refer
from perrecord.release.spec.problems import Path
from perrecord.release.spec.query_checks import check_queries
from perrecord.tables.addresses import is_address

_FORMS = (
    *("file", "values", "product", "union", "difference"),
    *("filter", "project", "domain", "select"),
)
_LONGEST_CHAIN = 20
_LONGEST_NAME, _LONGEST_PATH = 255, 4_000  # bytes, as file systems have it
_MOST_PARTS = 10_000
_BESIDE_SPLIT = ("thresholds", "by", "cases", "default", "cap")


def check_spec(spec: Spec) -> Iterator[Found]:
    """Yield every contradiction of a spec with its path."""
    for check in (
        _check_paths,
        _check_reading,
        _check_roles,
        _check_changes,
        _check_splits,
        _check_keys,
        _check_budget,
        check_queries,
        _check_examples,
    ):
        yield from check(spec)


def _check_paths(spec: Spec) -> Iterator[Found]:
    """Yield the paths that no file can have; the operating system would not say which field."""
    written: list[tuple[Path, str | None]] = [
        (("source", "path"), spec.source.path),
        (("source", "last"), spec.source.last),
        (("source", "spill_folder"), spec.source.spill_folder),
        (("ledger",), spec.ledger),
        *((("keys", name, "file"), entry.file) for name, entry in spec.keys.items()),
        *((("lookups", place, "source"), entry.source) for place, entry in enumerate(spec.lookups)),
        *(
            (("hierarchies", place, "source"), entry.source)
            for place, entry in enumerate(spec.hierarchies)
        ),
    ]
    for place, path in written:
        is_file = place != ("source", "path") or not is_address(path)
        parts = [len(part.encode()) for part in (path or "").split("/")] if is_file else [0]
        if max(parts) > _LONGEST_NAME or sum(parts) + len(parts) > _LONGEST_PATH:
            message = "the path is longer than any file's; expected names of at most "
            yield place, f"{message}{_LONGEST_NAME} bytes, {_LONGEST_PATH:,} in all."
        elif "\0" in (path or ""):
            yield place, "the path holds the character NUL, which no file's does; leave it out."


def _check_reading(spec: Spec) -> Iterator[Found]:
    """Yield what is said of how files are read and cannot be; a database has nothing to say."""
    source = spec.source
    try:
        source.read_by(source.path)
    except InputError as error:
        yield ("source", *error.about), str(error)
    if is_address(source.path):
        for name in READING:
            if getattr(source, name) is not None:
                message = f"{name} is for files, but the source is a database; leave it out."
                yield ("source", name), message


def _check_roles(spec: Spec) -> Iterator[Found]:
    for name in spec.dimensions:
        if name in spec.resolutions:
            message = f"{name!r} is declared as a dimension and as a measure; choose one."
            yield ("dimensions", name), message
    if spec.weight is not None:
        try:
            spec.weight.weight()
        except InputError as error:
            yield ("weight", *error.about), str(error)
    for name, measure in spec.measures.items():
        if measure.largest is not None and measure.largest < measure.resolution:
            yield (
                ("measures", name, "largest"),
                f"{text(measure.largest)} is below the resolution {text(measure.resolution)}; "
                "every number would be 0 or out of range.",
            )


def _check_changes(spec: Spec) -> Iterator[Found]:
    """Yield what a table of changes between two periods cannot have."""
    if spec.source.last is None:
        return
    for name in ("path", "last"):
        if is_address(getattr(spec.source, name)):
            yield (
                ("source", name),
                "two periods are linked as files, but this is a database; write both tables "
                "into Parquet or CSV files first.",
            )
    if spec.id is None:
        yield (
            ("source", "last"),
            "two periods are linked by the id of their records; name its column, such as "
            "id: establishment.",
        )
    processing = spec.post_processing
    if processing.floor_at_zero:
        yield (
            ("post_processing", "floor_at_zero"),
            "records are changes, whose totals may well be negative; leave it out.",
        )
    if processing.consistent is not None and processing.consistent.nonnegative:
        yield (
            ("post_processing", "consistent", "nonnegative"),
            "records are changes, whose totals may well be negative; leave it out.",
        )


# -- splits -----------------------------------------------------------------------------------


def _check_splits(spec: Spec) -> Iterator[Found]:
    for name, entry in spec.splits.items():
        yield from _check_split(entry, ("splits", name), spec)
    references = {name: list(_splits_in(entry)) for name, entry in spec.splits.items()}
    yield from _check_references("splits", "a split", references)


def _check_split(entry: SplitEntry, path: Path, spec: Spec) -> Iterator[Found]:
    """Yield what is wrong with how a scheme is written; `Split` says what is with the scheme."""
    if entry.split is not None:
        yield from refer(path, "split", entry.split, spec.splits)
        beside = [name for name in _BESIDE_SPLIT if getattr(entry, name) is not None]
        if beside:
            yield (
                path,
                f"split names another scheme that this one stands for; {' and '.join(beside)} "
                "beside it would have no effect. Give one or the other.",
            )
        return
    if (entry.thresholds is None) == (entry.by is None):
        yield (
            path,
            "expected thresholds by measure, {emp: 50}, or cases: {by: sector, cases: {...}}; "
            "found both or neither.",
        )
    elif entry.thresholds is not None and (entry.cases is not None or entry.default is not None):
        yield path, "cases and default go with by: the dimension that decides between them."
    yield from null_cases((*path, "cases"), entry.cases or (), str(entry.by))
    for case, inner in (entry.cases or {}).items():
        yield from _check_split(inner, (*path, "cases", case), spec)
    if entry.default is not None:
        yield from _check_split(entry.default, (*path, "default"), spec)


def _splits_in(entry: SplitEntry, levels: int = 0) -> Iterator[tuple[str, int]]:
    """Yield the names of the schemes that a scheme is made of, with how many levels deep."""
    if entry.split is not None:
        yield entry.split, max(levels, 1)
    for inner in (*(entry.cases or {}).values(), entry.default):
        if inner is not None:
            yield from _splits_in(inner, levels + 1)


# -- keys -------------------------------------------------------------------------------------


def _check_keys(spec: Spec) -> Iterator[Found]:
    for name, entry in spec.keys.items():
        yield from _check_key_set(entry, ("keys", name), spec)
    references = {
        name: [(each, 1) for _, each in _sets_in(entry)] for name, entry in spec.keys.items()
    }
    yield from _check_references("keys", "a key set", references)


def _check_key_set(entry: KeysEntry, path: Path, spec: Spec) -> Iterator[Found]:
    yield from one_of(path, entry, _FORMS)
    for name in ("columns", *READING) if entry.file is None else ():
        if getattr(entry, name, None) is not None:
            goes = "columns go" if name == "columns" else f"{name} goes"
            yield (*path, name), f"{goes} with file; here it has no effect. Leave it out."
    for place, name in _sets_in(entry):
        here = (*path, *place)
        yield from refer(here, "key set", name, spec.keys)
        inner = spec.keys.get(name)
        if inner is not None and (inner.domain is not None or inner.select is not None):
            kind = "a domain" if inner.domain is not None else "a selection"
            yield here, f"{name!r} is {kind}; expected a set of keys that are written out."
    if entry.select is not None:
        yield from _check_selection(entry.select, (*path, "select"), spec)


def _sets_in(entry: KeysEntry) -> Iterator[tuple[Path, str]]:
    """Yield the names of the key sets that a key set is made of, with their places."""
    for form in ("product", "union", "difference", "domain"):
        for place, name in enumerate(getattr(entry, form) or ()):
            yield (form, place), name
    for form in ("filter", "project"):
        if (inner := getattr(entry, form)) is not None:
            yield (form, "from"), inner.source


def _check_selection(
    entry: SelectEntry | SelectionEntry, path: Path, spec: Spec
) -> Iterator[Found]:
    yield from one_of(path, entry, ("delta", "threshold"))
    if entry.split is not None:
        yield from refer((*path, "split"), "split", entry.split, spec.splits)


# -- the rest ---------------------------------------------------------------------------------


def _check_budget(spec: Spec) -> Iterator[Found]:
    budget: BudgetEntry = spec.budget
    yield from one_of(("budget",), budget, ("rho", "epsilon"))
    for place, name in enumerate(budget.splits):
        yield from refer(("budget", "splits", place), "split", name, spec.splits)
    listed: list[tuple[Path, TaperedEntry | WeighedEntry]] = [
        *((("budget", "tapers", place), each) for place, each in enumerate(budget.tapers)),
        *((("budget", "weights", place), each) for place, each in enumerate(budget.weights)),
    ]
    for here, entry in listed:
        yield from refer((*here, "measure"), "measure", entry.measure, spec.resolutions)
        currency = "rho" if budget.epsilon is None else "epsilon"
        if getattr(entry, currency) is None or None not in (entry.rho, entry.epsilon):
            given = [name for name in ("rho", "epsilon") if getattr(entry, name) is not None]
            yield (
                here,
                f"expected {currency} alone, as the budget has it, found "
                f"{' and '.join(given) or 'no amount'}.",
            )
            continue
        try:
            entry.policy()
        except InputError as error:
            yield here, str(error)
    for place, selection in enumerate(budget.selections):
        path: Path = ("budget", "selections", place)
        yield from _check_selection(selection, path, spec)
        if budget.epsilon is not None:
            yield path, "keys are selected under zCDP; give the budget rho, not epsilon."
        for number, column in enumerate(selection.keys):
            known = {**spec.dimensions, **spec.resolutions}
            yield from refer((*path, "keys", number), "dimension", column, known)


def _check_examples(spec: Spec) -> Iterator[Found]:
    counted = Counter(example.name for example in spec.examples)
    seen: set[str] = set()
    for place, example in enumerate(spec.examples):
        if counted[example.name] > 1 and example.name in seen:
            message = f"another example is named {example.name!r} already; give each its own name."
            yield ("examples", place, "name"), message
        seen.add(example.name)
    for name in spec.tuning.caps:
        yield from refer(("tuning", "caps", name), "example", name, seen)


def _check_references(
    section: str, what: str, references: Mapping[str, Iterable[tuple[str, int]]]
) -> Iterator[Found]:
    """Yield one problem for each name that first closes a circle, or begins a chain too long.

    The references of a name are other names, each with how many levels below it they stand.

    What is made of others is built from them, one inside the other: a chain is as deep as it is
    long, and names that are used twice at every step double at every step.
    """
    measured: dict[str, tuple[int, int]] = {}
    circles: list[Found] = []
    too_large: list[Found] = []

    def measure(name: str, trail: list[str]) -> tuple[int, int]:
        """Return how many parts a name has, and how deep they stand."""
        if name in trail:
            circle = " -> ".join([*trail[trail.index(name) :], name])
            message = f"{what} is made of itself: {circle}; break the circle."
            circles.append(((section, name), message))
            return 1, 0
        if len(trail) > _LONGEST_CHAIN:  # deep enough for the name that the trail begins with
            return 1, 0
        if name not in measured:
            inner = [
                (measure(each, [*trail, name]), levels) for each, levels in references.get(name, ())
            ]
            measured[name] = (
                sum(parts for (parts, _), _ in inner) or 1,
                max((levels + depth for (_, depth), levels in inner), default=0),
            )
        return measured[name]

    for name in references:
        parts, depth = measure(name, [])
        if depth > _LONGEST_CHAIN:
            message = f"{what} is made of another, and so on, more than {_LONGEST_CHAIN} times."
            too_large.append(((section, name), f"{message} Write it in fewer steps."))
        elif parts > _MOST_PARTS:
            message = f"written out, {what} has {parts:,} parts; at most {_MOST_PARTS:,} fit."
            too_large.append(((section, name), f"{message} Use fewer names, or fewer times."))
    yield from circles
    yield from too_large[:1]  # whatever is made of it is too large as well


def unknown_field(name: str, known: Iterable[str]) -> str:
    """Return the message for a field of an example that the table lacks."""
    every = list(known)
    return f"no field {name!r}. Fields are {listing(every, limit=20)}.{suggestion(name, every)}"
