"""The acts of a script about machines: taken back by the cloud, slow to boot, fallen silent."""

from collections.abc import Sequence
from datetime import datetime

from services.simulator.core.events import Note, Recorder
from services.simulator.core.kubelet.fate import FateRule
from services.simulator.core.objects import is_true
from services.simulator.script import fates
from services.simulator.script.playing import Act, Turn

NOTICE = "SpotInterruption"
"""Reason of the event on a Node whose instance the cloud takes back."""

COMPONENT = "cloud"


def reclaim(turn: Turn) -> None:
    """Give notice to the nodes of a step; when it has run out, their machines are gone."""
    wish, stage = turn.step.reclaim, turn.stage
    assert wish is not None
    present = stage.api.list("nodes")
    nodes = fates.chosen(wish.nodes, present, turn.random, capacity_type=wish.capacity_type)
    gone = turn.now + wish.notice
    rules = fates.death_rules(nodes, gone)
    fates.add_deaths(stage.book, rules)
    message = f"the instance is taken back in {int(wish.notice.total_seconds())} s"
    note = Note(reason=NOTICE, message=message, component=COMPONENT, is_warning=True)
    recorder = Recorder(stage.api)
    for node in nodes:
        recorder.write(node, note, turn.now)
        turn.tell(turn.now, "reclaim notice", _subject(node["metadata"]["name"]), message)
    if not nodes:
        turn.tell(turn.now, "reclaim", detail="there is no such node")
    uids = frozenset(node["metadata"]["uid"] for node in nodes)
    turn.later(gone, _vanishing(turn, uids, rules))


def _vanishing(turn: Turn, uids: frozenset[str], rules: Sequence[FateRule]) -> Act:
    """Let the cloud delete the Nodes of machines that are gone.

    Of a Node that is held the kubelet stays dead; another of the name of one that is not may live.
    """

    def act(now: datetime) -> None:
        for node in turn.stage.api.list("nodes"):
            meta = node["metadata"]
            if meta["uid"] in uids and "deletionTimestamp" not in meta:
                gone = turn.stage.api.delete("nodes", meta["name"]).gone
                if gone:
                    fates.remove(turn.stage.book, (r for r in rules if r.name == meta["name"]))
                told = "the machine is gone" if gone else "the machine is gone, its Node is held"
                turn.tell(now, "reclaimed", _subject(meta["name"]), told)

    return act


def boot(turn: Turn) -> None:
    """Let nodes that appear from now on boot late, or never.

    When that ends, those that have not booted by then keep their fate.
    """
    wish, stage = turn.step.boot, turn.stage
    assert wish is not None
    rules = fates.boot_rules(wish)
    there = frozenset(fates.names(stage.api.list("nodes")))
    fates.add_boots(stage.book, rules)
    how = "never boot" if wish.takes is None else f"boot in {wish.takes.total_seconds():g} s"
    turn.tell(turn.now, "boot", detail=f"nodes that appear {how}")

    def over(now: datetime) -> None:
        late = [
            node
            for node in stage.api.list("nodes")
            if node["metadata"]["name"] not in there and not is_true(node, "Ready")
        ]
        fates.remove(stage.book, rules)
        fates.add_boots(stage.book, fates.kept(rules, late))
        turn.tell(now, "boot", detail="nodes that appear boot as usual")

    turn.at_end(over)


def kubelets(turn: Turn) -> None:
    """Let the kubelets of nodes fall silent, and come back in the end."""
    wish, book = turn.step.kubelets, turn.stage.book
    assert wish is not None
    nodes = fates.chosen(wish.nodes, turn.stage.api.list("nodes"), turn.random)
    rules = fates.death_rules(nodes, turn.now, turn.end)
    names = tuple(fates.names(nodes))
    fates.add_deaths(book, rules)
    for name in names:
        turn.tell(turn.now, "kubelet dies", _subject(name))
    if not nodes:
        turn.tell(turn.now, "kubelet dies", detail="there is no such node")

    def over(now: datetime) -> None:
        fates.remove(book, rules)
        for name in names:
            turn.tell(now, "kubelet is back", _subject(name))

    turn.at_end(over)


def _subject(name: str) -> str:
    return f"Node {name}"
