"""Grants: what pods get of things that others may take before them, devices and volumes.

Apart because packing only has to know whether a pod gets them at a place; both are found for one
pod at a time, and taken when it has its place.
"""

from libs.domain.pod import PodShape
from services.solver.core.devices.allocating import Devices, Grant, PlannedGrant
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.standing.free_volumes import Binding, FreeVolumes
from services.solver.core.vectors import Ints


def needs_grant(shape: PodShape) -> bool:
    """Tell whether pods of a shape get something that others may take before them."""
    return bool(shape.device_claims or shape.unbound_claims)


class Grants:
    """The devices and volumes of one plan."""

    def __init__(self, devices: Devices | None, volumes: FreeVolumes) -> None:
        """Make them.

        Args:
            devices: None where claims of devices are not planned for.
            volumes: those that are there.
        """
        self.devices = devices
        self.volumes = volumes
        self._planned: tuple[Binding | None, PlannedGrant | None] = (None, None)

    def ignores(self, shape: PodShape) -> bool:
        """Tell whether nobody counts the devices that pods of a shape claim: they wait."""
        return bool(shape.device_claims) and self.devices is None

    def has_on_standing(self, shape: PodShape, position: int) -> bool:
        """Tell whether the next pod of a shape would get all on a standing bin."""
        return self._on_standing(shape, position) is not None

    def give_on_standing(self, shape: PodShape, position: int) -> bool:
        """Give the next pod of a shape all on a standing bin; False if that cannot be."""
        found = self._on_standing(shape, position)
        if found is None:
            return False
        binding, grant = found
        self.volumes.take(binding)
        if grant is not None and self.devices is not None:
            self.devices.take_standing(shape, position, grant)
        return True

    def find_on_planned(
        self, shape: PodShape, claim: int | None, known: ClaimClass, total: Ints
    ) -> ClaimClass | None:
        """Find all for the next pod on a planned claim, and return what the claim becomes.

        Args:
            shape: of the pod.
            claim: number of the claim; None for one that is yet to be opened.
            known: what the claim becomes with the pod, these things apart.
            total: (n_resources,): what all its pods then request.

        Returns:
            None if that cannot be.
        """
        self._planned = (None, None)
        binding = None
        if shape.unbound_claims:
            binding = self.volumes.on_planned(shape, known, total)
            if binding is None or binding.known is None:
                return None
            known = binding.known
        grant = None
        if shape.device_claims:
            if self.devices is None:
                return None
            found = self.devices.on_planned(shape, claim, known, total)
            if not isinstance(found, PlannedGrant):
                return None
            grant, known = found, found.known
        self._planned = (binding, grant)
        return known

    def hand_over(self, shape: PodShape, claim: int) -> None:
        """Give a pod on a planned claim what was found last."""
        binding, grant = self._planned
        if binding is not None:
            self.volumes.take(binding)
        if grant is not None and self.devices is not None:
            self.devices.take_planned(shape, claim, grant)

    def became(self, claim: int, known: ClaimClass, total: Ints) -> None:
        """Give back the devices of types that a planned claim cannot become any more."""
        if self.devices is not None:
            self.devices.give_back(claim, known, total)

    def _on_standing(self, shape: PodShape, position: int) -> tuple[Binding, Grant | None] | None:
        binding = self.volumes.on_standing(shape, position)
        if binding is None:
            return None
        if not shape.device_claims:
            return binding, None
        grant = None if self.devices is None else self.devices.on_standing(shape, position)
        return (binding, grant) if isinstance(grant, Grant) else None
