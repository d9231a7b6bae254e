"""One identity at one API server, loaded when it is first needed and again when it is refused."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

from libs.domain.errors import InvalidRequest, Unavailable
from libs.kube import plain_kubeconfig
from libs.kube.access import Access


class Credentials:
    """One identity at one server; `load` reads all files anew, so rotated ones are found."""

    def __init__(self, kubeconfig: str = "") -> None:
        """Take a kubeconfig's path; empty: the pod's service account, the usual files elsewhere."""
        self._kubeconfig = kubeconfig
        self._access = Access(server="")

    @property
    def server(self) -> str:
        """The server's URL, without a slash at its end; empty before `load`."""
        return self._access.server

    @property
    def server_name(self) -> str | None:
        """The name that the server's certificate has to have, if not its host."""
        return self._access.server_name

    @property
    def proxy(self) -> str | None:
        """The proxy that a kubeconfig asks for."""
        return self._access.proxy

    async def load(self) -> None:
        """Read the configuration.

        Raises:
            InvalidRequest: there is none, or it cannot be used.
            Unavailable: a file cannot be read, or an identity provider did not give a token.
        """
        self._access = self._plain() or await _official(self._kubeconfig)

    def headers(self) -> dict[str, str]:
        """Return the headers that prove the identity; a service account's token is re-read."""
        token = self._access.token()
        return {} if token is None else {"Authorization": token}

    def tls(self) -> ssl.SSLContext | bool:
        """Return how to check the server and to show a client certificate; True over plain HTTP.

        Raises:
            InvalidRequest: a certificate or a key cannot be used.
        """
        if not self.server.startswith("https"):
            return True
        loaded = self._access
        try:
            context = ssl.create_default_context(cafile=loaded.ca_file)
            if loaded.cert_file:
                context.load_cert_chain(loaded.cert_file, keyfile=loaded.key_file)
        except OSError as error:  # ssl.SSLError is one
            raise InvalidRequest(
                f"certificates cannot be used: {error}", field="kubeconfig"
            ) from error
        if not loaded.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _plain(self) -> Access | None:
        path = Path(self._kubeconfig).expanduser()
        if not self._kubeconfig or not path.is_file():
            return None
        try:
            return plain_kubeconfig.read(str(path))
        except OSError as error:
            raise Unavailable(f"kubeconfig cannot be read: {error}") from error


async def _official(kubeconfig: str) -> Access:
    """Load by the official client, which is imported off the event loop: that takes a while."""
    load = await asyncio.to_thread(_official_load)
    return await load(kubeconfig)


def _official_load() -> Callable[[str], Awaitable[Access]]:
    from libs.kube.official import load  # noqa: PLC0415  # see that module's docstring

    return load
