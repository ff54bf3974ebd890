"""Twins of what keeps exact numbers from being published: their type, who reveals, errors."""

from tests.twins.twin import Twin

TYPED = "typed/test_types.py::test_every_wrong_use_is_found[unnoised.py]"

TWINS = (
    Twin(
        "exact numbers are shown",
        "confidential/held.py",
        'return "<confidential>"',
        'return f"<confidential {self._content}>"',
        (
            "confidential/test_held.py::test_nothing_of_it_is_shown",
            "confidential/test_held.py::test_whatever_a_scan_gives_shows_nothing",
        ),
    ),
    Twin(
        "exact numbers are pickled",
        "confidential/held.py",
        "def __reduce_ex__(self, protocol: object) -> NoReturn:\n        raise TypeError(_REFUSAL)",
        "def __reduce_ex__(self, protocol: object) -> Any:\n"
        "        return Confidential, (self._content,)",
        (
            "confidential/test_held.py::test_it_is_turned_into_nothing_else",
            "confidential/test_held.py::test_whatever_a_scan_gives_is_not_pickled",
        ),
    ),
    Twin(
        "numpy and Arrow take exact numbers as they are",
        "confidential/held.py",
        "def __array__(self, *_: Any, **__: Any) -> NoReturn:\n"
        "            raise TypeError(_REFUSAL)",
        "def __array__(self, *_: Any, **__: Any) -> Any:\n            return self._content",
        ("confidential/test_held.py::test_it_is_turned_into_nothing_else",),
    ),
    Twin(
        "exact numbers are added to plain ones",
        "confidential/held.py",
        "    def __setattr__(self, name: str, value: object) -> NoReturn:",
        "    def __add__(self, other: Any) -> Any:\n"
        "        return self._content + other\n\n"
        "    def __setattr__(self, name: str, value: object) -> NoReturn:",
        ("confidential/test_held.py::test_it_is_turned_into_nothing_else", TYPED),
    ),
    Twin(
        "keys that the data holds are shown",
        "queries/positions.py",
        "@dataclass(frozen=True, slots=True, eq=False, repr=False)\nclass Coded:",
        "@dataclass(frozen=True, slots=True, eq=False)\nclass Coded:",
        ("confidential/test_held.py::test_whatever_a_scan_gives_shows_nothing",),
    ),
    Twin(
        "how many cells the data holds is shown",
        "queries/cells.py",
        "@dataclass(frozen=True, slots=True, eq=False, repr=False)\nclass Chunk:",
        "@dataclass(frozen=True, slots=True, eq=False)\nclass Chunk:",
        ("confidential/test_held.py::test_whatever_a_scan_gives_shows_nothing",),
    ),
    Twin(
        "a file of a release may be made of exact numbers",
        "release/contents.py",
        "from perrecord.mechanisms.answers import Answers",
        "from perrecord.confidential.revealing import revealed as revealed\n"
        "from perrecord.mechanisms.answers import Answers",
        ("confidential/test_revealing.py::test_exact_numbers_are_revealed_by_those_who_may",),
    ),
    Twin(
        "an answer is published without noise, by looking inside",
        "mechanisms/run.py",
        "return estimate(asked.name, exact, keys, self._noise(step), self.bits)",
        "if asked.name == 'count':\n"
        "            noise = self._noise(step)\n"
        "            return Estimate(asked.name, exact._content, noise.step, *noise.laws(keys))\n"
        "        return estimate(asked.name, exact, keys, self._noise(step), self.bits)",
        (
            "confidential/test_revealing.py::test_nobody_looks_inside",
            "mechanisms/test_parallel.py::test_groupings_in_threads_have_noise_of_their_own",
        ),
    ),
    Twin(
        "exact integers are said to be noisy where there are none",
        "queries/cells.py",
        "return tally.sums()",
        "from perrecord.released.numbers import NoisyIntegers\n\n"
        "        NoisyIntegers(np.empty(0))\n"
        "        return tally.sums()",
        ("confidential/test_revealing.py::test_only_mechanisms_say_that_numbers_are_noisy",),
    ),
    Twin(
        "noise is drawn and not added",
        "mechanisms/additive.py",
        "return NoisyIntegers(added(revealed(exact), drawn, into=drawn))",
        "return NoisyIntegers(added(revealed(exact), 0 * drawn))",
        ("mechanisms/test_parallel.py::test_groupings_in_threads_have_noise_of_their_own",),
    ),
    Twin(
        "a column takes any integers for noisy ones",
        "released/numbers.py",
        "    numbers: NoisyIntegers\n",
        "    numbers: npt.NDArray[np.int64]\n",
        (TYPED,),
    ),
    Twin(
        "a choice may be made without noise",
        "released/columns.py",
        "    index: NoisyIntegers\n",
        "    index: npt.NDArray[np.int64]\n",
        (TYPED,),
    ),
    Twin(
        "errors between exact integers and noise pass as they are",
        "mechanisms/run.py",
        "found = withheld(lambda: own.answers(cells[grouping.scan]))",
        "found = own.answers(cells[grouping.scan])",
        (
            "confidential/test_withheld.py::test_what_is_said_in_the_middle_is_withheld",
            "confidential/test_withheld.py"
            "::test_errors_while_keys_and_candidates_are_chosen_are_withheld",
        ),
    ),
    Twin(
        "an error that withholds keeps the one that quotes",
        "confidential/withheld.py",
        "kind, place = type(error).__name__, place_of(error.__traceback__)\n",
        "raise InternalError('What it said is withheld, in perrecord: OverflowError in perrecord,"
        " withheld.') from None\n    kind = place = ''\n",
        ("confidential/test_withheld.py::test_what_is_said_in_the_middle_is_withheld",),
    ),
)
