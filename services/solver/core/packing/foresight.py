"""Packing with foresight: every pod can be bound with all nodes of the plan there.

Apart from packing, which goes by turns: a spread constraint looks at every domain that there is,
also at one that the pod itself cannot have; and a node that makes such a domain may be bought for
others after the pod was placed. kube-scheduler would not bind it beside that node, and nobody knows
which comes up first. So everything is packed again, with those domains there from the start.

Source: kube-scheduler's PodTopologySpread: domains are those of nodes that exist.
"""

from collections.abc import Callable

from libs.domain.errors import Unavailable
from services.solver.core.packing import settling
from services.solver.core.packing.encode import Encoded, problem
from services.solver.core.packing.packing import Packer
from services.solver.core.topology.foreseen import Foreseen

_MOST_TRIES = 8
"""How often everything is packed anew; each time more is foreseen."""


def foreseeing(encoded: Encoded, packer: Packer, cancelled: Callable[[], bool]) -> Packer:
    """Pack, again and again until nothing new comes up, and return who did.

    Args:
        encoded: the cluster.
        packer: who packs first, with nothing packed yet.
        cancelled: asked now and then.

    Raises:
        Unavailable: `cancelled` said so.
    """
    groups = packer.problem.groups
    foreseen: tuple[Foreseen, ...] = ()
    left = _MOST_TRIES
    while True:
        if not packer.run():
            raise Unavailable("the caller has gone away")
        left -= 1
        found = _surprises(packer) if left else ()
        if not found:
            return packer
        foreseen += found
        packer = Packer(problem(encoded, groups, foreseen), cancelled)


def _surprises(packer: Packer) -> tuple[Foreseen, ...]:
    """Return what was not foreseen, once claims keep clear of what they may avoid."""
    found = packer.surprises()
    keys = sorted({one.key for one in found if one.avoidable})
    if keys and settling.pin(packer.problem, keys):
        packer.look_again()
        return packer.surprises()
    return found
