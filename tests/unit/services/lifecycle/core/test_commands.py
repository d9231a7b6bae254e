from datetime import timedelta
from typing import Any

import pytest

from libs.domain.execution import CommandState
from libs.domain.nodeclaim import ClaimCommand
from libs.kube.objects.karpenter import NodeClaim
from services.lifecycle.core.commands import (
    CandidateView,
    CommandView,
    command_of,
    next_step,
    retry_window,
)
from services.lifecycle.core.step import Delete, Patch
from tests.unit.services.lifecycle.core.objects import NOW, a_claim, a_condition, a_node, at

UP = ("Launched", "Registered", "Initialized")
TAINT = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}


def _candidate(
    name: str = "old",
    *,
    taken: bool = True,
    tainted: bool = True,
    ago: timedelta = timedelta(minutes=1),
    **metadata: Any,
) -> CandidateView:
    conditions = [a_condition(kind) for kind in UP]
    if taken:
        conditions.append(a_condition("DisruptionReason", ago=ago))
    claim = a_claim(
        name,
        status={"conditions": conditions},
        annotations={"joiner.io/command": "id=c;replacements=new"},
        **metadata,
    )
    node = a_node(f"node-{name}", taints=[TAINT] if tainted else [])
    return CandidateView(claim=claim, node=node)


def _view(*candidates: CandidateView, names: tuple[str, ...] = (), **new: NodeClaim) -> CommandView:
    return CommandView(
        command=ClaimCommand(id="c", replacements=names),
        candidates=candidates,
        replacements=new,
        queued=len(candidates),
        policies={},
        now=NOW,
    )


READY = a_claim("new", true=UP)
COMING = a_claim("new", true=("Launched",))
LEAVING = a_claim("new", deletionTimestamp=at())


@pytest.mark.parametrize(
    ("view", "state", "deleted"),
    [
        pytest.param(_view(), CommandState.DONE, [], id="nothing left"),
        pytest.param(_view(_candidate()), CommandState.DELETING, ["old"], id="nothing to wait for"),
        pytest.param(
            _view(_candidate(), names=("new",), new=COMING), CommandState.WAITING, [], id="waiting"
        ),
        pytest.param(
            _view(_candidate(), names=("new",), new=READY),
            CommandState.DELETING,
            ["old"],
            id="replaced",
        ),
        pytest.param(
            _view(_candidate(ago=timedelta(minutes=20)), names=("new",), new=READY),
            CommandState.DELETING,
            ["old"],
            id="replaced late is replaced all the same",
        ),
        pytest.param(
            _view(_candidate(deletionTimestamp=at())), CommandState.DELETING, [], id="leaving"
        ),
        pytest.param(
            _view(_candidate(deletionTimestamp=at()), _candidate("other")),
            CommandState.DELETING,
            ["other"],
            id="the rest follows",
        ),
        pytest.param(
            _view(
                _candidate(deletionTimestamp=at()), _candidate("other"), names=("new",), new=COMING
            ),
            CommandState.WAITING,
            [],
            id="one deleted by someone else does not drag the rest along",
        ),
    ],
)
def test_candidates_go_once_their_replacements_are_there(
    view: CommandView, state: CommandState, deleted: list[str]
) -> None:
    found = next_step(view)

    assert found.state is state
    assert [write.name for write in found.step.writes if isinstance(write, Delete)] == deleted


@pytest.mark.parametrize(
    ("view", "why"),
    [
        pytest.param(_view(_candidate(), names=("new",)), "does not exist", id="never created"),
        pytest.param(
            _view(_candidate(), names=("new",), new=LEAVING), "was deleted", id="given up"
        ),
        pytest.param(
            _view(_candidate(ago=timedelta(minutes=11)), names=("new",), new=COMING),
            "not initialized in time",
            id="too slow",
        ),
        pytest.param(_view(_candidate(taken=False)), "interrupted", id="hardly begun"),
        pytest.param(
            _view(_candidate(), _candidate("other", taken=False), names=("new",), new=READY),
            "interrupted",
            id="half begun, with a replacement made for all",
        ),
    ],
)
def test_a_command_that_cannot_succeed_is_taken_back(view: CommandView, why: str) -> None:
    found = next_step(view)

    assert found.state is CommandState.FAILED
    assert why in found.message
    assert [write.name for write in found.step.writes] == [
        one.claim.metadata.name for one in view.candidates
    ]
    assert all(
        isinstance(write, Patch)
        and write.body == {"metadata": {"annotations": {"joiner.io/command": None}}}
        for write in found.step.writes
    )


def test_a_taint_that_a_crash_left_out_is_put_on() -> None:
    (patch,) = next_step(_view(_candidate(tainted=False))).step.writes

    assert isinstance(patch, Patch)
    assert patch.name == "node-old"
    assert patch.body == {"spec": {"taints": [TAINT]}}


def test_a_deletion_goes_on_with_the_candidates_that_were_taken() -> None:
    (patch,) = next_step(_view(_candidate(), _candidate("late", taken=False))).step.writes

    assert patch.name == "late"


@pytest.mark.parametrize(
    ("queued", "window"),
    [
        pytest.param(100, timedelta(minutes=10), id="few"),
        pytest.param(10_000, timedelta(minutes=13, seconds=20), id="many"),
        pytest.param(50_000, timedelta(hours=1), id="at most an hour"),
    ],
)
def test_more_candidates_may_wait_longer(queued: int, window: timedelta) -> None:
    assert retry_window(queued) == window


def test_an_annotation_that_cannot_be_read_is_no_command() -> None:
    claim = a_claim(annotations={"joiner.io/command": "nonsense"})

    assert command_of(claim) is None
