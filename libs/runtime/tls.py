"""Certificates from a directory, read again when the files change; no restart is needed.

The layout is the one that cert-manager and Secrets of type `kubernetes.io/tls` mount. A set of
files that cannot be used (half written, key of another certificate) is reported and the last good
set stays.
"""

import logging
import ssl
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import grpc

from libs.domain.errors import InvalidRequest

logger = logging.getLogger(__name__)

_FILES = ("tls.crt", "tls.key", "ca.crt")

_Fingerprint = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """PEM: own certificate chain, its key, and the authorities that peers are checked against."""

    chain: bytes
    key: bytes
    authorities: bytes


class CertificateFiles:
    """The newest usable certificates of a directory; safe to ask from any thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()  # gRPC asks from its own threads, at each TLS handshake
        try:
            self._seen = self._fingerprint()
            self._current = self._read()
        except (OSError, ssl.SSLError) as error:
            raise InvalidRequest(f"no certificates: {error}", field=str(directory)) from error

    def current(self) -> Certificates:
        """Return the certificates; the same object as long as nothing changed."""
        with self._lock:
            try:
                self._reload()
            except (OSError, ssl.SSLError) as error:
                logger.warning(
                    "kept the old certificates",
                    extra={"directory": str(self._directory), "error": str(error)},
                )
            return self._current

    def _reload(self) -> None:
        before = self._fingerprint()
        if before == self._seen:
            return
        fresh = self._read()
        if self._fingerprint() == before:  # else still being written: look again next time
            self._seen, self._current = before, fresh
            logger.info("reloaded certificates", extra={"directory": str(self._directory)})

    def _read(self) -> Certificates:
        chain, key, authorities = (self._directory / name for name in _FILES)
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(chain, key)  # refuses a wrong key
        ssl.create_default_context(cafile=authorities)  # refuses what is no certificate
        return Certificates(
            chain=chain.read_bytes(), key=key.read_bytes(), authorities=authorities.read_bytes()
        )

    def _fingerprint(self) -> _Fingerprint:
        states = [(self._directory / name).stat() for name in _FILES]
        return tuple((state.st_ino, state.st_mtime_ns, state.st_size) for state in states)


def server_credentials(
    files: CertificateFiles, *, require_client: bool = True
) -> grpc.ServerCredentials:
    """Return credentials that take the newest certificates at every handshake."""
    served = [files.current()]

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        newest = files.current()
        if newest is served[0]:
            return None
        served[0] = newest
        return _configuration(newest)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(served[0]),
        cast(Any, fetch),  # the stubs forget that None means "no change"
        require_client_authentication=require_client,
    )


def channel_credentials(certificates: Certificates) -> grpc.ChannelCredentials:
    """Return credentials for one channel; after a change of files a new channel needs new ones."""
    return grpc.ssl_channel_credentials(
        root_certificates=certificates.authorities,
        private_key=certificates.key,
        certificate_chain=certificates.chain,
    )


def _configuration(certificates: Certificates) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(certificates.key, certificates.chain)], certificates.authorities
    )
