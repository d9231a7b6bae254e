"""The settings that every service has: where it listens, whom it trusts, how long it waits."""

import enum
import ipaddress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from libs.domain.errors import InvalidRequest


class LogLevel(enum.StrEnum):
    """The lowest level that is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """Read by `run` for each service; documented in `docs/settings.md`."""

    listen: str = "127.0.0.1:9000"
    """Main listener, `host:port`. Beyond loopback it needs `tls_dir`."""
    probe_listen: str = "0.0.0.0:8080"
    """Plaintext HTTP listener of `/healthz`, `/readyz` and `/metrics`, nothing else."""
    public_listen: str = ""
    """Listener for the read-only methods of a service that has any; empty is off."""
    tls_dir: Path | None = None
    """Directory of `tls.crt`, `tls.key` and `ca.crt`; unset is plaintext, on loopback only."""
    authorization_file: Path | None = None
    """YAML, identity → methods; required with `tls_dir`. Without TLS, loopback may call all."""
    public_tls_dir: Path | None = None
    """Certificates of the public listener; unset takes those of `tls_dir`."""
    public_tokens_file: Path | None = None
    """YAML, identity → bearer token for the public listener; unset asks for certificates there."""
    cluster_id: str = "home"
    """Names the cluster that this installation manages in snapshots, plans and health names."""
    log_level: LogLevel = LogLevel.INFO
    """The lowest level that is written to standard output."""
    grace_period: timedelta = timedelta(seconds=25)
    """From SIGTERM to a forced exit; below the pod's 30 s of `terminationGracePeriodSeconds`."""
    call_timeout: timedelta = timedelta(seconds=10)
    """Deadline of an outgoing unary call that names none."""
    call_limit: timedelta = timedelta(seconds=60)
    """Deadline given to an incoming unary call that has none."""
    stream_lifetime: timedelta = timedelta(hours=1)
    """Deadline of a stream that names none, on both sides; whoever opened it opens it again."""

    def __post_init__(self) -> None:
        self._check_values()
        self._check_security()

    def _check_values(self) -> None:
        for name in ("grace_period", "call_timeout", "call_limit", "stream_lifetime"):
            if getattr(self, name) <= timedelta():
                raise InvalidRequest("must be longer than zero", field=name)
        for name in ("listen", "probe_listen", "public_listen"):
            address = getattr(self, name)
            if not is_address(address) and (address or name != "public_listen"):
                raise InvalidRequest(f"{address!r} is not host:port", field=name)
        if not self.cluster_id:
            raise InvalidRequest("must not be empty", field="cluster_id")

    def _check_security(self) -> None:
        if self.tls_dir is None and not is_loopback(self.listen):
            raise InvalidRequest(
                f"{self.listen} is plaintext beyond loopback; set JOINER_CFG_TLS_DIR",
                field="listen",
            )
        if self.tls_dir is not None and self.authorization_file is None:
            raise InvalidRequest("must be set when TLS is used", field="authorization_file")
        if self.public_listen and not (self.public_tls_dir or self.tls_dir):
            raise InvalidRequest("must be set for a public listener", field="public_tls_dir")


def is_address(text: str) -> bool:
    """Return whether `text` is `host:port`, an IPv6 host in brackets."""
    host, separator, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    plain = bool(host) and ":" not in host
    known_port = port.isascii() and port.isdigit() and int(port[:6]) <= 65535
    return bool(separator) and (bracketed or plain) and known_port


def is_loopback(address: str) -> bool:
    """Return whether `host:port` can be reached from this machine only."""
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
