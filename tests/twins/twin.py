"""A broken twin: the code with one fault in it, and the tests that must notice."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Twin:
    """One fault: a stretch of a file replaced by another, and the tests that must fail."""

    name: str
    """What is wrong, as a piece of a sentence."""
    file: str
    """Below src/perrecord."""
    old: str
    """Occurs in the file exactly once."""
    new: str
    tests: tuple[str, ...]
    """Node ids below tests; every one of them fails on the twin."""

    @property
    def layer(self) -> str:
        """The part of the library that the fault is in."""
        return self.file.partition("/")[0].removesuffix(".py")

    def broken(self, source: str) -> str:
        """Return the file with the fault in it."""
        found = source.count(self.old)
        if found != 1:
            raise ValueError(
                f"{self.file} holds the text of the twin {self.name!r} {found} times; expected 1."
            )
        return source.replace(self.old, self.new)
