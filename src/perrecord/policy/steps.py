"""How much work a comparison of policies may do, counted in steps and not in seconds.

A step is about one operation on exact fractions, so a count is the same on every machine. Whoever
runs out of steps has proved nothing: the answer is then no, and never yes.
"""

MOST_STEPS = 500_000
"""Some seconds of work. Policies that people write take some hundreds to some ten thousands."""

STEPS_FOR_EACH = 100
"""So many more for each term and each case of the two policies: large tables are no trouble."""


class OutOfStepsError(Exception):
    """The steps of a comparison are used up."""


class Steps:
    """A counter that is shared by all parts of one comparison."""

    def __init__(self, most: int) -> None:
        self.left = most

    @classmethod
    def for_size(cls, size: int) -> "Steps":
        """Return what a comparison of policies with so many terms and cases may take."""
        return cls(MOST_STEPS + STEPS_FOR_EACH * size)

    def take(self, count: int = 1) -> None:
        """Use up some steps, before the work that they stand for is done."""
        if count > self.left:
            self.left = 0
            raise OutOfStepsError
        self.left -= count
