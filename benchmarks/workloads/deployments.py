"""Pods of Deployments on EC2 (`drawing.py`), on an empty cluster or on one that runs already."""

from collections.abc import Iterator

from benchmarks import catalogues
from benchmarks.documents import Document
from benchmarks.workloads import cluster, drawing
from benchmarks.workloads.workload import Size, Workload

PODS = 10_000
TYPES = 800
STANDING_NODES = 5_000
STANDING_DELTA = 100


def deployments(size: Size) -> Workload:
    """Return pods that wait; `size.nodes` nodes run 30 pods each already."""
    return _workload("deployments", size, PODS if size.pods is None else size.pods)


def standing(size: Size) -> Workload:
    """Return a cluster where all runs; what is solved are the few pods that arrive.

    `size.pods` are those that run, 30 to a node unless the nodes are said, too.
    """
    pods = size.pods
    nodes = size.nodes or (STANDING_NODES if pods is None else -(-pods // cluster.PODS_PER_NODE))
    sold = catalogues.ec2(size.types, size.families)
    running = cluster.PODS_PER_NODE * nodes if pods is None else pods

    def there() -> Iterator[Document]:
        yield from cluster.platform(sold)
        yield from cluster.running(sold, nodes, running, size.seed)

    drawn = drawing.draw(running, size.seed)
    return Workload(
        name="standing",
        sold=sold,
        there=there,
        waiting=lambda: iter(()),
        arriving=lambda number, more: drawing.arrivals(drawn, number, more, size.seed),
        delta=STANDING_DELTA,
    )


def _workload(name: str, size: Size, count: int) -> Workload:
    types = size.types or (None if size.families else TYPES)
    sold = catalogues.ec2(types, size.families)
    drawn = drawing.draw(count, size.seed)
    nodes = size.nodes or 0

    def there() -> Iterator[Document]:
        yield from cluster.platform(sold)
        if nodes:
            yield from cluster.running(sold, nodes, cluster.PODS_PER_NODE * nodes, size.seed)

    return Workload(
        name=name,
        sold=sold,
        there=there,
        waiting=lambda: drawing.pods(drawn, 0),
        arriving=lambda number, more: drawing.arrivals(drawn, number, more, size.seed),
    )
