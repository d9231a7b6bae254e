"""What the demonstration runs: an online shop, its data, its models, a team with its own nodes.

A table: name, replicas, CPU and memory of a pod, and what is special. `workload.py` says the rest.
"""

from functools import partial

from cli.run.workload import Kind, Workload

_shop = partial(Workload, namespace="shop")
_platform = partial(Workload, namespace="platform")
_data = partial(Workload, namespace="data", kind=Kind.STATEFUL_SET, pool_label=("tier", "data"))
_models = partial(Workload, namespace="models")
_risk = partial(Workload, namespace="risk", pool_label=("team", "risk"))
_each_node = partial(Workload, namespace="kube-system", kind=Kind.DAEMON_SET)

WORKLOADS: tuple[Workload, ...] = (
    # The shop's front: in all zones, protected by budgets.
    _shop("storefront", 48, "250m", "512Mi", zone_spread=True, max_unavailable="25%"),
    _shop("cart", 30, "250m", "256Mi", zone_spread=True, max_unavailable="25%"),
    _shop("checkout", 21, "500m", "512Mi", zone_spread=True, max_unavailable=1),
    _shop("search-api", 24, "1", "2Gi", zone_spread=True),
    _shop("product-pages", 36, "250m", "768Mi", zone_spread=True),
    _shop("payments", 9, "500m", "1Gi", zone_spread=True, max_unavailable=1, on_demand=True),
    # Its back: anywhere; three of them grow with the load.
    _shop("recommendations", 20, "750m", "1536Mi", peak=70),
    _shop("inventory", 16, "250m", "512Mi", peak=56),
    _shop("media-resizer", 12, "1500m", "1Gi", peak=72),
    _shop("pricing", 20, "300m", "384Mi"),
    _shop("reviews", 20, "200m", "512Mi"),
    _shop("accounts", 22, "250m", "512Mi"),
    _shop("wishlists", 14, "100m", "256Mi"),
    _shop("notifications", 18, "150m", "256Mi"),
    _shop("shipping", 14, "300m", "512Mi"),
    _shop("tax", 10, "200m", "256Mi"),
    _shop("vouchers", 10, "100m", "192Mi"),
    _shop("newsletter", 9, "500m", "1Gi"),
    # The platform: one pod to a node, or built for arm64.
    _platform("ingress", 6, "1", "1Gi", one_per_node=True, max_unavailable=1, on_demand=True),
    _platform("page-cache", 5, "1", "6Gi", one_per_node=True),
    _platform("name-server", 4, "200m", "256Mi", one_per_node=True),
    _platform("edge-proxy", 30, "500m", "512Mi", arch="arm64"),
    _platform("log-router", 24, "500m", "1Gi", arch="arm64"),
    _platform("build-runners", 10, "2", "4Gi"),
    _platform("metrics", 12, "500m", "4Gi"),
    _platform("tracing", 12, "400m", "2Gi"),
    # Data: volumes that tie a pod to a zone, nodes that are never spot.
    _data("orders-db", 3, "2", "14Gi", volume="zonal-ssd", one_per_node=True, max_unavailable=1),
    _data("event-log", 6, "1", "7Gi", volume="zonal-ssd", max_unavailable=1),
    _data("search-index", 4, "1", "6Gi", volume="zonal-archive"),
    # Models: from a quarter of a machine's GPUs to half of them.
    _models("product-search-model", 6, "2", "8Gi", peak=10, gpus=1),
    _models("image-tagging", 4, "3", "12Gi", gpus=1),
    _models("demand-training", 2, "16", "64Gi", gpus=4),
    # A team that pays for nodes of its own.
    _risk("risk-scoring", 18, "500m", "1Gi", max_unavailable="25%"),
    _risk("risk-features", 10, "1", "2Gi"),
    # On every node, or on every node with GPUs.
    _each_node("node-metrics", 0, "50m", "64Mi"),
    _each_node("node-logs", 0, "100m", "128Mi"),
    _each_node("node-network", 0, "100m", "96Mi"),
    _each_node("node-storage", 0, "30m", "64Mi"),
    _each_node("gpu-driver", 0, "50m", "128Mi", gpu_nodes_only=True),
    # More memory than any machine has: it waits for ever, and is told why.
    _shop("whole-shop-in-memory", 1, "8", "40Ti", placeable=False),
)

NAMESPACES: tuple[str, ...] = tuple(dict.fromkeys(one.namespace for one in WORKLOADS))
