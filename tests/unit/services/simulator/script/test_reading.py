"""What may stand in a script, and what is said of what may not."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from services.simulator.script.reading import load, parse
from services.simulator.script.rules import action_of

Document = dict[str, Any]


def a_script(**step: Any) -> Document:
    return {"steps": [{"at": "1m", **step}]}


@pytest.mark.parametrize(
    ("step", "action"),
    [
        ({"apply": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}]}, "apply"),
        ({"delete": {"kind": "Pod", "labels": {"app": "web"}}}, "delete"),
        ({"scale": {"name": "web", "replicas": 3}}, "scale"),
        ({"scale": {"name": "web", "replicas": 3, "over": "5m"}}, "scale"),
        ({"scale": {"name": "web", "curve": [{"after": 0, "replicas": 3}]}}, "scale"),
        ({"reclaim": {"nodes": {"zone": "a", "share": 0.5}, "notice": "2m"}}, "reclaim"),
        ({"boot": {"takes": "5m"}, "until": "10m"}, "boot"),
        ({"boot": {"never": True}}, "boot"),
        ({"kubelets": {"nodes": {"names": ["n1"]}}, "lasts": "90s"}, "kubelets"),
        ({"usage": {"cpu": "200m + noise(50m)"}, "lasts": "5m"}, "usage"),
        ({"pause": True, "every": "10m", "lasts": "30s", "until": "1h"}, "pause"),
        ({"throttle": {"requests": {"verbs": ["list"], "share": 0.5}}}, "throttle"),
        ({"errors": {"code": 503, "requests": {"resources": ["pods"]}}}, "errors"),
        ({"cutWatches": {"resources": ["pods"], "forget": True}}, "cut_watches"),
        ({"note": "nothing but a word"}, ""),
    ],
)
def test_a_step_does_one_thing(step: Document, action: str) -> None:
    (found,) = parse(a_script(**step)).script.steps

    assert found.at == timedelta(minutes=1)
    assert action_of(found) == action


@pytest.mark.parametrize(
    ("document", "field", "words"),
    [
        pytest.param([], "", "no mapping with `steps`", id="a list"),
        pytest.param({}, "steps", "is missing", id="no steps"),
        pytest.param({"steps": []}, "steps", "is empty", id="empty"),
        pytest.param({"steps": [{}]}, "steps[0].at", "is missing", id="no time"),
        pytest.param(a_script(), "steps[0]", "does nothing; there are apply, delete", id="nothing"),
        pytest.param(
            a_script(pause=True, boot={"never": True}),
            "steps[0]",
            "does boot and pause; make a step of each",
            id="two things",
        ),
        pytest.param(
            a_script(scael={"name": "web"}), "steps[0]", 'no "scael"; perhaps "scale"', id="slip"
        ),
        pytest.param(
            a_script(boot={"xyzzy": 1}), "steps[0].boot", "there are nodes, takes", id="unknown"
        ),
        pytest.param({"steps": [{"at": 90}]}, "steps[0].at", "with its unit", id="no unit"),
        pytest.param({"steps": [{"at": "soon"}]}, "steps[0].at", "no", id="no span"),
        pytest.param({"steps": [{"at": "-5m"}]}, "steps[0].at", "is negative", id="negative span"),
        pytest.param(
            {"steps": [{"at": "2h", "note": "x"}], "until": "1h"},
            "steps[0].at",
            "after the script's own",
            id="after the end",
        ),
        pytest.param(
            a_script(pause=True, until="30s"), "steps[0].until", "is before `at`", id="ends first"
        ),
        pytest.param(
            a_script(cutWatches={}, until="5m"), "steps[0].until", "done at once", id="no duration"
        ),
        pytest.param(
            a_script(cutWatches={}, lasts="5m"), "steps[0].lasts", "done at once", id="no lasting"
        ),
        pytest.param(
            a_script(pause=True, every="5m"), "steps[0].lasts", "is missing", id="every, how long"
        ),
        pytest.param(
            a_script(pause=True, every="5m", lasts="6m"), "steps[0].lasts", "longer", id="overlap"
        ),
        pytest.param(
            a_script(pause=True, lasts="5m", until="9m"), "steps[0].lasts", "beside", id="two ends"
        ),
        pytest.param(a_script(pause=False), "steps[0].pause", "is false", id="no pause"),
        pytest.param(
            a_script(cutWatches={}, every="0s"), "steps[0].every", "less than a second", id="ever"
        ),
        pytest.param(
            a_script(scale={"name": "web"}), "steps[0].scale", "either replicas or", id="scale"
        ),
        pytest.param(
            a_script(scale={"name": "web", "replicas": -1}),
            "steps[0].scale.replicas",
            "-1 is negative",
            id="negative replicas",
        ),
        pytest.param(
            a_script(scale={"name": "web", "replicas": "3"}),
            "steps[0].scale.replicas",
            "expected `int | null`, got `str`",
            id="wrong type",
        ),
        pytest.param(
            a_script(scale={"name": "web", "over": "1m", "curve": [{"after": 0, "replicas": 1}]}),
            "steps[0].scale.over",
            "belongs to replicas",
            id="curve and over",
        ),
        pytest.param(
            a_script(
                scale={
                    "name": "web",
                    "curve": [{"after": "1m", "replicas": 1}, {"after": "1m", "replicas": 2}],
                }
            ),
            "steps[0].scale.curve[1].after",
            "is not after",
            id="curve goes back",
        ),
        pytest.param(
            a_script(reclaim={"nodes": {"share": 1.5}}),
            "steps[0].reclaim.nodes.share",
            "1.5 is not above 0 and at most 1",
            id="share",
        ),
        pytest.param(
            a_script(kubelets={"nodes": {"count": 1, "share": 0.5}}),
            "steps[0].kubelets.nodes.share",
            "beside count",
            id="count and share",
        ),
        pytest.param(
            a_script(boot={"never": True, "takes": "5m"}),
            "steps[0].boot",
            "either takes or never",
            id="boot",
        ),
        pytest.param(
            a_script(boot={"never": True, "nodes": {"count": 2}}),
            "steps[0].boot.nodes.count",
            "yet to come",
            id="drawn before they are there",
        ),
        pytest.param(
            a_script(errors={"code": 200}), "steps[0].errors.code", "no HTTP status", id="code"
        ),
        pytest.param(
            a_script(throttle={"requests": {"verbs": ["peek"]}}),
            "steps[0].throttle.requests.verbs[0]",
            '"peek" is none of get, list',
            id="verb",
        ),
        pytest.param(
            a_script(apply=[{"kind": "Pod"}]), "steps[0].apply[0].apiVersion", "missing", id="type"
        ),
        pytest.param(
            a_script(apply=[{"apiVersion": "v1", "kind": "Pod"}]),
            "steps[0].apply[0].metadata.name",
            "is missing",
            id="no name",
        ),
    ],
)
def test_what_is_wrong_is_named(document: object, field: str, words: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse(document)

    assert caught.value.field == field
    assert words in caught.value.detail


def test_objects_come_from_files_beside_the_script(tmp_path: Path) -> None:
    items = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in "ab"]
    (tmp_path / "nodes.yaml").write_text(
        f'{{"apiVersion": "v1", "kind": "List", "items": {items}}}'
    )
    script = tmp_path / "script.yaml"
    script.write_text("steps: [{at: 0s, apply: nodes.yaml}, {at: 1s, apply: [nodes.yaml]}]")

    loaded = load(script)

    assert [[one["metadata"]["name"] for one in loaded.objects[n]] for n in (0, 1)] == [
        ["a", "b"],
        ["a", "b"],
    ]


def test_the_file_is_named_where_it_is_wrong(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("steps: [{at: 0s, pause: maybe}]")

    with pytest.raises(InvalidRequest) as caught:
        load(script)

    assert str(caught.value).startswith(f"{script}: steps[0].pause: ")


@pytest.mark.parametrize("text", ["", "steps: []\n---\nsteps: []\n"])
def test_a_script_is_one_document(tmp_path: Path, text: str) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(text)

    with pytest.raises(InvalidRequest, match="a script is one"):
        load(script)
