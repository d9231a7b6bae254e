"""Feature gates of a server: what Kubernetes has off by default."""

from typing import Any

import pytest

from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.gates import COMPARING_TOLERATIONS
from services.simulator.core.api.server import ApiServer
from tests.unit.services.simulator.living import START, a_pod


def create(pod: dict[str, Any], *gates: str) -> None:
    server = ApiServer(lambda: START, lambda: "uid", lambda: "aaaaa", gates=frozenset(gates))
    server.direct.create("pods", pod, "default")


def comparing(operator: str) -> dict[str, Any]:
    toleration = {"key": "k", "operator": operator, "value": "5", "effect": "NoSchedule"}
    return a_pod("p", tolerations=[toleration])


@pytest.mark.parametrize("operator", ["Gt", "Lt"])
def test_comparing_tolerations_are_refused_unless_their_gate_is_on(operator: str) -> None:
    with pytest.raises(ApiError, match='Unsupported value: "' + operator):
        create(comparing(operator))

    create(comparing(operator), COMPARING_TOLERATIONS)


def test_a_gate_lets_nothing_else_pass() -> None:
    with pytest.raises(ApiError, match='Unsupported value: "Ge"'):
        create(comparing("Ge"), COMPARING_TOLERATIONS)
    with pytest.raises(ApiError, match="restartPolicy"):
        create({**comparing("Gt"), **a_pod("p", restartPolicy="Gt")}, COMPARING_TOLERATIONS)
