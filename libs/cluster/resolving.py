"""What pods refer to by name: volume claims and resource claims.

Apart from `pods` because the objects referred to come and go on their own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.domain.device import DeviceClaim
from libs.domain.errors import InvalidRequest
from libs.domain.pod import PodRow
from libs.kube.convert.absent import RefusedObjects, absent
from libs.kube.convert.device import device_claim
from libs.kube.convert.inline_disk import InlineDisk
from libs.kube.convert.storage import PodClaim, Storage
from libs.kube.convert.volume import Resolved, resolve
from libs.kube.objects.device import ResourceClaim, ResourceClaimTemplate
from libs.kube.objects.pod import PodResourceClaim, ResourceClaimStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """The objects that pods refer to, by namespace and name."""

    storage: Storage
    claims: Mapping[tuple[str, str], ResourceClaim]
    templates: Mapping[tuple[str, str], ResourceClaimTemplate]
    version: int
    """Changes whenever one of these objects does."""
    refused: RefusedObjects
    """What is there and does not count."""

    def volumes(
        self,
        namespace: str,
        claims: Iterable[PodClaim],
        inline: Iterable[InlineDisk],
        shared: frozenset[str],
    ) -> Resolved:
        """Return what a pod's volumes demand; arguments as of `convert.volume.resolve`."""
        return resolve(namespace, claims, inline, self.storage, shared)

    def devices(
        self,
        pod: PodRow,
        claims: Iterable[PodResourceClaim],
        statuses: Iterable[ResourceClaimStatus],
    ) -> tuple[DeviceClaim, ...]:
        """Return the devices that a pod claims.

        Args:
            pod: the pod.
            claims: as in the pod's spec.
            statuses: which claims were made from its templates.

        Raises:
            InvalidRequest: a claim or template is missing, broken or going.
        """
        made = {one.name: one.resource_claim_name for one in statuses}
        found = []
        for index, one in enumerate(claims):
            try:
                claim = self._device(pod, one, made)
            except InvalidRequest as error:
                raise error.under(f"spec.resourceClaims[{index}]") from None
            if claim is not None:
                found.append(claim)
        return tuple(found)

    def of_template(
        self, namespace: str, claims: Iterable[PodResourceClaim]
    ) -> tuple[DeviceClaim, ...]:
        """Return the devices that each pod of a template claims.

        What does not exist yet, or is broken, counts as a claim that asks for nothing.
        """
        return tuple(self._of_template(namespace, one) for one in claims)

    def _of_template(self, namespace: str, claim: PodResourceClaim) -> DeviceClaim:
        try:
            if claim.resource_claim_name:
                return self._named(namespace, claim.resource_claim_name)
            return self._template(namespace, claim.resource_claim_template_name)
        except InvalidRequest:
            return DeviceClaim()

    def _device(
        self, pod: PodRow, claim: PodResourceClaim, made: Mapping[str, str]
    ) -> DeviceClaim | None:
        """Return the claim; None where Kubernetes decided that none is needed."""
        if claim.resource_claim_name:
            return self._named(pod.namespace, claim.resource_claim_name)
        if claim.name not in made:
            return self._template(pod.namespace, claim.resource_claim_template_name)
        name = made[claim.name]
        if not name:
            return None
        own = self.claims.get((pod.namespace, name))
        if own is None and ("ResourceClaim", pod.namespace, name) in self.refused:
            return self._named(pod.namespace, name)
        if own is None:
            return self._template(pod.namespace, claim.resource_claim_template_name)
        controller = own.metadata.controller
        if controller is None or controller.uid != pod.uid:
            raise InvalidRequest(f'resourceclaim "{pod.namespace}/{name}" was not made for the pod')
        if own.metadata.deletion_timestamp is not None and not pod.node:
            raise InvalidRequest(f'resourceclaim "{pod.namespace}/{name}" is being deleted')
        if pod.node or own.status.allocation is None:
            # A pod that has to move gets a new claim; what the old one holds is freed with it.
            return device_claim(own.spec)
        return self._named(pod.namespace, name)

    def _named(self, namespace: str, name: str) -> DeviceClaim:
        found = self.claims.get((namespace, name))
        shown = f'resourceclaim "{namespace}/{name}"'
        if found is None:
            raise InvalidRequest(
                f"{shown} {absent(self.refused, 'ResourceClaim', namespace, name)}"
            )
        if found.metadata.deletion_timestamp is not None:
            raise InvalidRequest(f"{shown} is being deleted")
        return device_claim(found.spec, claim=f"{namespace}/{name}", status=found.status)

    def _template(self, namespace: str, name: str) -> DeviceClaim:
        found = self.templates.get((namespace, name))
        if found is None:
            why = absent(self.refused, "ResourceClaimTemplate", namespace, name)
            raise InvalidRequest(f'resourceclaimtemplate "{namespace}/{name}" {why}')
        return device_claim(found.spec.spec)
