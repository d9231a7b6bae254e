import pytest

from libs.domain.device import CapacityPolicy, DeviceCapacity
from services.solver.core.devices.capacity import taken
from tests.unit.services.solver.core.devices.pools import a_device

RANGE = CapacityPolicy(default=2000, least=1000, most=6000)
STEPS = CapacityPolicy(default=2000, least=1000, most=6000, step=2000)
VALUES = CapacityPolicy(default=4000, valid_values=(2000, 4000))


@pytest.mark.parametrize(
    ("policy", "asked", "expected"),
    [
        pytest.param(None, 3000, 3000, id="no policy"),
        pytest.param(None, None, 8000, id="no policy, nothing asked: all"),
        pytest.param(RANGE, None, 2000, id="nothing asked: the default"),
        pytest.param(CapacityPolicy(), None, 8000, id="no default: all"),
        pytest.param(RANGE, 500, 1000, id="below the least"),
        pytest.param(RANGE, 1500, 1500, id="within the range"),
        pytest.param(RANGE, 7000, None, id="above the most"),
        pytest.param(STEPS, 1000, 1000, id="the least itself"),
        pytest.param(STEPS, 1001, 3000, id="up to the next step"),
        pytest.param(STEPS, 3000, 3000, id="on a step"),
        pytest.param(STEPS, 5500, None, id="the next step is above the most"),
        pytest.param(VALUES, 1000, 2000, id="up to the next value"),
        pytest.param(VALUES, 4000, 4000, id="on a value"),
        pytest.param(VALUES, 5000, None, id="above all values"),
        pytest.param(STEPS, None, 2000, id="the default need not be on a step"),
    ],
)
def test_what_is_taken_of_a_dimension(
    policy: CapacityPolicy | None, asked: int | None, expected: int | None
) -> None:
    capacity = DeviceCapacity(name="mem", amount=8000, policy=policy)
    device = a_device("s", shared=True, capacity={"mem": capacity})

    found = taken(device, {} if asked is None else {"mem": asked})

    assert found == (None if expected is None else {"mem": expected})


def test_a_dimension_that_the_device_does_not_have_cannot_be_asked_for() -> None:
    assert taken(a_device("s", capacity={"mem": 8}), {"cores": 1}) is None
