"""Mirrors `model/v1/resources.proto`."""

from joiner.model.v1 import resources_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.quantity import MOST, beyond
from libs.domain.resources import NOTHING, Resources
from libs.wire.field import by_content, encoded_once


@by_content
def decode_resources(message: pb.Resources) -> Resources:
    """Return the amounts; a negative one is refused under the resource's name."""
    amounts = decode_difference(message)
    for name, amount in amounts.items():
        if amount < 0:
            raise InvalidRequest(f"{amount} is negative", field=name)
    return amounts


@by_content
def decode_requests(message: pb.Resources) -> Resources:
    """Return what is asked for; more than is counted is refused under the resource's name."""
    amounts = decode_resources(message)
    for name, amount in amounts.items():
        if amount > MOST:
            raise beyond(amount).under(name)
    return amounts


def decode_difference(message: pb.Resources) -> Resources:
    """Return amounts that may be negative."""
    if not message.amounts:
        return NOTHING
    amounts: dict[str, int] = {}
    for index, item in enumerate(message.amounts):
        if not item.name:
            raise InvalidRequest("is required", field=f"amounts[{index}].name")
        if item.name in amounts:
            raise InvalidRequest("is there twice", field=item.name)
        amounts[item.name] = item.amount
    return Resources(amounts)


@encoded_once
def encode_resources(resources: Resources) -> pb.Resources:
    """Return the message, sorted by name."""
    return pb.Resources(
        amounts=[pb.ResourceAmount(name=name, amount=n) for name, n in resources.items()]
    )
