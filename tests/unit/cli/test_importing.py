import json
from pathlib import Path

import pytest

from tests.unit.cli.command import joiner, written

PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_spec,qos,creation_time\np,500,1024,1,,LS,0\n"
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn,4000,8192,2,T4\n"


@pytest.mark.parametrize(
    ("kept", "names"),
    [("cordoned", ["p", "n"]), ("ready", ["p", "n"]), ("none", ["p"])],
)
def test_the_trace_becomes_a_list_that_plan_reads(
    tmp_path: Path, kept: str, names: list[str]
) -> None:
    pods = written(tmp_path, PODS, name="pods.csv")
    nodes = written(tmp_path, NODES, name="nodes.csv")

    done = joiner("import", "openb", pods, nodes, "--nodes", kept)

    assert done.code == 0
    assert [one["metadata"]["name"] for one in json.loads(done.out)["items"]] == names
    planned = joiner("plan", "-f", "-", "--catalogue", "aws", stdin=done.out.encode())
    assert planned.code == 0


@pytest.mark.parametrize(
    ("pods", "message"),
    [
        pytest.param(b"", "pods.csv: columns are missing", id="empty"),
        pytest.param(b"\xff\xfe\xfa", "pods.csv: not text in UTF-8", id="binary"),
        pytest.param(PODS.replace("500", "x").encode(), "pods.csv:2: column cpu_milli", id="text"),
        pytest.param(b'name,"' + b"x" * 200_000, "pods.csv", id="field without end"),
    ],
)
def test_bad_rows_end_with_one_line(tmp_path: Path, pods: bytes, message: str) -> None:
    file = written(tmp_path, pods, name="pods.csv")

    done = joiner("import", "openb", file, written(tmp_path, NODES, name="nodes.csv"))

    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    done = joiner("import", "openb", tmp_path / "no.csv", tmp_path / "no.csv")

    assert (done.code, done.err) == (
        2,
        f"joiner: {tmp_path / 'no.csv'}: No such file or directory\n",
    )
