"""Answers to what-ifs as the protobuf JSON of `SimulateResponse`: printed by simulate."""

from typing import Any

from google.protobuf import json_format

from libs.domain.scenario import ScenarioAnswer
from libs.wire.planned import state_launch_lists
from libs.wire.scenario import encode_scenario_answer


def scenario_document(answer: ScenarioAnswer) -> dict[str, Any]:
    """Return the JSON document; every field is there, 64-bit integers are strings."""
    message = encode_scenario_answer(answer)
    state_launch_lists(message.response.plan)
    document: dict[str, Any] = json_format.MessageToDict(
        message, always_print_fields_with_no_presence=True
    )
    return document
