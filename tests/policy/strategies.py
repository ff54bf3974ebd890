"""Random schemes, policies and records for the laws of the algebra."""

from fractions import Fraction

from hypothesis import strategies as st

from perrecord import Policy, Split

MEASURES = ("x", "y")
REGIONS = ("north", "south", "east")
KINDS = (1, 2, None)

amounts = st.fractions(0, 3, max_denominator=12)
thresholds = st.fractions("1/3", 7, max_denominator=6).filter(lambda value: value > 0)

plain_splits = st.builds(
    lambda named, cap: Split(named) if cap is None else Split(named).capped(cap),
    st.dictionaries(st.sampled_from(MEASURES), thresholds, min_size=1),
    st.none() | st.none() | st.integers(1, 9),
)
splits = st.recursive(
    plain_splits,
    lambda inner: st.one_of(
        st.builds(
            lambda cases, default: Split.by("region", cases, default),
            st.dictionaries(st.sampled_from(REGIONS), inner, min_size=1, max_size=2),
            inner,
        ),
        st.builds(
            lambda cases, default: Split.by(("kind", "region"), cases, default),
            st.dictionaries(
                st.tuples(st.sampled_from(KINDS), st.sampled_from(REGIONS)),
                inner,
                min_size=1,
                max_size=2,
            ),
            inner,
        ),
    ),
    max_leaves=3,
)

values = st.one_of(
    st.integers(-40, 40),
    st.fractions(-40, 40, max_denominator=6),
    st.integers(-(10**30), 10**30),
    st.none(),
)
records = st.fixed_dictionaries(
    {
        "id": st.integers(),
        "region": st.sampled_from((*REGIONS, "west")),
        "kind": st.sampled_from((*KINDS, 0)),
        **dict.fromkeys(MEASURES, values),
    }
)

terms = st.one_of(
    st.builds(Policy.constant, amounts),
    st.builds(Policy.split, amounts, splits),
    st.builds(
        lambda amount, name, at: Policy.exact(amount, measure=name, threshold=at),
        amounts,
        st.sampled_from(MEASURES),
        thresholds,
    ),
)


def _wider(inner):
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(Policy.largest, inner, inner),
        st.builds(
            lambda cases, default: Policy.by("region", cases, default),
            st.dictionaries(st.sampled_from(REGIONS), inner, min_size=1, max_size=2),
            inner,
        ),
        st.builds(
            lambda cases, default: Policy.by("kind", cases, default),
            st.dictionaries(st.sampled_from(KINDS), inner, min_size=1, max_size=2),
            inner,
        ),
    )


policies = st.recursive(terms, _wider, max_leaves=5)

slots = st.builds(
    lambda rho, keys, split, threshold: Policy.selection(
        rho, keys, split=split, threshold=threshold
    ),
    st.sampled_from([Fraction(1, 10), Fraction(1, 2)]),
    st.sampled_from([["region"], ["region", "kind"]]),
    st.none() | splits,
    st.integers(1, 30),
)
