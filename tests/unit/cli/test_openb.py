import io

import pytest

from cli import openb
from cli.options import Machines
from libs.domain.errors import InvalidRequest

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,x,y"


def _pods(*rows: str) -> list[dict]:  # type: ignore[type-arg]  # free-form JSON
    return list(openb.pods(io.StringIO("\n".join([HEADER, *rows])), "pods.csv"))


def test_a_share_of_a_gpu_is_one_gpu() -> None:
    (pod,) = _pods("a,6000,12288,1,460,,LS,Running,60,,")

    (container,) = pod["spec"]["containers"]
    assert container["resources"] == {
        "requests": {"cpu": "6000m", "memory": "12288Mi", "nvidia.com/gpu": "1"},
        "limits": {"nvidia.com/gpu": "1"},
    }
    assert pod["status"]["phase"] == "Pending"
    assert pod["metadata"]["creationTimestamp"] == "2023-01-01T00:01:00Z"


def test_gpu_models_become_a_required_node_affinity() -> None:
    (pod,) = _pods("a,1,1,1,1000,V100M32|T4|V100M32,LS,Pending,0,,")

    affinity = pod["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": openb.GPU_MODEL, "operator": "In", "values": ["T4", "V100M32"]}
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("name,cpu_milli", "pods.csv: columns are missing", id="columns"),
        pytest.param(
            f"{HEADER}\na,-1,1,0,0,,LS,Running,0,,",
            "pods.csv:2: column cpu_milli: '-1' is not a whole number",
            id="negative",
        ),
        pytest.param(f"{HEADER}\na,1", "pods.csv:2: the row is shorter", id="short row"),
        pytest.param(f"{HEADER}\n,1,1,0,0,,LS,R,0,,", "pods.csv:2: a value is needed", id="name"),
    ],
)
def test_bad_rows_name_file_line_and_column(text: str, message: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        list(openb.pods(io.StringIO(text), "pods.csv"))

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("machines", "spec"),
    [
        pytest.param(Machines.CORDONED, {"unschedulable": True}, id="cordoned"),
        pytest.param(Machines.READY, {}, id="ready"),
    ],
)
def test_machines_become_nodes(machines: Machines, spec: dict[str, bool]) -> None:
    text = "sn,cpu_milli,memory_mib,gpu,model\nn-1,96000,393216,8,G2\n"

    (node,) = openb.nodes(io.StringIO(text), "nodes.csv", machines)

    assert node["spec"] == spec
    assert node["metadata"]["labels"][openb.GPU_MODEL] == "G2"
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
