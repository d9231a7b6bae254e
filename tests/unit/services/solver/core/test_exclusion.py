"""What pods on one node take from each other."""

import pytest

from libs.domain.pod import HostPort
from services.solver.core.exclusion import conflict


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
