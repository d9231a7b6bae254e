"""The act of a script about what pods use: for a while, or from now on."""

from datetime import datetime

from services.simulator.core.usage.meter import UsageRule
from services.simulator.script.playing import Turn


def usage(turn: Turn) -> None:
    """Let pods use something else while the step lasts."""
    wish, book = turn.step.usage, turn.stage.usage
    assert wish is not None
    rule = UsageRule(namespace=wish.namespace, labels=wish.labels, cpu=wish.cpu, memory=wish.memory)
    book.rules = (*book.rules, rule)
    labels = ",".join(f"{key}={value}" for key, value in sorted(wish.labels.items()))
    subject = f"pods {labels}".strip()
    told = {"cpu": wish.cpu, "memory": wish.memory}
    turn.tell(turn.now, "usage", subject, "; ".join(f"{k} {v}" for k, v in told.items() if v))

    def over(now: datetime) -> None:
        book.rules = tuple(one for one in book.rules if one is not rule)
        turn.tell(now, "usage", subject, "as before")

    turn.at_end(over)
