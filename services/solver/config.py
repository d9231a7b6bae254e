"""Settings of the solver."""

from dataclasses import dataclass
from datetime import timedelta

from libs.domain.errors import InvalidRequest
from libs.runtime.authorization import LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each attribute is read from `JOINER_CFG_` and its name in capitals."""

    watcher_identity: str = LOCAL
    """Identity of the watcher, who alone may push the home cluster; `local` is plaintext."""
    foreign_clusters: int = 4
    """Most clusters that one other identity may have held here; 0 refuses them all."""
    foreign_bytes: int = 256 * 1024 * 1024
    """Most bytes of snapshots, as they came over the wire, that such an identity may have held."""
    foreign_idle: timedelta = timedelta(hours=1)
    """A cluster of such an identity that was not heard of for so long is forgotten."""
    catalogues: int = 64
    """Most catalogues whose columns are kept between calls, about 1 MiB each, at least 1; a smaller
    number costs some 30 ms per call and catalogue."""
    processes: int = 0
    """Most processes that compute while questions overlap, this one among them, each with as much
    memory; 0: as many as there are cores, 1: this one alone. Fewer where memory is short."""

    def __post_init__(self) -> None:
        if self.catalogues < 1:
            raise InvalidRequest("must be at least 1", field="catalogues")
        if self.processes < 0:
            raise InvalidRequest("must not be negative", field="processes")
