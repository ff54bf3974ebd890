"""Twins of tapered answers that the audits see by themselves, whatever other tests there are."""

from tests.twins.twin import Twin

REPLAY = "lab/audit/test_replay_tapered.py::test_tapered_answers_cost_what_is_charged"
RHO, EPSILON = f"{REPLAY}[rho]", f"{REPLAY}[epsilon]"

TWINS = tuple(
    Twin(f"{name}, replayed", file, old, new, tests)
    for name, file, old, new, tests in (
        (
            "tapering is priced with the other nu",
            "policy/tapering.py",
            "return tapered_rho(size, self.spread, self.nu)",
            "return tapered_rho(size, self.spread, 10 - self.nu)",
            (RHO,),
        ),
        (
            "a tapered epsilon with nu off by one",
            "laws/tapering.py",
            "return 2 * power * ball(x).sqrt().asinh()",
            "return (2 * power - 1) * ball(x).sqrt().asinh()",
            (EPSILON,),
        ),
        (
            "the correction for the integers is dropped",
            "laws/tapering.py",
            "ON_INTEGERS = 1 + Fraction(1, 1 << 26)",
            "ON_INTEGERS = Fraction(1, 1)",
            (RHO,),
        ),
        (
            "A is taken as a standard deviation",
            "laws/tapering.py",
            "return _rounded_up(price, size**2 / (4 * exact), power_of(nu))",
            "return _rounded_up(price, size**2 / (4 * exact * exact), power_of(nu))",
            (RHO, EPSILON),
        ),
        (
            "a taper is charged by the default part",
            "queries/measurements.py",
            "lambda part: self._by_parts(part, settled, fixed, currency)",
            "lambda part: self._by_parts(tree.cases.default or part, settled, fixed, currency)",
            (RHO, EPSILON),
        ),
        (
            "the count of an average is forgotten",
            "queries/answers/answer.py",
            "return Policy.total(step.policy(fixed, currency) for step in self.steps)",
            "return Policy.total(step.policy(fixed, currency) for step in self.steps[:1])",
            (RHO, EPSILON),
        ),
        (
            "tapered noise forgets the resolution",
            "laws/scales.py",
            "return DiscreteStudent(self.size / step**2, self.nu)",
            "return DiscreteStudent(self.size, self.nu)",
            (RHO, EPSILON),
        ),
    )
)
