"""Services are set up so that they start and find each other."""

import importlib
from itertools import count
from pathlib import Path

import pytest

from cli.run import services
from libs.runtime.runtime_settings import RuntimeSettings
from libs.runtime.settings import load

NUMBERS = count(20_000)
ARRANGED = services.arrange(lambda: next(NUMBERS), Path("kubeconfig"))


@pytest.mark.parametrize("service", [pytest.param(one, id=one.name) for one in ARRANGED])
def test_every_service_takes_its_settings(service: services.Service) -> None:
    config = importlib.import_module(f"services.{service.name}.config")

    runtime, _ = load(service.environment, RuntimeSettings, config.Settings)

    assert runtime.listen == service.listen
    assert runtime.grace_period == services.GRACE


def test_no_port_is_given_twice_and_as_many_are_asked_for_as_announced() -> None:
    given: list[int] = []

    def port() -> int:
        given.append(len(given) + 1)
        return given[-1]

    arranged = services.arrange(port, Path("kubeconfig"))

    assert len(given) == services.PORTS
    assert len({address for one in arranged for address in (one.listen, one.probe)}) == 12


def test_the_watcher_pushes_to_the_solver_and_to_disruption() -> None:
    by_name = {one.name: one for one in ARRANGED}
    watcher = by_name["watcher"].settings
    assert watcher["SOLVER_ADDRESS"] == by_name["solver"].listen
    assert watcher["SINKS"] == by_name["disruption"].listen
    assert watcher["LIFECYCLE_ADDRESS"] == by_name["lifecycle"].listen
