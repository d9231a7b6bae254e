"""What a scenario script may say: closed structs, one field for each thing that can be done.

Apart from the player because people write it: names are theirs, spans of time are texts such as
`90s`, and what a field means is said here once. `docs/scenarios.md` is the same for users.
"""

from datetime import timedelta
from typing import Any

import msgspec


class Span(timedelta):
    """A span written `90s`, `5m`, `1h30m`, `0`; a type of its own so that msgspec asks for it."""


class Closed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Root of all structs, which is how msgspec shares configuration."""


class Objects(Closed, frozen=True):
    """Objects of one kind, by name or by labels; with neither all of the namespace."""

    kind: str
    """`Deployment`, or `deployments.apps` where kinds share a name."""
    name: str = ""
    namespace: str = "default"
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class Point(Closed, frozen=True):
    """A point of a load curve."""

    after: Span
    """Since the step began."""
    replicas: int


class Scale(Closed, frozen=True):
    """How many pods a workload has, from now on or over time."""

    name: str
    namespace: str = "default"
    kind: str = "Deployment"
    replicas: int | None = None
    over: Span | None = None
    """With `replicas`: evenly, from what is there when the step begins."""
    curve: tuple[Point, ...] = ()
    """Instead of `replicas`: straight lines between points."""


class Nodes(Closed, frozen=True):
    """Which nodes something befalls; with nothing said, all."""

    names: tuple[str, ...] = ()
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    zone: str = ""
    """Of the label `topology.kubernetes.io/zone`."""
    count: int | None = None
    """Only so many of them, drawn by the script's seed."""
    share: float | None = None
    """Only that share of them, 0 to 1, rounded up, drawn by the script's seed."""


class Reclaim(Closed, frozen=True):
    """The cloud takes instances back: a notice, then the machine is gone and so is its Node."""

    nodes: Nodes = Nodes()
    capacity_type: str = "spot"
    """Of the label `karpenter.sh/capacity-type`; empty: any."""
    notice: Span = Span(minutes=2)
    """From the notice (an event on the Node) to the machine's end."""


class Boot(Closed, frozen=True):
    """How nodes that appear while the step lasts boot: late, or never."""

    nodes: Nodes = Nodes()
    takes: Span | None = None
    never: bool = False


class Kubelets(Closed, frozen=True):
    """Kubelets that say and do nothing while the step lasts; then they come back."""

    nodes: Nodes = Nodes()


class Usage(Closed, frozen=True):
    """What pods use while the step lasts, whatever their annotations say."""

    namespace: str = "default"
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    """Of the pods; with nothing said, all of the namespace."""
    cpu: str = ""
    """A usage trace, as `200m + noise(50m)`; empty: as before."""
    memory: str = ""


class Requests(Closed, frozen=True):
    """Which requests something befalls; with nothing said, all."""

    resources: tuple[str, ...] = ()
    """`pods`, `nodeclaims.karpenter.sh`."""
    verbs: tuple[str, ...] = ()
    """`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`."""
    clients: tuple[str, ...] = ()
    """Beginnings of user agents."""
    share: float = 1.0
    """Of such requests, 0 to 1, drawn by the script's seed."""


class Throttle(Closed, frozen=True):
    """Requests are answered 429, with the header Retry-After."""

    requests: Requests = Requests()
    retry_after: Span = Span(seconds=1)


class Errors(Closed, frozen=True):
    """Requests are answered with an error."""

    code: int
    requests: Requests = Requests()


class CutWatches(Closed, frozen=True):
    """Watches that are open end at once; clients may open new ones."""

    resources: tuple[str, ...] = ()
    """Empty: all."""
    forget: bool = False
    """Whether history is dropped, too, so that watches from the past are told 410."""


class Step(Closed, frozen=True):
    """One thing that is done, once or again and again."""

    at: Span
    """Since the beginning."""
    every: Span | None = None
    """Again so often, up to `until` or the script's end."""
    until: Span | None = None
    """Since the beginning: the end of what lasts, or with `every` of the repetitions."""
    lasts: Span | None = None
    """Instead of `until`, and with `every`: how long what lasts does so each time."""
    note: str = ""
    """What people are told when it happens."""
    apply: str | tuple[str | dict[str, Any], ...] | None = None
    """Objects, or names of files with objects, relative to the script."""
    delete: Objects | None = None
    scale: Scale | None = None
    reclaim: Reclaim | None = None
    boot: Boot | None = None
    kubelets: Kubelets | None = None
    usage: Usage | None = None
    pause: bool | None = None
    """The API server answers nothing while the step lasts: requests and watches hang."""
    throttle: Throttle | None = None
    errors: Errors | None = None
    cut_watches: CutWatches | None = None


class Script(Closed, frozen=True):
    """A whole script."""

    steps: tuple[Step, ...]
    name: str = ""
    seed: int = 0
    until: Span | None = None
    """When a run ends by itself; unset: five minutes after the last thing that is done."""
