"""`joiner simulate`: what makes no sense is refused by the option, file and field that say it."""

from pathlib import Path

import pytest

from tests.unit.cli.command import POD, written
from tests.unit.cli.simulating import refused


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param([], "joiner: nothing is to change: give --remove-node", id="nothing"),
        pytest.param(
            ["--scale", "shop/web=5", "--remove-workload", "shop/deployment/web"],
            "--remove-workload shop/deployment/web: --scale shop/web=5 is about the same workload",
            id="scaled and gone",
        ),
        pytest.param(
            ["--price", "-101%"], "--price -101%: no more than 100 % less", id="a price below 0"
        ),
        pytest.param(["--price", "-100.0001%"], "no more than 100 % less", id="a bit below 0"),
        pytest.param(
            ["--price", "zone=a:+1e9%"], "no more than 1,000,000 % more", id="a price beyond all"
        ),
        pytest.param(
            ["--scale", "shop/web=99999999999999"],
            "--scale shop/web=99999999999999: 99999999999999 is above 200000",
            id="too many pods",
        ),
        pytest.param(["--scale", "shop/web=-3"], "-3 is below 0", id="fewer than none"),
        pytest.param(
            ["--add-node", "pool=small/a/on-demand:1000000000"],
            "1000000000 is above 200000",
            id="too many nodes",
        ),
        pytest.param(
            ["--remove-node", "n2"],
            '--remove-node n2: there is no node "n2"; there is "n1"',
            id="node",
        ),
        pytest.param(
            ["--without-zone", "c"],
            '--without-zone c: there is no zone "c"; there is "a", "b"',
            id="zone",
        ),
        pytest.param(["--scale", "web"], "--scale web: write NS/NAME=N", id="scale"),
        pytest.param(
            ["--scale", "web=3"], 'there is no workload with pods "web" in', id="namespace"
        ),
        pytest.param(
            ["--scale", "a/b/c/d=3"],
            "--scale a/b/c/d=3: 'a/b/c/d' names no workload",
            id="too long",
        ),
        pytest.param(["--price", "+10"], "--price +10: write zone=Z", id="price"),
        pytest.param(
            ["--price", "type=a,type=b:+10%"], "type is there twice", id="price key twice"
        ),
        pytest.param(["--price", "+1e-9%"], "less than prices are told apart", id="tiny change"),
        pytest.param(["--price", "pool=x:+10%"], "'pool=x' selects nothing", id="price key"),
        pytest.param(["--add-node", "pool"], "--add-node pool: write POOL=TYPE", id="add node"),
        pytest.param(
            ["--add-node", "pool=small/a/on-demand:0"], "0 is below 1", id="no node at all"
        ),
        pytest.param(
            ["--add-node", "poool=small/a/on-demand"], 'perhaps "pool"', id="pool of a node"
        ),
        pytest.param(["--pool-file", "/nowhere"], "/nowhere: No such file", id="no file"),
    ],
)
def test_what_makes_no_sense_is_refused_by_option(
    tmp_path: Path, flags: list[str], said: str
) -> None:
    assert said in refused(tmp_path, *flags)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("hello", "holds neither a list nor `scenarios`", id="a text"),
        pytest.param("[]", "holds no scenarios", id="empty"),
        pytest.param("[1]", "scenarios[0]: 1 is not a mapping", id="a number"),
        pytest.param(
            "[{removeNode: n1}]",
            'scenarios[0]: there is no "removeNode"; perhaps "removeNodes"',
            id="a word",
        ),
        pytest.param(
            "[{removeNodes: {n1: 1}}]",
            "scenarios[0].removeNodes: a text, or a list of texts, is needed",
            id="a mapping of what is not counted",
        ),
        pytest.param("[{removeNodes: [1]}]", "scenarios[0].removeNodes: 1 is not a text", id="1"),
        pytest.param(
            "[{}, {removeNodes: n2}]",
            'scenarios[1].removeNodes: n2: there is no node "n2"',
            id="a node",
        ),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_by_field(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(text)

    assert f"{file}: {said}" in refused(tmp_path, "--scenario-file", file)


def test_a_file_without_the_kind_is_refused(tmp_path: Path) -> None:
    pods = written(tmp_path, POD, name="pods.json")

    assert f"--pool-file {pods}: holds no NodePool" in refused(tmp_path, "--pool-file", pods)
