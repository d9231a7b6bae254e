"""The acts of a script about objects: applied, deleted, scaled at once or over time."""

from datetime import datetime

from libs.domain.errors import JoinerError
from services.simulator.script import curves
from services.simulator.script.hands import subject_of
from services.simulator.script.playing import Act, Turn


def apply(turn: Turn) -> None:
    """Apply the objects of a step, each by itself."""
    for document in turn.objects:
        try:
            turn.tell(turn.now, "apply", *turn.stage.hands.apply(document))
        except JoinerError as error:
            name = document["metadata"].get("name", "")
            turn.tell(turn.now, "apply failed", f"{document['kind']} {name}", str(error))


def delete(turn: Turn) -> None:
    """Delete the objects of a step."""
    assert turn.step.delete is not None
    for subject, done in turn.stage.hands.delete(turn.step.delete):
        turn.tell(turn.now, "delete", subject, done)


def scale(turn: Turn) -> None:
    """Scale a workload now, or put the changes to come on the agenda."""
    wish = turn.step.scale
    assert wish is not None
    points = wish.curve
    if wish.replicas is not None:
        there = turn.stage.hands.replicas(wish)
        points = curves.ramp(there, wish.replicas, wish.over or curves.AT_ONCE)
    for after, replicas in curves.changes(points):
        act = _setting(turn, replicas)
        if after <= curves.AT_ONCE:
            act(turn.now)
        else:
            turn.later(turn.now + after, act)


def _setting(turn: Turn, replicas: int) -> Act:
    wish = turn.step.scale
    assert wish is not None

    def act(now: datetime) -> None:
        try:
            if turn.stage.hands.replicas(wish) != replicas:
                turn.tell(now, "scale", *turn.stage.hands.scale(wish, replicas))
        except JoinerError as error:
            turn.tell(now, "scale failed", subject_of(wish), str(error))

    return act
