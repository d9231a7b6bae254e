"""The services of the demonstration: which there are, where each listens, what it is set to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

SIMULATOR = "simulator"
NAMES = (SIMULATOR, "provider_kwok", "solver", "lifecycle", "disruption", "watcher")
"""In the order in which they are started; the cluster comes first."""

CATALOGUE = "aws"
GRACE = timedelta(seconds=5)
BATCH_IDLE = timedelta(seconds=1)
NOMINATION = timedelta(seconds=10)
VALIDATION = timedelta(seconds=3)

SHORTENED = (
    f"batches close after {BATCH_IDLE.seconds} s of quiet (5 s at most, else 10), a nominated node "
    f"is left alone for {NOMINATION.seconds} s (else 20), the second look at an empty node comes "
    f"after {VALIDATION.seconds} s (else 15), pools wait 5 s before a node counts as empty"
)
"""What differs from the defaults, to be told to whoever watches."""

_PORTS_EACH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One process: `python -m services.<name>`."""

    name: str
    listen: str
    probe: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Values of `JOINER_CFG_` variables, by what follows the prefix."""

    @property
    def environment(self) -> dict[str, str]:
        """Return all its settings as environment variables."""
        own = {
            "LISTEN": self.listen,
            "PROBE_LISTEN": self.probe,
            "GRACE_PERIOD": _seconds(GRACE),
            **self.settings,
        }
        return {f"JOINER_CFG_{name}": value for name, value in own.items()}


PORTS = _PORTS_EACH * len(NAMES) + 1
"""How many ports `arrange` needs."""


def arrange(
    ports: Callable[[], int], kubeconfig: Path, script: Path | None = None
) -> tuple[Service, ...]:
    """Return the services, each with ports of its own and the addresses of the others.

    Args:
        ports: gives a free port of the loopback interface, another one with each call.
        kubeconfig: the file that the simulator writes and the others read.
        script: what the simulator plays, if anything.
    """
    listen = {name: f"127.0.0.1:{ports()}" for name in NAMES}
    simulator = {"API_LISTEN": f"127.0.0.1:{ports()}"}
    if script is not None:
        simulator["SCRIPT"] = str(script.resolve())
    settings = _settings(listen, kubeconfig, simulator)
    return tuple(
        Service(
            name=name,
            listen=listen[name],
            probe=f"127.0.0.1:{ports()}",
            settings=settings[name],
        )
        for name in NAMES
    )


def _settings(
    listen: Mapping[str, str], kubeconfig: Path, simulator: Mapping[str, str]
) -> Mapping[str, Mapping[str, str]]:
    cluster = {"KUBECONFIG": str(kubeconfig)}
    providers = {"PROVIDERS": f"karpenter.kwok.sh={listen['provider_kwok']}"}
    lifecycle = {"LIFECYCLE_ADDRESS": listen["lifecycle"]}
    return {
        SIMULATOR: {**cluster, **simulator},
        "provider_kwok": {**cluster, "CATALOGUE": CATALOGUE},
        "solver": {},
        "lifecycle": {**cluster, **providers, "NOMINATION_WINDOW": _seconds(NOMINATION)},
        "disruption": {
            **cluster,
            **lifecycle,
            "NOMINATION_WINDOW": _seconds(NOMINATION),
            "VALIDATION_DELAY": _seconds(VALIDATION),
            "POLL_PERIOD": "2s",
        },
        "watcher": {
            **cluster,
            **providers,
            **lifecycle,
            "SOLVER_ADDRESS": listen["solver"],
            "SINKS": listen["disruption"],
            "BATCH_IDLE_DURATION": _seconds(BATCH_IDLE),
            "BATCH_MAX_DURATION": _seconds(NOMINATION / 2),
        },
    }


def _seconds(span: timedelta) -> str:
    return f"{int(span.total_seconds())}s"
