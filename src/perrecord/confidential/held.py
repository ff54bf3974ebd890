"""What was computed from records and has no noise yet has this type, and no other.

It can be handed on, and that is all: it is not shown, compared, computed with, converted, copied or
written. Exact integers are added up by `tally`, which gives them back as this type; whoever needs
the numbers themselves imports `revealing`, and an import contract says who may.
"""

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, final

Content = TypeVar("Content")

_REFUSAL = (
    "this is confidential: it has no noise yet. It is neither converted nor copied, pickled or "
    "changed; what is published comes from perrecord.mechanisms."
)


@final
class Confidential(Generic[Content]):
    """Something exact, such as the integers of every cell. Only `revealing.revealed` takes it out.

    >>> counts = Confidential([3, 141])
    >>> print(counts, f"{counts}", [counts])
    <confidential> <confidential> [<confidential>]
    """

    __slots__ = ("_content",)

    __array_ufunc__ = None
    """numpy refuses to compute with it."""

    _content: Content

    def __init__(self, content: Content) -> None:
        object.__setattr__(self, "_content", content)

    def __repr__(self) -> str:
        return "<confidential>"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(_REFUSAL)

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(_REFUSAL)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(_REFUSAL)

    def __getstate__(self) -> NoReturn:
        raise TypeError(_REFUSAL)

    if not TYPE_CHECKING:  # a checker would take it for something that numpy may be given

        def __array__(self, *_: Any, **__: Any) -> NoReturn:
            raise TypeError(_REFUSAL)
