"""Where the API server is and who we are there, as the official client finds it.

The only module that imports `kubernetes`: certificates, token files, exec plug-ins, identity
providers and service accounts stay that client's matter. It imports the models of every API, so
this module is loaded when it is needed and not before.
"""

import os
from pathlib import Path

import yaml
from kubernetes.aio import client, config

from libs.domain.errors import InvalidRequest, Unavailable
from libs.kube.access import Access


async def load(kubeconfig: str) -> Access:
    """Read the configuration.

    Args:
        kubeconfig: a path; empty: the pod's service account, the usual files elsewhere.

    Raises:
        InvalidRequest: there is none, or it cannot be used.
        Unavailable: a plug-in or an identity provider did not give a token.
    """
    fresh = client.Configuration()
    try:
        if not kubeconfig and in_cluster():
            config.load_incluster_config(client_configuration=fresh)
        else:
            await _load_kubeconfig(kubeconfig or config.KUBE_CONFIG_DEFAULT_LOCATION, fresh)
    except (config.ConfigException, yaml.YAMLError, TypeError, ValueError) as error:
        raise InvalidRequest(f"kubeconfig cannot be used: {error}", field="kubeconfig") from error
    except OSError as error:
        raise Unavailable(f"kubeconfig cannot be read: {error}") from error
    return Access(
        server=str(fresh.host).rstrip("/"),
        token=lambda: _token(fresh),
        server_name=fresh.tls_server_name,
        proxy=fresh.proxy,
        ca_file=fresh.ssl_ca_cert,
        cert_file=fresh.cert_file,
        key_file=fresh.key_file,
        verify=bool(fresh.verify_ssl),
    )


def in_cluster() -> bool:
    """Return whether this process runs in a pod with a service account."""
    return "KUBERNETES_SERVICE_HOST" in os.environ


def _token(configuration: client.Configuration) -> str | None:
    """Return the token; a service account's is re-read, at most once a minute."""
    hook = configuration.refresh_api_key_hook
    if hook is not None:
        try:
            hook(configuration)
        except (OSError, config.ConfigException) as error:
            raise Unavailable(f"service account token cannot be read: {error}") from error
    token = configuration.api_key.get("BearerToken")
    return None if token is None else str(token).strip()


async def _load_kubeconfig(path: str, fresh: client.Configuration) -> None:
    _require_file(path)
    await config.load_kube_config(
        config_file=path, client_configuration=fresh, persist_config=False
    )


def _require_file(path: str) -> None:
    files = [Path(part).expanduser() for part in path.split(os.pathsep) if part]
    if not any(file.exists() for file in files):
        raise config.ConfigException(f"no such file: {path}")
