"""Roles and their bindings."""

from libs.apiserver import names
from libs.apiserver.rules import rbac
from services.simulator.core.api.strategies.strategy import BOTH, Object, Strategy


def default_binding(obj: Object) -> None:
    """Fill in the API group of the role and the subjects."""
    if not obj["roleRef"].get("apiGroup"):
        obj["roleRef"]["apiGroup"] = rbac.GROUP
    for subject in obj.get("subjects", ()):
        if subject.get("kind") in ("User", "Group"):
            subject.setdefault("apiGroup", rbac.GROUP)


def default_role(obj: Object) -> None:
    """Spell no rules in the one way there is."""
    obj["rules"] = obj.get("rules") or None


ROLE = Strategy(
    metadata=BOTH,
    default=default_role,
    check_name=names.path_segment,
    validate=rbac.validate_role,
)
CLUSTER_ROLE = Strategy(
    metadata=BOTH,
    default=default_role,
    check_name=names.path_segment,
    validate=rbac.validate_cluster_role,
)
BINDING = Strategy(
    metadata=BOTH,
    default=default_binding,
    check_name=names.path_segment,
    validate=rbac.validate_binding,
    validate_update=rbac.fixed_role,
)
CLUSTER_BINDING = Strategy(
    metadata=BOTH,
    default=default_binding,
    check_name=names.path_segment,
    validate=rbac.validate_cluster_binding,
    validate_update=rbac.fixed_role,
)
