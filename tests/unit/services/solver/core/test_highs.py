import highspy
import pytest

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
