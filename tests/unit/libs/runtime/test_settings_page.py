"""`docs/settings.md` and the code say the same."""

import re
from pathlib import Path
from typing import Any

import pytest

from libs.runtime.leader import LeaderSettings
from libs.runtime.runtime_settings import RuntimeSettings
from libs.runtime.settings import variables
from libs.runtime.values import parse_value

PAGE = (Path(__file__).parents[4] / "docs" / "settings.md").read_text()

COMMON = PAGE.partition("\n## watcher\n")[0]

ROWS = dict(re.findall(r"^\| `(JOINER_CFG_\w+)` \| ([^|]+) \|", COMMON, re.MULTILINE))

DOCUMENTED = [
    *variables(RuntimeSettings),
    *variables(LeaderSettings, "JOINER_CFG_LEADER_"),
]


@pytest.mark.parametrize(
    ("name", "kind", "default"), DOCUMENTED, ids=[name for name, _, _ in DOCUMENTED]
)
def test_every_common_setting_is_on_the_page_with_its_default(
    name: str, kind: Any, default: Any
) -> None:
    shown = ROWS[name].strip()

    if default in (None, ""):
        assert shown.startswith(("unset", "empty"))
    else:
        assert parse_value(shown.strip("`"), kind) == default


def test_the_page_lists_no_common_setting_that_does_not_exist() -> None:
    assert set(ROWS) == {name for name, _, _ in DOCUMENTED}


@pytest.mark.parametrize(
    "flag",
    [
        "KARPENTER_SERVICE",
        "METRICS_PORT",
        "HEALTH_PROBE_PORT",
        "KUBE_CLIENT_QPS",
        "KUBE_CLIENT_BURST",
        "ENABLE_PROFILING",
        "DISABLE_CONTROLLER_WARMUP",
        "DISABLE_LEADER_ELECTION",
        "DISABLE_CLUSTER_STATE_OBSERVABILITY",
        "LEADER_ELECTION_NAME",
        "LEADER_ELECTION_NAMESPACE",
        "MEMORY_LIMIT",
        "CPU_REQUESTS",
        "LOG_LEVEL",
        "LOG_OUTPUT_PATHS",
        "LOG_ERROR_OUTPUT_PATHS",
        "BATCH_MAX_DURATION",
        "BATCH_IDLE_DURATION",
        "PREFERENCE_POLICY",
        "MIN_VALUES_POLICY",
        "IGNORE_DRA_REQUESTS",
        "FEATURE_GATES",
        "SCHEDULER_CONFIG",
        "INSTANCE_TYPES_FILE_PATH",
        "NodeRepair",
        "ReservedCapacity",
        "SpotToSpotConsolidation",
        "NodeOverlay",
        "StaticCapacity",
        "CapacityBuffer",
        "DynamicResources",
    ],
)
def test_every_flag_and_gate_of_karpenter_is_mapped(flag: str) -> None:
    assert re.search(rf"^\|.*`{flag}`", PAGE, re.MULTILINE)
