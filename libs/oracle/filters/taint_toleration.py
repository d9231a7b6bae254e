"""Plugin TaintToleration: taints keep out pods that do not tolerate them.

Gt and Lt compare integers (KEP-5471; kube-scheduler has them behind a gate, on here). Other than in
node selectors, a number with leading zeroes or a plus sign is none.
"""

import re

from libs.oracle.cluster import Cluster, Node, Taint
from libs.oracle.filters.plugin import PASSES, NodeTest
from libs.oracle.node_selectors import integer
from libs.oracle.objects import KubeObject
from libs.oracle.pods import Pod

HARD_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
"""Effects that keep pods out; PreferNoSchedule only counts in the score."""

_PLAIN = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_REASON = ("node(s) had untolerated taint(s)",)


def prepare(_cluster: Cluster, pod: Pod) -> NodeTest:
    """Refuse nodes with a hard taint that the pod does not tolerate."""

    def test(node: Node) -> tuple[str, ...]:
        return _REASON if node.taints and has_untolerated_taint(pod, node) else PASSES

    return test


def has_untolerated_taint(pod: Pod, node: Node) -> bool:
    """Tell whether a NoSchedule or NoExecute taint of the node keeps the pod out."""
    return any(taint.effect in HARD_EFFECTS and not tolerates(pod, taint) for taint in node.taints)


def tolerates(pod: Pod, taint: Taint) -> bool:
    """Tell whether any toleration of the pod matches the taint."""
    return any(_matches(toleration, taint) for toleration in pod.spec.get("tolerations") or ())


def _matches(toleration: KubeObject, taint: Taint) -> bool:
    effect, key = toleration.get("effect"), toleration.get("key")
    if (effect and effect != taint.effect) or (key and key != taint.key):
        return False
    value = toleration.get("value") or ""
    match toleration.get("operator") or "Equal":
        case "Exists":
            return True
        case "Equal":
            return bool(value == taint.value)
        case operator:
            return _compares(operator, taint.value, value)


def _compares(operator: str, taint_value: str, bound: str) -> bool:
    if not (_PLAIN.fullmatch(taint_value) and _PLAIN.fullmatch(bound)):
        return False
    number, limit = integer(taint_value), integer(bound)
    if number is None or limit is None:
        return False
    return number > limit if operator == "Gt" else operator == "Lt" and number < limit
