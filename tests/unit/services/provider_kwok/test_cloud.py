"""The KWOK cloud on an API server in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from libs import catalogues
from libs.catalogues import kwok
from libs.domain import labels as keys
from libs.domain.capacity import NodeClassRef
from libs.domain.provider import ClaimLaunch, LaunchBatch, LaunchSpec, NodeClass
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import CPU, Resources
from libs.runtime.clock import LoopClock
from libs.runtime.virtual import run_virtual
from services.provider_kwok.adapters.cloud import KwokCloud
from tests.support.memory_api import CountingKubeApi, MemoryKubeApi, new_server
from tests.support.world import START

CLASS = NodeClass(
    ref=NodeClassRef(group="karpenter.kwok.sh", kind="KWOKNodeClass", name="default"), uid="c"
)
TYPE = Requirement.of(keys.INSTANCE_TYPE, Operator.IN, ("c-4x-amd64-linux",))
BATCH = LaunchBatch(
    batch_id="b",
    claims=(ClaimLaunch(name="default-1", uid="u"),),
    spec=LaunchSpec(
        node_class=CLASS, requirements=Requirements((TYPE,)), requests=Resources({CPU: 1000})
    ),
)


def test_a_node_has_its_size_from_the_first_write() -> None:
    """So that no crash leaves one whose size the kubelet makes up: pods would not fit on it."""
    writes: list[str] = []

    @contextmanager
    def noted(what: str) -> Iterator[None]:
        writes.append(what)
        yield

    async def scenario() -> None:
        clock = LoopClock(START)
        server = new_server(clock)
        api = CountingKubeApi(MemoryKubeApi(server), noted)
        types = kwok.instance_types()
        cloud = KwokCloud(api, clock, types, catalogues.well_known_keys("kwok", types))

        await cloud.create(BATCH)
        await cloud.create(BATCH)

        (node,) = server.direct.list("nodes")
        assert node["status"]["capacity"]["cpu"] == "4"
        assert node["status"]["allocatable"]["cpu"] == "3900m"

    run_virtual(scenario())

    assert writes == ["POST /api/v1/nodes"] * 2
