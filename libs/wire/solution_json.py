"""A solution as the protobuf JSON of `SolveResponse`: printed by plan, read by check."""

from typing import Any

from google.protobuf import json_format
from joiner.solver.v1 import solver_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.solution import Solution
from libs.wire.planned import state_launch_lists
from libs.wire.solution import decode_solution, encode_solution


def solution_document(solution: Solution) -> dict[str, Any]:
    """Return the JSON document; every field is there, 64-bit integers are strings."""
    message = encode_solution(solution)
    state_launch_lists(message.plan)
    document: dict[str, Any] = json_format.MessageToDict(
        message, always_print_fields_with_no_presence=True
    )
    return document


def parse_solution(text: str) -> Solution:
    """Return the solution of a JSON document.

    Raises:
        InvalidRequest: it is no such JSON, or a field breaks the contract.
    """
    try:
        message = json_format.Parse(text, pb.SolveResponse())
    except json_format.ParseError as error:
        raise InvalidRequest(f"not the JSON of a SolveResponse: {error}") from None
    return decode_solution(message)
