"""Mirrors `Objective` in `solver/v1/solver.proto`: what a plan is chosen by besides its price."""

from joiner.solver.v1 import solver_pb2 as pb

from libs.domain.objective import (
    PRICE_ALONE,
    BlastRadius,
    Licence,
    Objective,
    SpotDiversity,
)
from libs.wire.field import at, each, optional
from libs.wire.requirement import decode_requirements, encode_requirements


def decode_objective(message: pb.Objective) -> Objective:
    """Return the terms; what is not set is off."""
    return Objective(
        interruption_nanos_per_hour=message.interruption_nanos_per_hour,
        node_nanos_per_hour=message.node_nanos_per_hour,
        licences=each("licences", message.licences, _decode_licence),
        blast_radius=optional(message, "blast_radius", _decode_blast_radius),
        spot_diversity=optional(message, "spot_diversity", _decode_spot_diversity),
    )


def encode_objective(objective: Objective) -> pb.Objective | None:
    """Return the message, None where all terms are off."""
    if objective == PRICE_ALONE:
        return None
    return pb.Objective(
        interruption_nanos_per_hour=objective.interruption_nanos_per_hour,
        node_nanos_per_hour=objective.node_nanos_per_hour,
        licences=map(_encode_licence, objective.licences),
        blast_radius=_encode_blast_radius(objective.blast_radius),
        spot_diversity=_encode_spot_diversity(objective.spot_diversity),
    )


def _decode_licence(message: pb.Licence) -> Licence:
    return Licence(
        nodes=at("nodes", message.nodes, decode_requirements),
        nanos_per_hour=message.nanos_per_hour,
    )


def _encode_licence(licence: Licence) -> pb.Licence:
    return pb.Licence(
        nodes=encode_requirements(licence.nodes), nanos_per_hour=licence.nanos_per_hour
    )


def _decode_blast_radius(message: pb.BlastRadius) -> BlastRadius:
    return BlastRadius(share_ppm=message.share_ppm, pod_nanos_per_hour=message.pod_nanos_per_hour)


def _encode_blast_radius(radius: BlastRadius | None) -> pb.BlastRadius | None:
    if radius is None:
        return None
    return pb.BlastRadius(share_ppm=radius.share_ppm, pod_nanos_per_hour=radius.pod_nanos_per_hour)


def _decode_spot_diversity(message: pb.SpotDiversity) -> SpotDiversity:
    return SpotDiversity(share_ppm=message.share_ppm, instance_types=message.instance_types)


def _encode_spot_diversity(diversity: SpotDiversity | None) -> pb.SpotDiversity | None:
    if diversity is None:
        return None
    return pb.SpotDiversity(share_ppm=diversity.share_ppm, instance_types=diversity.instance_types)
