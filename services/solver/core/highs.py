"""The one way to HiGHS, which solves linear and integer programs: silent, on one thread.

Apart because its threads are those of a process: whoever asks for another number than the first one
did gets an error, and what it prints goes where answers go.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import highspy

_ALWAYS: Mapping[str, bool | int | str] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
}


def run(
    program: "highspy.HighsLp", options: Mapping[str, bool | int | float | str]
) -> "highspy._core._Highs":
    """Solve a program and return the solver, which says whether it has an answer.

    Args:
        program: to solve.
        options: of HiGHS, besides those that are always the same.

    Raises:
        RuntimeError: HiGHS refuses the program or its options; to have no answer is no such error.
    """
    import highspy  # noqa: PLC0415  # half of a cold start, and needed by few decisions

    # The class beneath: `Highs` prints its name before it can be told not to.
    solver = highspy._core._Highs()
    for name, value in {**_ALWAYS, **options}.items():
        solver.setOptionValue(name, value)
    if highspy.HighsStatus.kError in (solver.passModel(program), solver.run()):
        raise RuntimeError("HiGHS refuses a program")
    return solver
