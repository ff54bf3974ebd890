"""What the methodology says of the names of codes."""

from collections.abc import Iterator

from perrecord.release.markdown import inline
from perrecord.release.spec import Workload

_LISTED = 40
"""How many names of codes are written out."""


def labels_section(workload: Workload) -> Iterator[str]:
    """Yield where the names of codes are, and the names themselves of short lists."""
    if not workload.labels:
        return
    yield "## Code lists"
    yield ""
    yield "What codes are called, from public lists; the folder `labels` has them as tables."
    yield ""
    for each in workload.labels:
        listed = ""
        if len(each.names) <= _LISTED:
            listed = ": " + "; ".join(
                f"{inline(str(code))} {inline(name)}" for code, name in each.names.items()
            )
        yield f"- {inline(each.dimension)}, {len(each.names):,} codes{listed}"
    yield ""
