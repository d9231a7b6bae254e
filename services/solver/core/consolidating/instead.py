"""The node that is bought instead: as a claim to create, and as a bin of what remains.

Apart because later commands only look at it: its pods count for theirs, and its room, of which
nobody knows how much there will be, is promised to none of them.
"""

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.device import REQUESTED_DRIVERS
from libs.domain.plan import PlannedNodeClaim
from libs.domain.reason import TargetKind
from services.solver.core.answer.launch import planned, purchase
from services.solver.core.consolidating.charging import charge
from services.solver.core.consolidating.remains import Remains, with_bin
from services.solver.core.consolidating.replacing import Replacement
from services.solver.core.domains import is_single, members
from services.solver.core.packing.packing import Packer
from services.solver.core.packing.problem import Problem
from services.solver.core.standing.standing import Standing, StandingClass


def claim_of(packer: Packer, bought: Replacement, uids: tuple[str, ...]) -> PlannedNodeClaim:
    """Return the claim to create for these pods, sorted."""
    claim = planned(0, purchase(bought.known, bought.used, bought.launch), uids)
    drivers = packer.drivers(0)
    if not drivers:
        return claim
    noted = (REQUESTED_DRIVERS, ",".join(drivers))
    return replace(claim, annotations=tuple(sorted((*claim.annotations, noted))))


def with_replacement(
    remains: Remains, name: str, bought: Replacement, claim: PlannedNodeClaim, made: Problem
) -> Remains:
    """Return the remains with a bought node of some name, which takes no more pods."""
    known = bought.known
    template = known.template
    coming = [one.ask.shape.id for one in template.daemons if one.offerings[known.offerings].any()]
    bin_ = Standing(
        names=(name,),
        kinds=(TargetKind.NODECLAIM,),
        free=np.zeros((1, len(template.dimensions.names)), np.int64),
        class_of=np.zeros(1, np.int64),
        classes=(
            StandingClass(
                labels=_labels(remains, name, bought, made),
                taints=template.pool.template.taints,
                cordoned=False,
            ),
        ),
        taken=(tuple(sorted(known.taken, key=repr)),),
        hostnames=np.ones(1, np.bool_),
        attachable={},
        codes=np.array(remains.encoded.work.bound.codes.of((name,)), np.int64),
        shared_volumes={},
        daemons=(tuple(coming),),
    )
    found = with_bin(remains, bin_)
    snapshot = found.encoded.snapshot
    charged = replace(
        charge(name, known, bought.used, remains),
        labels=claim.labels,
        requirements=claim.requirements,
        requests=claim.requests,
    )
    claims = MappingProxyType({**snapshot.nodeclaims, name: charged})
    return replace(
        found, encoded=replace(found.encoded, snapshot=replace(snapshot, nodeclaims=claims))
    )


def _labels(remains: Remains, name: str, bought: Replacement, made: Problem) -> dict[str, str]:
    """Return the labels that the node has whatever it becomes."""
    ground, known = made.topology.ground, bought.known
    asked = {key for one in remains.encoded.standing.classes for key in one.labels}
    keys = asked.union(known.requirements.keys())
    found = {label_keys.HOSTNAME: name} if label_keys.HOSTNAME in asked else {}
    for key in sorted(keys - {label_keys.HOSTNAME}):
        bits = made.classes.domains(known, key)
        number = members(bits)[0] if is_single(bits) else 0
        if number:
            found[key] = ground.domains.value(key, number)
    return found
