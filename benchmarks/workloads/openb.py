"""The openb trace on EC2: what the pods of a production GPU cluster asked for.

`data/openb.csv` holds figures of Alibaba's cluster-trace-gpu-v2023: how many of its 8,152 pods
asked for which CPU, memory and GPUs; a share of a GPU is one. `joiner import openb` reads the trace
itself.
"""

import csv
from collections.abc import Sequence
from importlib import resources

from benchmarks import catalogues, documents
from benchmarks.documents import Document
from benchmarks.workloads import cluster
from benchmarks.workloads.workload import Size, Workload
from libs.domain.errors import InvalidRequest
from libs.runtime.randomness import Random

GPU = "nvidia.com/gpu"


def openb(size: Size) -> Workload:
    """Return the trace, in an order drawn by the seed; fewer pods are its first ones.

    Raises:
        InvalidRequest: the trace does not have so many pods.
    """
    sold = catalogues.ec2(size.types, size.families)
    every = _shuffled(size.seed)
    count = len(every) if size.pods is None else size.pods
    if count > len(every):
        raise InvalidRequest(f"the trace has {len(every)} pods, not {count}", field="--pods")

    def arriving(number: int, more: int) -> Sequence[Document]:
        chosen = Random(size.seed * 1_000_003 + number).choices(every, k=more)
        return [_pod(number + 1, index, requests) for index, requests in enumerate(chosen)]

    return Workload(
        name="openb",
        sold=sold,
        there=lambda: cluster.platform(sold),
        waiting=lambda: (_pod(0, index, one) for index, one in enumerate(every[:count])),
        arriving=arriving,
    )


def _shuffled(seed: int) -> list[dict[str, str]]:
    found = []
    table = resources.files("benchmarks").joinpath("data/openb.csv")
    with table.open("r", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            gpus = {GPU: row["num_gpu"]} if row["num_gpu"] != "0" else {}
            requests = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi", **gpus}
            found += [requests] * int(row["pods"])
    Random(seed).shuffle(found)
    return found


def _pod(kind: int, number: int, requests: dict[str, str]) -> Document:
    name = f"openb-{kind}-{number:05}"
    return documents.pod(name, documents.uid(kind, number), requests, {"app": "openb"})
