"""What pods on one node take from each other."""

from collections.abc import Iterable

import pytest

from libs.domain.pod import HostPort
from services.solver.core.exclusion import Exclusive, Taken, by_name, conflict
from services.solver.core.standing import holdings
from tests.support.builders import a_node, a_pod, a_port, a_shape
from tests.unit.services.solver.core.asking import left_over, plan_of


@pytest.mark.parametrize(
    ("left", "right", "excluded"),
    [
        pytest.param("10.0.0.1", "10.0.0.1", True, id="one address"),
        pytest.param("10.0.0.1", "10.0.0.2", False, id="two addresses"),
        pytest.param("0.0.0.0", "10.0.0.1", True, id="every address"),
        pytest.param("0.0.0.0", "::", True, id="every address, IPv6 included"),
        pytest.param("::", "10.0.0.1", False, id="the unspecified IPv6 address is one like others"),
    ],
)
def test_a_port_is_taken_on_its_address(left: str, right: str, excluded: bool) -> None:
    mine, their = HostPort(ip=left, port=80), HostPort(ip=right, port=80)

    assert conflict((mine,), (their,)) is excluded
    assert conflict((their,), (mine,)) is excluded


def test_ports_of_two_protocols_do_not_meet() -> None:
    assert not conflict((HostPort(protocol="TCP", port=80),), (HostPort(protocol="UDP", port=80),))


def test_what_a_node_has_taken_is_read_once_however_many_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []

    def counting(many: Iterable[Exclusive]) -> Taken:
        known = list(many)
        read.append(len(known))
        return by_name(known)

    monkeypatch.setattr(holdings, "by_name", counting)
    held = a_shape(90, host_ports=tuple(a_port(5000 + number) for number in range(20)))
    asking = [a_shape(number, cpu="10m", host_ports=(a_port(number),)) for number in range(1, 10)]

    plan = plan_of(
        shapes=[held, *asking],
        pods=[a_pod("runs", 90, node="node-1"), *(a_pod(f"p-{one.id}", one.id) for one in asking)],
        nodes=[a_node()],
        nodepools=[],
    )

    assert left_over(plan) == 0
    assert read == [20]
