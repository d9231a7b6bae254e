import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.runtime.runtime_settings import RuntimeSettings
from libs.runtime.settings import NoSettings, SettingsError, load, variables

SERVICES = (
    "joiner-solver",
    "joiner-watcher",
    "joiner-lifecycle",
    "joiner-disruption",
    "joiner-provider-kwok",
    "joiner-simulator",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    idle: timedelta = timedelta(seconds=1)
    maximum: timedelta = timedelta(seconds=10)

    def __post_init__(self) -> None:
        if self.idle > self.maximum:
            raise InvalidRequest("must not be longer than the maximum", field="idle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    address: str
    batch: Batch = field(default_factory=Batch)
    gates: Mapping[str, bool] = field(default_factory=dict)


def problems_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load(environ, RuntimeSettings, Settings)
    return caught.value.problems


def test_fields_come_from_their_variables_and_defaults() -> None:
    environ = {
        "JOINER_CFG_ADDRESS": "127.0.0.1:1",
        "JOINER_CFG_BATCH_IDLE": "2s",
        "JOINER_CFG_GATES": "NodeRepair=true",
        "JOINER_CFG_CLUSTER_ID": "west",
        "PATH": "/bin",
    }

    runtime, own = load(environ, RuntimeSettings, Settings)

    assert runtime.cluster_id == "west"
    assert own.batch == Batch(idle=timedelta(seconds=2))
    assert own.gates == {"NodeRepair": True}


def test_every_problem_is_reported_at_once_with_its_variable() -> None:
    problems = problems_of(
        {
            "JOINER_CFG_BATCH_MAXIMUM": "soon",
            "JOINER_CFG_GRACE_PERIOD": "-1s",
            "JOINER_CFG_ADRESS": "x",
        }
    )

    assert [problem.split("=")[0].split(" ")[0] for problem in problems] == [
        "JOINER_CFG_GRACE_PERIOD",
        "JOINER_CFG_ADDRESS",
        "JOINER_CFG_BATCH_MAXIMUM",
        "JOINER_CFG_ADRESS",
    ]


def test_an_unknown_variable_is_refused_with_the_closest_name() -> None:
    problems = problems_of({"JOINER_CFG_ADDRESS": "x", "JOINER_CFG_BATCH_IDEL": "1s"})

    assert problems == (
        "JOINER_CFG_BATCH_IDEL is not a setting of this service; "
        "did you mean JOINER_CFG_BATCH_IDLE?",
    )


def test_a_refused_combination_is_reported_under_the_variable() -> None:
    problems = problems_of({"JOINER_CFG_ADDRESS": "x", "JOINER_CFG_BATCH_IDLE": "1h"})

    assert problems == ("JOINER_CFG_BATCH_IDLE must not be longer than the maximum",)


def test_two_fields_with_one_name_are_a_programming_error() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Clash:
        listen: str = ""

    with pytest.raises(TypeError, match="JOINER_CFG_LISTEN"):
        load({}, RuntimeSettings, Clash)


def test_variables_lists_nested_fields() -> None:
    names = [name for name, _, _ in variables(Settings)]

    assert names == [
        "JOINER_CFG_ADDRESS",
        "JOINER_CFG_BATCH_IDLE",
        "JOINER_CFG_BATCH_MAXIMUM",
        "JOINER_CFG_GATES",
    ]


def test_what_kubernetes_injects_for_our_services_is_ignored() -> None:
    environ = {
        name: value for service in SERVICES for name, value in service_links(service).items()
    }
    assert "JOINER_SOLVER_PORT_8443_TCP_ADDR" in environ

    runtime, _ = load(environ, RuntimeSettings, NoSettings)

    assert runtime == RuntimeSettings()


def test_only_a_service_called_joiner_cfg_could_be_mistaken_for_settings() -> None:
    with pytest.raises(SettingsError, match="JOINER_CFG_X_PORT is not a setting"):
        load(service_links("joiner-cfg-x"), RuntimeSettings, NoSettings)


@pytest.mark.parametrize(
    ("changes", "field_name"),
    [
        pytest.param({"listen": "0.0.0.0:9000"}, "listen", id="plaintext on all interfaces"),
        pytest.param({"listen": "joiner:9000"}, "listen", id="plaintext on a name"),
        pytest.param({"listen": "localhost"}, "listen", id="no port"),
        pytest.param({"listen": "127.0.0.1:65536"}, "listen", id="port out of range"),
        pytest.param({"probe_listen": ""}, "probe_listen", id="no probes"),
        pytest.param({"probe_listen": "::1:80"}, "probe_listen", id="IPv6 without brackets"),
        pytest.param({"tls_dir": Path("/tls")}, "authorization_file", id="TLS without a table"),
        pytest.param({"public_listen": "a:1"}, "public_tls_dir", id="public without certificates"),
        pytest.param({"grace_period": timedelta()}, "grace_period", id="no grace"),
        pytest.param({"cluster_id": ""}, "cluster_id", id="no cluster"),
    ],
)
def test_unsafe_runtime_settings_are_refused(changes: dict[str, Any], field_name: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        dataclasses.replace(RuntimeSettings(), **changes)

    assert caught.value.field == field_name


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1"])
def test_plaintext_is_allowed_on_loopback(address: str) -> None:
    assert RuntimeSettings(listen=address).listen == address


def service_links(service: str) -> dict[str, str]:
    """What the kubelet adds to each container for a Service with a port named grpc."""
    name, url = service.upper().replace("-", "_"), "tcp://10.0.0.7:8443"
    return {
        f"{name}_SERVICE_HOST": "10.0.0.7",
        f"{name}_SERVICE_PORT": "8443",
        f"{name}_SERVICE_PORT_GRPC": "8443",
        f"{name}_PORT": url,
        f"{name}_PORT_8443_TCP": url,
        f"{name}_PORT_8443_TCP_PROTO": "tcp",
        f"{name}_PORT_8443_TCP_PORT": "8443",
        f"{name}_PORT_8443_TCP_ADDR": "10.0.0.7",
    }
