from itertools import repeat

import highspy
import numpy as np
import pytest

from libs.domain.errors import Unavailable
from services.solver.core.highs import run


def a_program(least: float) -> highspy.HighsLp:
    """Return the program of one number between `least` and 5, as large as possible, at most 3."""
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = 1, 1
    program.col_cost_, program.col_lower_, program.col_upper_ = [-1.0], [least], [5.0]
    program.row_lower_, program.row_upper_ = [-highspy.kHighsInf], [3.0]
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_, program.a_matrix_.index_ = [0, 1], [0]
    program.a_matrix_.value_ = [1.0]
    return program


def test_a_program_is_solved() -> None:
    assert run(a_program(0.0), {}).getSolution().col_value[0] == pytest.approx(3.0)


def test_to_have_no_answer_is_no_error() -> None:
    solver = run(a_program(4.0), {})

    assert solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible


def test_a_refused_program_is_not_taken_for_one_without_an_answer() -> None:
    run(a_program(0.0), {})

    with pytest.raises(RuntimeError, match="refuses"):
        run(a_program(0.0), {"threads": 2})


def a_knapsack(things: int) -> highspy.HighsLp:
    """Return the program of taking whole things of uneven weight: with many there is much to do."""
    weights = np.random.default_rng(7).integers(100, 1000, (5, things)).astype(np.float64)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = things, len(weights)
    program.col_cost_ = -weights.sum(axis=0)
    program.col_lower_, program.col_upper_ = np.zeros(things), np.ones(things)
    program.row_lower_ = np.full(len(weights), -highspy.kHighsInf)
    program.row_upper_ = weights.sum(axis=1) / 3
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.arange(0, weights.size + 1, things, dtype=np.int32)
    program.a_matrix_.index_ = np.tile(np.arange(things, dtype=np.int32), len(weights))
    program.a_matrix_.value_ = weights.reshape(-1)
    program.integrality_ = [highspy.HighsVarType.kInteger] * things
    return program


def test_an_integer_program_ends_when_the_caller_has_gone_away() -> None:
    looks = iter([False, False])

    with pytest.raises(Unavailable):
        run(a_knapsack(60), {}, lambda: next(looks, True))

    assert next(looks, None) is None


def test_who_stays_gets_the_same_answer_as_who_is_not_asked() -> None:
    options = {"mip_max_nodes": 20}
    looks = repeat(False)
    found = [run(a_knapsack(30), options, asked) for asked in (None, lambda: next(looks))]

    assert found[0].getSolution().col_value == found[1].getSolution().col_value
