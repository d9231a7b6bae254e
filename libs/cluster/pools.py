"""NodePools, ready or with the reasons why not.

Apart because readiness depends on the pool's class and on what its provider keeps to itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from libs.cluster.memo import Memo
from libs.cluster.problems import Problems
from libs.domain.capacity import Catalogue, NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.domain.labels import WELL_KNOWN
from libs.domain.nodepool import NodePool
from libs.domain.validation import KeyRules
from libs.kube.convert.absent import RefusedObjects, absent
from libs.kube.convert.nodeclaim import node_class_ref
from libs.kube.convert.nodepool import class_problems, nodepool, nodepool_class
from libs.kube.objects import karpenter as objects


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolInputs:
    """What pools are made from; classes and catalogues by `group/kind/name`."""

    pools: Mapping[tuple[str, str], objects.NodePool]
    classes: Mapping[str, objects.NodeClass]
    catalogues: Mapping[str, Catalogue]
    restricted_domains: Mapping[str, frozenset[str]]
    """Label domains that a provider keeps to itself, by group of its classes."""


def pools(inputs: PoolInputs, memo: Memo[NodePool], problems: Problems) -> list[NodePool]:
    """Return the pools; one without a legible template is reported and left out."""
    found = []
    for (_, name), pool in inputs.pools.items():
        reference = node_class_ref(nodepool_class(pool))
        arguments = (
            pool,
            reference.key,
            inputs.classes.get(reference.key),
            inputs.catalogues.get(reference.key),
            inputs.restricted_domains.get(reference.group),
            problems.refused.get((reference.kind, "", reference.name)),
        )
        try:
            convert = partial(_pool, pool, reference, inputs, problems.refused)
            found.append(memo.get(name, arguments, convert))
        except InvalidRequest as error:
            problems.add("NodePool", "", name, error)
    memo.retain({name for _, name in inputs.pools})
    return found


def _pool(
    pool: objects.NodePool, reference: NodeClassRef, inputs: PoolInputs, refused: RefusedObjects
) -> NodePool:
    catalogue = inputs.catalogues.get(reference.key)
    known = frozenset(catalogue.well_known_keys) if catalogue is not None else frozenset()
    rules = KeyRules(
        well_known=WELL_KNOWN | known,
        restricted_domains=inputs.restricted_domains.get(reference.group, frozenset()),
    )
    return nodepool(pool, rules, _class_problems(reference, inputs, refused))


def _class_problems(
    reference: NodeClassRef, inputs: PoolInputs, refused: RefusedObjects
) -> tuple[str, ...]:
    """Return what is wrong with the class; one that only its catalogue proves is fine (files)."""
    node_class = inputs.classes.get(reference.key)
    if node_class is not None:
        return class_problems(node_class)
    if reference.key in inputs.catalogues:
        return ()
    why = absent(refused, reference.kind, "", reference.name)
    return (f'{reference.kind} "{reference.name}" ({reference.group}) {why}',)
