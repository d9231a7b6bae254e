"""`PoolReader`: NodePools as planning sees them, read once per version.

Apart because every look at a claim needs its pool, and reading one (validation, hash) costs more
than the rest of the look.
"""

from libs.domain.errors import InvalidRequest
from libs.domain.nodepool import NodePool
from libs.domain.validation import KeyRules
from libs.kube.convert.nodepool import nodepool
from libs.kube.objects import karpenter as objects

_Key = tuple[str, KeyRules, tuple[str, ...]]


class PoolReader:
    """Reads pools and remembers the last answer for each."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[_Key, NodePool | None]] = {}

    def read(
        self, pool: objects.NodePool, rules: KeyRules, problems: tuple[str, ...] = ()
    ) -> NodePool | None:
        """Return a pool, None if it cannot be read.

        Args:
            pool: the object.
            rules: which label keys its provider allows.
            problems: what is wrong with its node class.
        """
        key = (f"{pool.metadata.uid}/{pool.metadata.resource_version}", rules, problems)
        known = self._read.get(pool.metadata.name)
        if known is not None and known[0] == key:
            return known[1]
        try:
            found = nodepool(pool, rules, problems)
        except InvalidRequest:
            found = None
        self._read[pool.metadata.name] = (key, found)
        return found
