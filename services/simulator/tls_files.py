"""The API's certificate as files: `tls.crt`, `tls.key`, and `ca.crt` for those who check it."""

import ssl
from pathlib import Path

from libs.domain.errors import InvalidRequest


def server_context(folder: Path) -> ssl.SSLContext:
    """Return what the API is served under.

    Raises:
        InvalidRequest: a file is missing or no certificate or key.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        authority(folder)
    except (OSError, ssl.SSLError) as error:
        raise InvalidRequest(
            f"{folder} has no certificate: {error}", field="api_tls_dir"
        ) from error
    return context


def authority(folder: Path) -> bytes:
    """Return the certificate (PEM) that vouches for the API's own."""
    return (folder / "ca.crt").read_bytes()
