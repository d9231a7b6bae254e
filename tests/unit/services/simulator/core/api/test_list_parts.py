"""A long list is the same whether it is made at once or while it is sent."""

import json

from services.simulator.core.api.messages import Request
from tests.unit.services.simulator.cluster import Cluster

MAPS = "/api/v1/namespaces/default/configmaps"
MANY = 600


def test_the_parts_of_a_long_list_join_to_it() -> None:
    cluster = Cluster()
    for number in range(MANY):
        cluster.server.direct.create("configmaps", {"metadata": {"name": f"m{number:03d}"}})

    whole = cluster.server.handle(Request(method="GET", path=MAPS))
    parted = cluster.server.handle(Request(method="GET", path=MAPS, takes_parts=True))

    assert parted.parts is not None
    parts = list(parted.parts)
    assert len(parts) > 2
    assert b"".join(parts) == whole.body
    assert len(json.loads(whole.body)["items"]) == MANY


def test_a_short_list_comes_whole() -> None:
    answer = Cluster().server.handle(Request(method="GET", path=MAPS, takes_parts=True))

    assert answer.parts is None
    assert json.loads(answer.body)["items"] == []
