"""What tests of the audits share: what a release should show is computed once for each release."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from perrecord.lab.audit.shown import changes, checks, evaluated, evaluated_words


def once(expected: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, which computes once what follows from the very same objects."""
    kept: dict[tuple[int, ...], tuple[Any, Any]] = {}

    def computed_once(*given: Any) -> Any:
        key = tuple(map(id, given))  # which are kept, so that no others come to have these ids
        if key not in kept:
            found = expected(*given)
            kept[key] = given, list(found) if isinstance(found, Iterator) else found
        return kept[key][1]

    return computed_once


@pytest.fixture(scope="module")
def expected_once() -> Iterator[None]:
    """Have figures that are expected computed once, however many shown ones are altered."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (changes, "in_methodology"),
            (checks, "sentences"),
            (evaluated, "changes_by_size"),
            (evaluated_words, "changes_by_size"),
        ):
            patch.setattr(module, name, once(getattr(module, name)))
        yield
