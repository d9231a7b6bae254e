"""Messages of values that are otherwise only written in place, as parts of others."""

from joiner.model.v1 import plan_pb2 as pb

from libs.domain.plan import Plan
from libs.wire.plan import write_plan


def encode_plan(plan: Plan) -> pb.Plan:
    """Return a plan as a message by itself."""
    message = pb.Plan()
    write_plan(message, plan)
    return message
