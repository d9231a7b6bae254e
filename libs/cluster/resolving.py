"""What pods refer to by name: volume claims and resource claims.

Apart from `pods` because the objects referred to come and go on their own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.domain.device import DeviceClaim
from libs.domain.errors import InvalidRequest
from libs.kube.convert.device import device_claim
from libs.kube.convert.volume import PodVolumes, Storage, resolve
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

    def volumes(
        self,
        namespace: str,
        claims: Iterable[tuple[str, str]],
        inline: Iterable[str],
        shared: frozenset[str],
    ) -> PodVolumes:
        """Return what a pod's volumes demand; arguments as of `convert.volume.resolve`.

        Raises:
            InvalidRequest: a claim is missing, or cannot be bound.
        """
        return resolve(namespace, claims, inline, self.storage, shared)

    def devices(
        self,
        namespace: str,
        claims: Iterable[PodResourceClaim],
        statuses: Iterable[ResourceClaimStatus],
    ) -> tuple[DeviceClaim, ...]:
        """Return the devices that a pod claims.

        Args:
            namespace: of the pod.
            claims: as in the pod's spec.
            statuses: which claims were made from its templates.

        Raises:
            InvalidRequest: a claim or template is missing or broken.
        """
        made = {one.name: one.resource_claim_name for one in statuses}
        found = []
        for index, one in enumerate(claims):
            try:
                found.append(self._device(namespace, one, made.get(one.name, "")))
            except InvalidRequest as error:
                raise error.under(f"spec.resourceClaims[{index}]") from None
        return tuple(found)

    def _device(self, namespace: str, claim: PodResourceClaim, made: str) -> DeviceClaim:
        name = claim.resource_claim_name or made
        existing = self.claims.get((namespace, name)) if name else None
        if existing is not None:
            return device_claim(
                existing.spec,
                claim=f"{namespace}/{name}",
                allocation=existing.status.allocation,
            )
        if not claim.resource_claim_template_name:
            raise InvalidRequest(f'resourceclaim "{namespace}/{name}" does not exist')
        template = self.templates.get((namespace, claim.resource_claim_template_name))
        if template is None:
            shown = f"{namespace}/{claim.resource_claim_template_name}"
            raise InvalidRequest(f'resourceclaimtemplate "{shown}" does not exist')
        return device_claim(template.spec.spec)
