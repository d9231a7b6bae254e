"""`docs/settings.md` and the settings of the services say the same."""

import importlib
import re
from typing import Any

import pytest

from libs.runtime.settings import variables
from libs.runtime.values import parse_value
from tests.unit.deploy.manifests import ROOT

PAGE = (ROOT / "docs" / "settings.md").read_text()

SERVICES = [file.parent.name for file in sorted((ROOT / "services").glob("*/config.py"))]

DOCUMENTED = [
    pytest.param(service, name, kind, default, id=f"{service} {name}")
    for service in SERVICES
    for name, kind, default in variables(
        importlib.import_module(f"services.{service}.config").Settings
    )
    if not name.startswith("JOINER_CFG_LEADER_")  # common to those that elect
]


@pytest.mark.parametrize(("service", "name", "kind", "default"), DOCUMENTED)
def test_every_setting_of_a_service_is_on_the_page_with_its_default(
    service: str, name: str, kind: Any, default: Any
) -> None:
    shown = _rows(service)[name].strip()

    if (not default and default in (None, "", ())) or default == {}:
        assert shown in ("unset", "empty")
    else:
        assert parse_value(shown.strip("`"), kind) == default


@pytest.mark.parametrize("service", SERVICES)
def test_the_page_lists_no_setting_that_a_service_does_not_have(service: str) -> None:
    names = {name for one, name, _, _ in (case.values for case in DOCUMENTED) if one == service}

    assert set(_rows(service)) == names


@pytest.mark.parametrize(
    ("service", "name"), re.findall(r"\| (\w+) `(JOINER_CFG_\w+)` \|", PAGE), ids=str
)
def test_what_a_flag_of_karpenter_is_mapped_to_exists(service: str, name: str) -> None:
    assert name in _rows(service)


def _rows(service: str) -> dict[str, str]:
    section = PAGE.partition(f"\n## {service}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(JOINER_CFG_\w+)` \| ([^|]+) \|", section, re.MULTILINE))
