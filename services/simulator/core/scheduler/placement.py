"""Putting pods on nodes: at once, or when volumes, devices and the rest of a gang are there.

Apart from the scheduler, which decides where. Laws: a pod whose node is decided keeps its room
whatever comes between; what the API refuses takes back all that was promised.

Source: kube-scheduler's binding cycle (1.36).
"""

from datetime import datetime, timedelta

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.errors import ApiError
from services.simulator.core.objects import Object, split_key
from services.simulator.core.part import Refusal
from services.simulator.core.scheduler import devices, recorder, volumes
from services.simulator.core.scheduler.gangs import Gangs
from services.simulator.core.scheduler.recorder import Recorder
from services.simulator.core.scheduler.view import View
from services.simulator.core.timetable import Timetable

_WITHIN = timedelta(minutes=10)


class Placements:
    """The pods whose node is decided and whose binding is not written."""

    def __init__(self, api: DirectApi, view: View, gangs: Gangs, events: Recorder) -> None:
        self._api = api
        self._view = view
        self._gangs = gangs
        self._recorder = events
        self._deadlines: Timetable[str] = Timetable()
        """Until when volumes and devices of an assumed pod have to be there."""

    def next(self) -> datetime | None:
        """Return when the next pod has waited for too long."""
        return self._deadlines.next()

    def place(self, key: str, pod: Object, node: str, now: datetime) -> None:
        """Give a pod its node; raises what the API refuses, with nothing left of it."""
        cluster = self._view.cluster
        claims = volumes.unbound_claims(cluster, pod)
        self._view.assume(key, node)
        try:
            for claim in devices.reserve(self._api, cluster, pod, node, now):
                self._view.put("ResourceClaim", claim)
            if self._is_ready(pod):
                self._bind(key, node, now)
                return
            self._nominate(key, node)
            gang = self._gangs.of(pod)
            self._deadlines.put(key, now + (gang.waits if gang else _WITHIN))
            for kind, changed in volumes.choose(self._api, cluster, claims, node):
                self._view.put(kind, changed)
        except ApiError:
            self.release(key)
            raise

    def finish(self, now: datetime) -> list[Refusal]:
        """Bind the assumed pods for which all is there; return what the API refuses."""
        refusals = []
        for key, node in list(self._view.assumed.items()):
            pod = self._view.pods.get(key)
            if pod is None or key not in self._view.cluster.pods:
                continue
            if not self._is_ready(pod):
                continue
            try:
                self._bind(key, node, now)
            except ApiError as error:
                self.release(key)
                refusals.append(Refusal(key, error))
        return refusals

    def expired(self, now: datetime) -> list[str]:
        """Take back the nodes of pods that wait in vain, or whose node is gone; return them."""
        nodes, assumed = self._view.cluster.nodes, self._view.assumed
        lost = [key for key, node in assumed.items() if node not in nodes]
        expired = [*self._deadlines.take(now), *lost]
        for key in expired:
            self.release(key)
        return expired

    def forget(self, key: str) -> None:
        """Forget a pod that is gone or was placed by others."""
        self._deadlines.drop(key)

    def release(self, key: str) -> None:
        """Take a pod's node and devices back."""
        self._deadlines.drop(key)
        self._view.release(key)
        pod = self._view.pods.get(key)
        if pod is not None and pod["spec"].get("resourceClaims"):
            for claim in devices.unreserve(self._api, self._view.cluster, pod):
                self._view.put("ResourceClaim", claim)

    def _is_ready(self, pod: Object) -> bool:
        cluster = self._view.cluster
        if volumes.unbound_claims(cluster, pod) or not devices.are_ready(cluster, pod):
            return False
        return not self._gangs.waits(pod)

    def _bind(self, key: str, node: str, now: datetime) -> None:
        namespace, name = split_key(key)
        self._api.bind(name, namespace, node)
        self._deadlines.drop(key)
        self._view.assumed.pop(key, None)
        self._recorder.record(self._view.pods[key], recorder.success(key, node), now)

    def _nominate(self, key: str, node: str) -> None:
        """Tell everybody where the pod goes once it can."""
        namespace, name = split_key(key)
        change = {"status": {"nominatedNodeName": node}}
        self._api.patch("pods", name, change, namespace, subresource="status")
