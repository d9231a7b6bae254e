import numpy as np
import pytest

from services.solver.core.vectors import UNBOUNDED, most_that_fit


@pytest.mark.parametrize(
    ("room", "request_", "counts"),
    [
        pytest.param([[5, 9], [4, 2]], [2, 2], [2, 1], id="the scarcest column counts"),
        pytest.param([[-3, 9]], [2, 2], [0], id="less than nothing left"),
        pytest.param([[], []], [], [UNBOUNDED] * 2, id="pods that ask for nothing at all"),
    ],
)
def test_as_many_fit_as_every_column_allows(
    room: list[list[int]], request_: list[int], counts: list[int]
) -> None:
    found = most_that_fit(np.array(room, np.int64), np.array(request_, np.int64))

    assert found.tolist() == counts
