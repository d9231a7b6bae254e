"""Specs of pods as Kubernetes documents, with every kind of constraint."""

from typing import Any

from hypothesis import strategies as st

from tests.support.strategies.choices import chance, pick, some_of

ZONES = ("zone-a", "zone-b", "zone-c")
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
APPS = ("a", "b", "c")
NAMESPACES = ("n1", "n2")
TAINTS = (("dedicated", "x"), ("team", "y"))
TYPES = ("t0", "t1", "t2", "t3")
TOPOLOGY_KEYS = (HOSTNAME, ZONE, HOSTNAME, ZONE, CAPACITY_TYPE, "disk", "rack")
VALUES = {
    ZONE: ZONES,
    "kubernetes.io/arch": ("amd64", "arm64"),
    CAPACITY_TYPE: ("spot", "on-demand", "reserved"),
    "disk": ("ssd", "hdd"),
    "gen": ("3", "5", "7"),
    "rack": ("1", "2", "3"),
    "node.kubernetes.io/instance-type": TYPES,
    "karpenter.sh/nodepool": ("p0", "p1"),
    HOSTNAME: ("node0", "node1"),
}
_OPERATORS = ("In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")

Document = dict[str, Any]


def expression(draw: st.DrawFn) -> Document:
    """Return a requirement on a node label."""
    key = pick(draw, *VALUES)
    operator = pick(draw, *_OPERATORS)
    if operator in ("Gt", "Lt"):
        return {"key": "gen", "operator": operator, "values": [pick(draw, "2", "4", "6")]}
    if operator == "DoesNotExist":
        return {"key": pick(draw, "disk", "gen"), "operator": operator}
    if operator == "Exists":
        return {"key": key, "operator": operator}
    values = some_of(draw, VALUES[key], max(1, len(VALUES[key]) - 1))
    return {"key": key, "operator": operator, "values": values}


def node_terms(draw: st.DrawFn) -> list[Document]:
    """Return alternatives of what a node must be."""
    return [
        {"matchExpressions": [expression(draw) for _ in range(pick(draw, 1, 2))]}
        for _ in range(pick(draw, 1, 1, 2))
    ]


def labels(draw: st.DrawFn) -> dict[str, str]:
    """Return labels of a pod."""
    return {"app": pick(draw, *APPS), "hash": pick(draw, "1", "2")}


@st.composite
def pod_specs(draw: st.DrawFn) -> Document:
    """Return the spec of a pod that waits."""
    containers = [_container(draw, number) for number in range(pick(draw, 1, 1, 1, 2))]
    spec: Document = {"containers": containers}
    if chance(draw, 10):
        spec["initContainers"] = [_init_container(draw)]
    if chance(draw, 5):
        spec["overhead"] = {"cpu": "250m"}
    if chance(draw, 10):
        spec["priority"] = pick(draw, 1000, -10)
    if chance(draw, 20):
        key = pick(draw, ZONE, "kubernetes.io/arch", "disk", CAPACITY_TYPE)
        spec["nodeSelector"] = {key: pick(draw, *VALUES[key])}
    if chance(draw, 30):
        spec["tolerations"] = [_toleration(draw)]
    if affinity := _affinity(draw):
        spec["affinity"] = affinity
    if chance(draw, 25):
        spec["topologySpreadConstraints"] = _spread(draw)
    return spec


@st.composite
def running_specs(draw: st.DrawFn) -> Document:
    """Return the spec of a pod that runs: small, but others have to heed it."""
    spec = draw(pod_specs())
    spec.pop("nodeSelector", None)
    spec.pop("initContainers", None)
    for container in spec["containers"]:
        container["resources"] = {"requests": {"cpu": "50m"}}
    return spec


def _container(draw: st.DrawFn, number: int) -> Document:
    requests = {
        "cpu": pick(draw, "100m", "0", "250m", "500m", "1", "1500m", "3"),
        "memory": pick(draw, "64Mi", "0", "256Mi", "1Gi", "3Gi"),
    }
    limits = {}
    if chance(draw, 6):
        limits["nvidia.com/gpu"] = "1"
    if chance(draw, 5):
        requests["ephemeral-storage"] = "1Gi"
    found: Document = {"name": f"c{number}", "resources": {"requests": requests, "limits": limits}}
    if chance(draw, 8):
        found["ports"] = [_port(draw)]
    return found


