"""Put the simulator together."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from libs.domain.errors import InvalidRequest
from libs.kube import document_files
from libs.kube.crd_files import DEPLOYED, read_crds
from libs.runtime.app import App, Runtime
from libs.runtime.randomness import Random
from services.simulator import audit_file, http, kubeconfig, tls_files
from services.simulator.config import Settings
from services.simulator.core.api.access.credentials import read_tokens
from services.simulator.core.api.access.gate import Access
from services.simulator.core.api.access.users import ADMIN, User
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.plugins.admission import ALL_PLUGINS
from services.simulator.core.api.server import ApiServer
from services.simulator.core.kubelet.fate import FateBook, FateRule, NodeFate
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.life import all_parts
from services.simulator.core.part import Part
from services.simulator.core.usage.meter import UsageBook
from services.simulator.loop import Direction, LifeLoop
from services.simulator.metrics import Metrics
from services.simulator.script.hands import Hands
from services.simulator.script.journal import Entry
from services.simulator.script.player import Player
from services.simulator.script.playing import Stage
from services.simulator.script.reading import Loaded, load
from services.simulator.sky import Sky
from services.simulator.state.loading import load as load_objects
from services.simulator.state.loading import silent_nodes
from services.simulator.state.saving import save

logger = logging.getLogger(__name__)

_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Staging:
    """A script that is to be played, under whose weather, and who is told of it."""

    script: Loaded
    sky: Sky
    tell: Callable[[Entry], None]
    watching: tuple[Part, ...] = ()
    """Parts beside the cluster's own, stepped after them."""


def build(settings: Settings, runtime: Runtime) -> App:
    """Return the app: a cluster, and its API over HTTP.

    Raises:
        InvalidRequest: a CRD or the script cannot be read or is refused.
    """
    server = new_server(settings, runtime)
    load_state(settings, server, read_state(settings))
    staging = _staging(settings, server)
    listening = asyncio.Event()

    async def serve_api() -> None:
        await _serve(settings, runtime, server, staging, listening)

    async def ready() -> None:
        await listening.wait()

    app = assemble(settings, runtime, server, staging)

    async def close() -> None:
        await app.close()
        if settings.save_state is not None:
            await asyncio.to_thread(save, server.store, settings.save_state, runtime.clock.now())

    tasks = MappingProxyType({"api": serve_api, **app.tasks})
    return replace(app, tasks=tasks, ready=ready, close=close)


def new_server(settings: Settings, runtime: Runtime) -> ApiServer:
    """Return the API server of a new cluster, with its CRDs.

    Raises:
        InvalidRequest: a CRD cannot be read or is refused.
    """
    random = runtime.random

    def suffix() -> str:
        return "".join(random.choice(_SUFFIX_LETTERS) for _ in range(_SUFFIX_LENGTH))

    server = ApiServer(
        runtime.clock.now,
        runtime.new_id,
        suffix,
        plugins=ALL_PLUGINS,
        gates=frozenset(settings.feature_gates),
        access=_access(settings),
    )
    for kind, crd in _crds(settings.crds or DEPLOYED).items():
        try:
            server.direct.create(_DEFINITIONS, crd)
        except ApiError as error:
            raise InvalidRequest(f"the CRD of {kind} is refused: {error}", field="crds") from error
    return server


def _access(settings: Settings) -> Access:
    tokens: dict[str, User] = {}
    if settings.api_tokens is not None:
        try:
            tokens |= read_tokens(settings.api_tokens.read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"cannot be read: {error}", field="api_tokens") from error
    if settings.api_token:
        tokens[settings.api_token] = ADMIN
    log = settings.audit_log
    return Access(
        mode=settings.authorization_mode,
        tokens=tokens,
        audit=audit_file.writer(log) if log is not None else None,
        level=settings.audit_level,
    )


def _crds(folder: Path) -> dict[str, dict[str, Any]]:
    if not folder.is_dir():
        raise InvalidRequest(f"{folder} is no folder", field="crds")
    try:
        return read_crds(folder)
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise InvalidRequest(
            f"a file in {folder} cannot be read: {error!r}", field="crds"
        ) from error


