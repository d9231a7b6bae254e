"""The clusters that the suite asks: the simulator always, real ones if the environment says so.

Each is started (or found) by a context manager that yields a `Target`: a kubeconfig file and what
the cluster has beside its API server. Nothing else of the suite knows which one it talks to.
"""

import contextlib
import os
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import yaml

from tests.support.certificates import new_authority

SIMULATOR = "simulator"
BINARIES = "KUBEBUILDER_ASSETS"
EXISTING = "KUBECONFIG"

CONTROLLERS = "controllers"
SCHEDULER = "scheduler"
KUBELET = "kubelet"
ACCOUNTS = "service accounts"

_ROOT = Path(__file__).parents[2]
_START_SECONDS = 60
_POLL_SECONDS = 0.02
_TOKEN = "conformance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A running cluster."""

    kubeconfig: Path
    has: frozenset[str]
    """What runs in it: CONTROLLERS, SCHEDULER, KUBELET; ACCOUNTS: pods need a ServiceAccount."""


def wanted(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the targets that the environment asks for."""
    return (SIMULATOR, *(name for name in (BINARIES, EXISTING) if environment.get(name)))


def opened(name: str, folder: Path) -> AbstractContextManager[Target]:
    """Start the target of this name, or find it; `folder` is for its files."""
    if name == SIMULATOR:
        return simulator(folder)
    if name == BINARIES:
        return binaries(folder, Path(os.environ[BINARIES]))
    return contextlib.nullcontext(existing(Path(os.environ[EXISTING])))


def existing(kubeconfig: Path) -> Target:
    """Return the cluster of a kubeconfig: whoever names it vouches that it is a whole one."""
    has = frozenset((CONTROLLERS, SCHEDULER, KUBELET, ACCOUNTS))
    return Target(kubeconfig=kubeconfig, has=has)


@contextlib.contextmanager
def simulator(folder: Path) -> Iterator[Target]:
    """Run the simulator as users do: a process of its own, with all that real ones have on."""
    kubeconfig, pki = folder / "kubeconfig", folder / "pki"
    new_authority().write(pki, "simulator", ("localhost",))
    settings = {
        "JOINER_CFG_LISTEN": "127.0.0.1:0",
        "JOINER_CFG_PROBE_LISTEN": "127.0.0.1:0",
        "JOINER_CFG_API_LISTEN": "127.0.0.1:0",
        "JOINER_CFG_KUBECONFIG": str(kubeconfig),
        "JOINER_CFG_API_TLS_DIR": str(pki),
        "JOINER_CFG_API_TOKEN": _TOKEN,
        "JOINER_CFG_AUTHORIZATION_MODE": "RBAC",
        "JOINER_CFG_BOOT_DELAY": "0s",
        "JOINER_CFG_POD_START_DELAY": "0s",
        "JOINER_CFG_JOB_RUN_TIME": "0s",
    }
    command = [sys.executable, "-m", "services.simulator"]
    with _Processes(folder) as processes:
        processes.start("simulator", command, _clean_environment() | settings)
        processes.wait_for(kubeconfig.exists)
        yield Target(
            kubeconfig=kubeconfig, has=frozenset((CONTROLLERS, SCHEDULER, KUBELET, ACCOUNTS))
        )


@contextlib.contextmanager
def binaries(
    folder: Path,
    assets: Path,
    arguments: Sequence[str] = (),
    followers: Collection[str] = (CONTROLLERS, SCHEDULER),
) -> Iterator[Target]:
    """Run etcd and kube-apiserver, with scheduler and controller-manager if they are there.

    Args:
        folder: for certificates, data and logs.
        assets: folder of the programs.
        arguments: further ones of kube-apiserver.
        followers: what else may be started, of CONTROLLERS and SCHEDULER.
    """
    controllers, scheduler = assets / "kube-controller-manager", assets / "kube-scheduler"
    with_controllers = CONTROLLERS in followers and controllers.exists()
    with_scheduler = SCHEDULER in followers and scheduler.exists()
    place = _Place(folder)
    with _Processes(folder) as processes:
        processes.start("etcd", place.etcd(assets))
        accounts = () if with_controllers else ("--disable-admission-plugins=ServiceAccount",)
        processes.start("kube-apiserver", [*place.apiserver(assets), *accounts, *arguments])
        processes.wait_for(place.is_ready)
        if with_controllers:
            processes.start("kube-controller-manager", place.controllers(assets))
        if with_scheduler:
            processes.start("kube-scheduler", place.scheduler(assets))
        has = {CONTROLLERS, ACCOUNTS} if with_controllers else set()
        if with_scheduler:
            has.add(SCHEDULER)
        yield Target(kubeconfig=place.kubeconfig, has=frozenset(has))


class _Place:
    """Files and ports of a control plane, and the command lines that use them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pki = folder / "pki"
        new_authority().write(self._pki, "kube-apiserver", ("localhost", "kubernetes"))
        self._etcd_port, self._peer_port, self._port = _free_ports(3)
        self._tokens = folder / "tokens.csv"
        self._tokens.write_text(f'{_TOKEN},conformance,conformance,"system:masters"\n')
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(yaml.safe_dump(self._kubeconfig()))

    def etcd(self, assets: Path) -> list[str]:
        clients, peers = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, self._peer_port))
        return [
            str(assets / "etcd"),
            *(f"--data-dir={self._folder / 'etcd'}", "--unsafe-no-fsync", "--log-level=warn"),
            *(f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}"),
            *(f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}"),
            f"--initial-cluster=default={peers}",
        ]

    def apiserver(self, assets: Path) -> list[str]:
        key, certificate = self._pki / "tls.key", self._pki / "tls.crt"
        return [
            str(assets / "kube-apiserver"),
            *("--bind-address=127.0.0.1", "--advertise-address=127.0.0.1"),
            *(f"--secure-port={self._port}", f"--tls-private-key-file={key}"),
            f"--tls-cert-file={certificate}",
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            *(f"--token-auth-file={self._tokens}", "--authorization-mode=RBAC"),
            f"--service-account-key-file={certificate}",
            f"--service-account-signing-key-file={key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.0.0.0/24",
        ]

    def controllers(self, assets: Path) -> list[str]:
        return [
            *self._follower(assets / "kube-controller-manager"),
            f"--service-account-private-key-file={self._pki / 'tls.key'}",
            f"--root-ca-file={self._pki / 'ca.crt'}",
        ]

    def scheduler(self, assets: Path) -> list[str]:
        return self._follower(assets / "kube-scheduler")

    def _follower(self, program: Path) -> list[str]:
        (port,) = _free_ports(1)
        return [
            str(program),
            *(f"--kubeconfig={self.kubeconfig}", "--leader-elect=false"),
            *("--bind-address=127.0.0.1", f"--secure-port={port}"),
            f"--cert-dir={self._folder}",
        ]

    def is_ready(self) -> bool:
        trust = ssl.create_default_context(cafile=self._pki / "ca.crt")
        request = urllib.request.Request(
            f"https://127.0.0.1:{self._port}/readyz", headers={"Authorization": f"Bearer {_TOKEN}"}
        )
        with contextlib.suppress(OSError), urllib.request.urlopen(request, context=trust):
            return True
        return False

    def _kubeconfig(self) -> dict[str, object]:
        server = f"https://127.0.0.1:{self._port}"
        cluster = {"server": server, "certificate-authority": str(self._pki / "ca.crt")}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": cluster}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
            "users": [{"name": "c", "user": {"token": _TOKEN}}],
        }


