"""Put the KWOK provider together."""

from dataclasses import replace
from functools import partial

from joiner.provider.v1.provider_pb2_grpc import add_CloudProviderServiceServicer_to_server

from libs import catalogues
from libs.kube.api import KubeApi
from libs.kube.credentials import Credentials
from libs.kube.transport import HttpKubeApi
from libs.providerkit.measured import MeasuredProvider
from libs.providerkit.servicer import ProviderServicer
from libs.runtime.app import App, Runtime
from services.provider_kwok.adapters.cloud import KwokCloud
from services.provider_kwok.config import Settings


def build(settings: Settings, runtime: Runtime) -> App:
    """Return the app on the API server of the settings."""
    api = HttpKubeApi(Credentials(settings.kubeconfig), agent="joiner-provider-kwok")
    return replace(assemble(settings, runtime, api), close=api.close)


def assemble(settings: Settings, runtime: Runtime, api: KubeApi) -> App:
    """Return the app on any API server.

    Raises:
        InvalidRequest: the catalogue does not exist or is broken.
    """
    types = catalogues.named(settings.catalogue)
    well_known = catalogues.well_known_keys(settings.catalogue, types)
    cloud = KwokCloud(api, runtime.clock, types, well_known)
    provider = MeasuredProvider(cloud, runtime.clock, runtime.metrics)
    servicer = ProviderServicer(provider)
    return App(
        servicers=(partial(add_CloudProviderServiceServicer_to_server, servicer),),
        ready=cloud.resume,
    )