Documents = tuple[tuple[str, object], ...]
"""Name of the file, and a parsed document, each."""


def read_state(settings: Settings) -> Documents:
    """Return what is in the file of the state that the cluster begins with, if there is one.

    Raises:
        InvalidRequest: the file cannot be read; names file and line.
    """
    if settings.state is None:
        return ()
    try:
        return tuple(document_files.read([str(settings.state)]))
    except OSError as error:
        message = f"{settings.state} cannot be read: {error.strerror}"
        raise InvalidRequest(message, field="state") from error


def load_state(settings: Settings, server: ApiServer, documents: Documents) -> None:
    """Let the cluster begin with the objects of a file.

    Raises:
        InvalidRequest: a document is no object; names file and place.
    """
    if settings.state is None:
        return
    hands = Hands(server.store, server.direct)
    keep = settings.state_managed_fields
    loaded = load_objects(server.store, hands, documents, managed_fields=keep)
    for note in loaded.notes:
        logger.warning("loading state", extra={"note": note})
    logger.info("loaded state", extra={"file": str(settings.state), "objects": loaded.objects})


def sky_over(server: ApiServer, script: Loaded) -> Sky:
    """Return the weather over a server, drawn by the script's seed."""
    return Sky(server.store.resources, Random(f"weather {script.script.seed}"))


def _staging(settings: Settings, server: ApiServer) -> Staging | None:
    if settings.script is None:
        return None
    script = load(settings.script)
    return Staging(script=script, sky=sky_over(server, script), tell=_log)


def _log(entry: Entry) -> None:
    told = {"after": entry.time, "what": entry.what, "subject": entry.subject}
    logger.info("script", extra={**told, "detail": entry.detail})


def assemble(
    settings: Settings, runtime: Runtime, server: ApiServer, staging: Staging | None = None
) -> App:
    """Return the app that keeps a cluster alive, without HTTP; tests reach the server in memory."""
    policy = KubeletPolicy(
        boot=settings.boot_delay,
        start=settings.pod_start_delay,
        stop=settings.pod_stop_delay,
        run=settings.job_run_time,
        volume_limits=settings.volume_limits,
        every_node=settings.state is not None,
    )
    silent = silent_nodes(server.direct.list("nodes")) if settings.state else ()
    dead = NodeFate(dead_since=runtime.clock.now())
    book = FateBook(tuple(FateRule(fate=dead, name=name) for name in silent))
    folder = settings.api_tls_dir
    authority = "" if folder is None else tls_files.authority(folder).decode()
    usage = UsageBook()
    parts = all_parts(server, policy, book, usage, authority=authority)
    direction = None
    if staging is not None:
        stage = Stage(
            hands=Hands(server.store, server.direct),
            api=server.direct,
            book=book,
            usage=usage,
            sky=staging.sky,
            tell=staging.tell,
        )
        direction = Direction(player=Player(staging.script, stage), sky=staging.sky)
        parts = (*parts, *staging.watching)
    names = [part.name for part in parts]
    metrics = Metrics(runtime.metrics, runtime.clock, [*names, Player.name])
    loop = LifeLoop(server.store, parts, runtime.clock, metrics, direction)
    return App(tasks=MappingProxyType({"life": loop.run}))


async def _serve(
    settings: Settings,
    runtime: Runtime,
    server: ApiServer,
    staging: Staging | None,
    listening: asyncio.Event,
) -> None:
    """Serve the API until cancelled; say where it is once it can be reached."""
    host, _, port = settings.api_listen.rpartition(":")
    sky = None if staging is None else staging.sky
    folder = settings.api_tls_dir
    place = http.Place(
        host=host.strip("[]"),
        port=int(port),
        tls=tls_files.server_context(folder) if folder is not None else None,
    )
    runner = await http.start(server, runtime.clock, place, sky=sky)
    try:
        if settings.kubeconfig is not None:
            address = settings.advertise_address or f"{host}:{runner.addresses[0][1]}"
            authority = tls_files.authority(folder) if folder is not None else b""
            kubeconfig.write(settings.kubeconfig, address, settings.api_token, authority)
        listening.set()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
