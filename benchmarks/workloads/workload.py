"""What a workload is: a catalogue, what is there before the clock starts, and who waits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.catalogues import Sold
from benchmarks.documents import Document
from libs.domain.solution import SolveOptions

SEED = 42
"""The peer's."""
_DEFAULTS = SolveOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of a workload is asked for; None: as much as is usual for it."""

    pods: int | None = None
    types: int | None = None
    nodes: int | None = None
    """Nodes that exist, with pods that run on them."""
    families: tuple[str, ...] = ()
    """Categories of EC2's types, such as c, m, r; none: all."""
    seed: int = SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A cluster and the pods that wait in it; all documents are made anew with each call."""

    name: str
    sold: Sold
    there: Callable[[], Iterator[Document]]
    """Pools, DaemonSets, nodes, volumes, pods that run."""
    waiting: Callable[[], Iterator[Document]]
    arriving: Callable[[int, int], Sequence[Document]]
    """That many more waiting pods, others for each round: `(round, count)`."""
    options: SolveOptions = _DEFAULTS
    delta: int = 0
    """Pods that arrive where it is not said how many; 0: the waiting ones do."""
