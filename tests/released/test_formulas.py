"""Formulas over published numbers: one fraction of two sums, or a refusal at its place."""

import ast
import operator
import random
from fractions import Fraction

import pytest

from perrecord.errors import SQLTextError
from perrecord.released.formulas import formula
from tests import first

_SIGNS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def by_python(text, values):
    """Return the value of an expression by Python's own reading of it, in rationals."""

    def value(node):
        match node:
            case ast.Expression():
                return value(node.body)
            case ast.BinOp():
                return _SIGNS[type(node.op)](value(node.left), value(node.right))
            case ast.UnaryOp():
                return -value(node.operand)
            case ast.Constant():
                return Fraction(str(node.value))
            case ast.Name():
                return values[node.id]
        raise AssertionError(node)

    return value(ast.parse(text, mode="eval"))


def by_formula(found, values):
    """Return the value of a formula."""
    sides = [
        sum((factor * values[name] for name, factor in side.factors), side.constant)
        for side in (found.above, found.below)
    ]
    return sides[0] / sides[1]


def random_text(draw, depth=0):
    """Return an expression, of which not every one is a fraction of two sums."""
    if depth > 3 or draw.random() < 0.3:
        return draw.choice(["a", "b", "c", "2", "0.5", "7"])
    if draw.random() < 0.1:
        return f"(-{random_text(draw, depth + 1)})"
    sign = draw.choice("+-*/")
    return f"({random_text(draw, depth + 1)} {sign} {random_text(draw, depth + 1)})"


@pytest.mark.parametrize("count", first(1, [1000, 3000]))
def test_a_formula_means_what_python_reads(count):
    """Thousands of random expressions, in rationals."""
    draw, read = random.Random(33), 0
    values = {"a": Fraction(17, 3), "b": Fraction(-5, 7), "c": Fraction(101)}
    for _ in range(count):
        text = random_text(draw)
        try:
            found = formula(text)
        except SQLTextError:
            continue
        try:
            assert by_formula(found, values) == by_python(text, values), text
        except ZeroDivisionError:
            continue
        read += 1
    assert read > count * 4 / 15


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay / emp", "pay / emp"),
        ("new / old - 1", "(new - old) / old"),
        ("100 * (a - b) / (a + b)", "(100 * a - 100 * b) / (a + b)"),
        ("a / b + c / b", "(a + c) / b"),
        ("1 / b", "1 / b"),
        ("(a / b) / (c / b)", "a / c"),
        ('"odd name" / county.emp', "odd name / county.emp"),
    ],
)
def test_fractions_of_sums_are_taken(text, shown):
    """Each in its simplest form."""
    assert str(formula(text)) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a * b", "two noisy numbers are multiplied"),
        ("a / b + a / c", "two fractions with different numbers below"),
        ("a / b / c", "a fraction is divided by a noisy number"),
        ("a / 0", "divides by 0"),
        ("1 / 2", "names no published number"),
        ("a + 'x'", "expected names of answers, numbers, brackets"),
        ("log(a)", "expected names of answers, numbers, brackets"),
        ("a > b", "expected names of answers, numbers, brackets"),
        ("a +", "column 3"),
        ("", "is empty"),
    ],
)
def test_what_is_none_is_refused_at_its_place(text, message):
    """With a caret under it."""
    with pytest.raises(SQLTextError, match=message):
        formula(text)