def _port(draw: st.DrawFn) -> Document:
    port: Document = {"containerPort": 80, "hostPort": pick(draw, 8080, 8081)}
    if chance(draw, 30):
        port["hostIP"] = pick(draw, "1.2.3.4", "0.0.0.0")
    if chance(draw, 30):
        port["protocol"] = "UDP"
    return port


def _init_container(draw: st.DrawFn) -> Document:
    found: Document = {
        "name": "init",
        "resources": {"requests": {"cpu": pick(draw, "100m", "2", "5")}},
    }
    if chance(draw, 50):
        found["restartPolicy"] = "Always"
    return found


def _toleration(draw: st.DrawFn) -> Document:
    key, value = pick(draw, *TAINTS)
    return pick(
        draw,
        {"key": key, "operator": "Exists"},
        {"key": key, "value": value, "effect": "NoSchedule"},
        {"operator": "Exists"},
    )


def _affinity(draw: st.DrawFn) -> Document:
    found: Document = {}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    if chance(draw, 20):
        found["nodeAffinity"] = {required: {"nodeSelectorTerms": node_terms(draw)}}
    if chance(draw, 15):
        wish = {
            "weight": pick(draw, 1, 50, 100),
            "preference": {"matchExpressions": [expression(draw)]},
        }
        found.setdefault("nodeAffinity", {})[preferred] = [wish]
    for kind, likely in (("podAffinity", 12), ("podAntiAffinity", 20)):
        if chance(draw, likely):
            terms = [_pod_term(draw) for _ in range(pick(draw, 1, 1, 2))]
            found.setdefault(kind, {})[required] = terms
        if chance(draw, 6):
            wish = {"weight": pick(draw, 1, 50, 100), "podAffinityTerm": _pod_term(draw)}
            found.setdefault(kind, {})[preferred] = [wish]
    return found


def _pod_term(draw: st.DrawFn) -> Document:
    term: Document = {"topologyKey": pick(draw, *TOPOLOGY_KEYS)}
    _select(draw, term)
    who = pick(draw, "own", "own", "own", "own", "named", "selected")
    if who == "named":
        term["namespaces"] = list(NAMESPACES)
    elif who == "selected":
        term["namespaceSelector"] = pick(draw, {}, {"matchLabels": {"team": "y"}})
    if "labelSelector" in term and chance(draw, 15):
        term[pick(draw, "matchLabelKeys", "mismatchLabelKeys")] = ["hash"]
    return term


def _select(draw: st.DrawFn, holder: Document) -> None:
    kind = pick(draw, "app", "app", "app", "app", "set", "exists", "all", "none")
    if kind == "app":
        holder["labelSelector"] = {"matchLabels": {"app": pick(draw, *APPS)}}
    elif kind == "set":
        values = some_of(draw, APPS)
        one: Document = {"key": "app", "operator": pick(draw, "In", "NotIn"), "values": values}
        holder["labelSelector"] = {"matchExpressions": [one]}
    elif kind == "exists":
        one = {"key": "app", "operator": pick(draw, "Exists", "DoesNotExist")}
        holder["labelSelector"] = {"matchExpressions": [one]}
    elif kind == "all":
        holder["labelSelector"] = {}


def _spread(draw: st.DrawFn) -> list[Document]:
    """Return constraints, no two of them with one key and one consequence."""
    found = {}
    for _ in range(pick(draw, 1, 1, 2)):
        one = _spread_constraint(draw)
        found[one["topologyKey"], one["whenUnsatisfiable"]] = one
    return list(found.values())


def _spread_constraint(draw: st.DrawFn) -> Document:
    found: Document = {
        "maxSkew": pick(draw, 1, 1, 2),
        "topologyKey": pick(draw, *TOPOLOGY_KEYS),
        "whenUnsatisfiable": pick(draw, "DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"),
    }
    _select(draw, found)
    if found["whenUnsatisfiable"] == "DoNotSchedule" and chance(draw, 15):
        found["minDomains"] = pick(draw, 1, 2, 3, 4)
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if chance(draw, 15):
            found[policy] = pick(draw, "Honor", "Ignore")
    if "labelSelector" in found and chance(draw, 10):
        found["matchLabelKeys"] = ["hash"]
    return found
