"""The one way to HiGHS, which solves linear and integer programs: silent, on one thread.

Apart because its threads are those of a process: whoever asks for another number than the first one
did gets an error, and what it prints goes where answers go.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from libs.domain.errors import Unavailable

if TYPE_CHECKING:
    import highspy

_ALWAYS: Mapping[str, bool | int | str] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
}


def run(
    program: "highspy.HighsLp",
    options: Mapping[str, bool | int | float | str],
    cancelled: Callable[[], bool] | None = None,
) -> "highspy._core._Highs":
    """Solve a program and return the solver, which says whether it has an answer.

    Args:
        program: to solve.
        options: of HiGHS, besides those that are always the same.
        cancelled: asked now and then of an integer program; True ends the work. Of a linear one it
            would be asked at each step, each time for Python's lock: these have to be small.

    Raises:
        Unavailable: `cancelled` said so.
        RuntimeError: HiGHS refuses the program or its options; to have no answer is no such error.
    """
    import highspy  # noqa: PLC0415  # half of a cold start, and needed by few decisions

    # The class beneath: `Highs` prints its name before it can be told not to.
    solver = highspy._core._Highs()
    for name, value in {**_ALWAYS, **options}.items():
        solver.setOptionValue(name, value)
    if cancelled is not None:
        _interrupt(solver, cancelled)
    if highspy.HighsStatus.kError in (solver.passModel(program), solver.run()):
        raise RuntimeError("HiGHS refuses a program")
    if solver.getModelStatus() == highspy.HighsModelStatus.kInterrupt:
        raise Unavailable("the caller has gone away")
    return solver


def _interrupt(solver: "highspy._core._Highs", cancelled: Callable[[], bool]) -> None:
    """Let the solver of an integer program stop once that is cancelled."""
    import highspy  # noqa: PLC0415  # as above

    callbacks = highspy._core.cb

    def asked(
        _kind: "callbacks.HighsCallbackType",
        _message: str,
        _found: "callbacks.HighsCallbackOutput",
        answer: "callbacks.HighsCallbackInput",
        _data: object,
    ) -> None:
        answer.user_interrupt = cancelled()

    solver.setCallback(asked, None)
    solver.startCallback(callbacks.HighsCallbackType.kCallbackMipInterrupt)
