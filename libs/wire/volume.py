"""Mirrors the volumes of `model/v1/pod.proto` that are there, and who may take them."""

from joiner.model.v1 import pod_pb2 as pb

from libs.domain.volume import UnboundClaim, VolumeKind, VolumePlace
from libs.wire.field import each, require, within
from libs.wire.requirement import decode_requirements, encode_requirements


def decode_volume_kind(message: pb.VolumeKind) -> VolumeKind:
    """Return the kind."""
    require(message, "key")
    return VolumeKind(key=message.key, places=each("places", message.places, _decode_place))


def encode_volume_kind(kind: VolumeKind) -> pb.VolumeKind:
    """Return the message."""
    return pb.VolumeKind(key=kind.key, places=map(_encode_place, kind.places))


def decode_unbound_claim(message: pb.UnboundClaim) -> UnboundClaim:
    """Return the claim."""
    return UnboundClaim(
        claim=message.claim,
        kinds=tuple(message.kinds),
        made=each("made", message.made, decode_requirements),
        made_at_start=each("made_at_start", message.made_at_start, decode_requirements),
    )


def encode_unbound_claim(claim: UnboundClaim) -> pb.UnboundClaim:
    """Return the message."""
    return pb.UnboundClaim(
        claim=claim.claim,
        kinds=claim.kinds,
        made=map(encode_requirements, claim.made),
        made_at_start=map(encode_requirements, claim.made_at_start),
    )


def _decode_place(message: pb.VolumePlace) -> VolumePlace:
    require(message, "terms")
    return VolumePlace(
        rank=message.rank,
        count=within("count", message.count, 1),
        terms=each("terms", message.terms, decode_requirements),
    )


def _encode_place(place: VolumePlace) -> pb.VolumePlace:
    return pb.VolumePlace(
        count=place.count, terms=map(encode_requirements, place.terms), rank=place.rank
    )
