"""The answer ends with whoever asked, however many reasons are still to be given."""

import pytest

from libs.domain.errors import Unavailable
from libs.domain.solution import SolveOptions
from services.solver.core.solve import solve
from tests.support.builders import a_pod, a_shape, a_snapshot


def test_reasons_are_given_as_long_as_somebody_waits() -> None:
    count = 5
    snapshot = a_snapshot(
        shapes=[a_shape(number, cpu=str(100 + number)) for number in range(1, 1 + count)],
        pods=[a_pod(f"pod-{number}", number) for number in range(1, 1 + count)],
    )
    looks: list[bool] = []

    def looked(most: int) -> bool:
        looks.append(True)
        return len(looks) > most

    solve(snapshot, SolveOptions(), cancelled=lambda: looked(1000))
    asked = len(looks)
    looks.clear()

    with pytest.raises(Unavailable):
        solve(snapshot, SolveOptions(), cancelled=lambda: looked(asked - 1))
    assert asked > count