class _Processes:
    """Children that end with the block, the last one first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._logs: list[IO[bytes]] = []

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        """Start a program; its output goes into a file of its name."""
        log = (self._folder / f"{name}.log").open("wb")
        self._logs.append(log)
        child = subprocess.Popen(
            command, cwd=_ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        self._running.append((name, child))

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds.

        Raises:
            RuntimeError: a program ended, or it took too long; with the end of its log.
        """
        for _ in range(int(_START_SECONDS / _POLL_SECONDS)):
            if condition():
                return
            for name, child in self._running:
                if child.poll() is not None:
                    raise RuntimeError(f"{name} ended: {self._tail(name)}")
            time.sleep(_POLL_SECONDS)
        raise RuntimeError(f"not ready in {_START_SECONDS} s: {self._tail(self._running[-1][0])}")

    def _tail(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text(errors="replace")[-2000:]

    def __enter__(self) -> "_Processes":
        return self

    def __exit__(self, *_raised: object) -> None:
        for _, child in reversed(self._running):
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for log in self._logs:
            log.close()


def _free_ports(count: int) -> tuple[int, ...]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for listening in sockets:
            listening.bind(("127.0.0.1", 0))
        return tuple(listening.getsockname()[1] for listening in sockets)


def _clean_environment() -> dict[str, str]:
    """Return our environment without settings of a service."""
    return {name: value for name, value in os.environ.items() if not name.startswith("JOINER_CFG_")}
