"""An expression from anywhere ends, and soon: what is too long, too deep or too costly is refused.

Source: Kubernetes bounds a selector's length to 10 KiB and what its evaluation may cost.
"""

import pytest

from libs.cel.program import compile_expression
from libs.cel.values import CelError
from libs.domain.errors import InvalidRequest

NESTED = "many.all(a, many.all(b, many.all(c, a + b + c >= 0)))"
DOUBLED = "['aaaaaaaaaaaaaaaa']" + "".join(f".map(x{n}, x{n} + x{n})" for n in range(60))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("x" * 10_241, id="longer than a selector may be"),
        pytest.param("(" * 3000 + "true" + ")" * 3000, id="brackets"),
        pytest.param("[" * 3000 + "]" * 3000, id="lists"),
        pytest.param("!" * 5001 + "true", id="negations"),
        pytest.param("many" + "[0]" * 3000, id="indexes"),
        pytest.param("1" + " + 1" * 2000 + " > 0", id="sums"),
        pytest.param("true ? true : " * 600 + "true", id="choices"),
        pytest.param("many.all(x, " * 700 + "true" + ")" * 700, id="loops"),
    ],
)
def test_what_is_too_long_or_too_deep_is_no_expression(source: str) -> None:
    with pytest.raises(InvalidRequest, match="more than"):
        compile_expression(source, frozenset({"many"}))


def test_a_long_row_of_alternatives_is_not_deep() -> None:
    program = compile_expression("||".join(["1 > 2"] * 1000 + ["true"]), frozenset())

    assert program.evaluate({}) is True


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(NESTED, id="loops within loops"),
        pytest.param(f"many.map(a, {NESTED}).size() > 0", id="a loop that passes errors on"),
        pytest.param(f"{DOUBLED}.size() == 1", id="a text doubled again and again"),
        pytest.param(
            "'" + "a" * 1000 + "'" + ".replace('a', 'aaaaaaaaaa')" * 9 + " != ''", id="replacing"
        ),
        pytest.param("many.map(x, many).map(x, x.map(y, 'text').join('text'))", id="joining"),
        pytest.param(
            "[many].map(a, a + a)" + "".join(f".map(x{n}, x{n} + x{n})" for n in range(20)),
            id="a list doubled again and again",
        ),
    ],
)
def test_what_costs_too_much_has_no_value(source: str) -> None:
    program = compile_expression(source, frozenset({"many"}))

    with pytest.raises(CelError, match="cost limit"):
        program.evaluate({"many": list(range(1000))})


def test_each_evaluation_has_the_whole_budget() -> None:
    program = compile_expression("many.all(x, many.all(y, x + y >= 0))", frozenset({"many"}))

    answers = [program.evaluate({"many": list(range(300))}) for _ in range(4)]

    assert answers == [True] * 4
