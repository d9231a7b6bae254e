"""Messages of values that are otherwise only written in place, as parts of others."""

from joiner.model.v1 import plan_pb2, pod_pb2

from libs.domain.plan import Plan
from libs.domain.pod_table import PodTable
from libs.wire.plan import write_plan
from libs.wire.pod_table import write_pod_table


def encode_plan(plan: Plan) -> plan_pb2.Plan:
    """Return a plan as a message by itself."""
    message = plan_pb2.Plan()
    write_plan(message, plan)
    return message


def encode_pod_table(table: PodTable) -> pod_pb2.PodTable:
    """Return a table as a message by itself."""
    message = pod_pb2.PodTable()
    write_pod_table(message, table)
    return message
