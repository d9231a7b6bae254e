"""Where the API server is and who we are there, as the official client finds it.

Apart from the transport because it is the only place that imports `kubernetes`: kubeconfig files
(certificates, tokens, token files, exec plug-ins) and service accounts stay that client's matter.
"""

import os
import ssl
from pathlib import Path

import yaml
from kubernetes.aio import client, config

from libs.domain.errors import InvalidRequest, Unavailable


class Credentials:
    """One identity at one server; `load` reads all files anew, so rotated ones are found."""

    def __init__(self, kubeconfig: str = "") -> None:
        """Take a kubeconfig's path; empty: the pod's service account, the usual files elsewhere."""
        self._kubeconfig = kubeconfig
        self._configuration = client.Configuration()

    @property
    def server(self) -> str:
        """The server's URL, without a slash at its end."""
        return str(self._configuration.host).rstrip("/")

    @property
    def server_name(self) -> str | None:
        """The name that the server's certificate has to have, if not its host."""
        name: str | None = self._configuration.tls_server_name
        return name

    @property
    def proxy(self) -> str | None:
        """The proxy that a kubeconfig asks for."""
        proxy: str | None = self._configuration.proxy
        return proxy

    async def load(self) -> None:
        """Read the configuration.

        Raises:
            InvalidRequest: there is none, or it cannot be used.
            Unavailable: a plug-in or an identity provider did not give a token.
        """
        fresh = client.Configuration()
        try:
            if not self._kubeconfig and in_cluster():
                config.load_incluster_config(client_configuration=fresh)
            else:
                await self._load_kubeconfig(fresh)
        except (config.ConfigException, yaml.YAMLError, TypeError, ValueError) as error:
            raise InvalidRequest(
                f"kubeconfig cannot be used: {error}", field="kubeconfig"
            ) from error
        except OSError as error:
            raise Unavailable(f"kubeconfig cannot be read: {error}") from error
        self._configuration = fresh

    def headers(self) -> dict[str, str]:
        """Return the headers that prove the identity; a service account's token is re-read."""
        hook = self._configuration.refresh_api_key_hook
        if hook is not None:
            try:
                hook(self._configuration)  # reads the token's file at most once a minute
            except (OSError, config.ConfigException) as error:
                raise Unavailable(f"service account token cannot be read: {error}") from error
        token = self._configuration.api_key.get("BearerToken")
        return {} if token is None else {"Authorization": str(token).strip()}

    def tls(self) -> ssl.SSLContext | bool:
        """Return how to check the server and to show a client certificate; True over plain HTTP.

        Raises:
            InvalidRequest: a certificate or a key cannot be used.
        """
        if not self.server.startswith("https"):
            return True
        loaded = self._configuration
        try:
            context = ssl.create_default_context(cafile=loaded.ssl_ca_cert)
            if loaded.cert_file:
                context.load_cert_chain(loaded.cert_file, keyfile=loaded.key_file)
        except OSError as error:  # ssl.SSLError is one
            raise InvalidRequest(
                f"certificates cannot be used: {error}", field="kubeconfig"
            ) from error
        if not loaded.verify_ssl:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    async def _load_kubeconfig(self, fresh: client.Configuration) -> None:
        path = self._kubeconfig or config.KUBE_CONFIG_DEFAULT_LOCATION
        _require_file(path)
        await config.load_kube_config(
            config_file=path, client_configuration=fresh, persist_config=False
        )


def in_cluster() -> bool:
    """Return whether this process runs in a pod with a service account."""
    return "KUBERNETES_SERVICE_HOST" in os.environ


def _require_file(path: str) -> None:
    files = [Path(part).expanduser() for part in path.split(os.pathsep) if part]
    if not any(file.exists() for file in files):
        raise config.ConfigException(f"no such file: {path}")
