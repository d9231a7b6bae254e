"""Settings that say who may do what."""

import json
from pathlib import Path
from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from services.simulator import audit_file, kubeconfig, tls_files
from services.simulator.config import Settings
from services.simulator.core.api.access.credentials import read_tokens
from services.simulator.core.api.access.gate import Mode
from services.simulator.core.api.access.users import User
from tests.support.certificates import new_authority


@pytest.mark.parametrize(
    ("values", "field"),
    [
        pytest.param({"authorization_mode": Mode.RBAC}, "api_token", id="nobody could do anything"),
        pytest.param({"feature_gates": ("Nope",)}, "feature_gates", id="no such gate"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Settings(**values)

    assert refused.value.field == field


def test_tokens_are_read_as_kubernetes_reads_them() -> None:
    text = '# who\n\nabc,jane,7,"a,b"\ndef, joe ,8\n'

    assert read_tokens(text) == {
        "abc": User(name="jane", uid="7", groups=("a", "b", "system:authenticated")),
        "def": User(name="joe", uid="8", groups=("system:authenticated",)),
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("abc,jane", "line 1 is not token,user,uid"),
        (",jane,7", "line 1 is not token,user,uid"),
        ("abc,jane,7\nabc,joe,8", "line 2 repeats a token"),
    ],
)
def test_a_line_that_is_no_token_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        read_tokens(text)


def test_a_folder_without_certificates_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="has no certificate"):
        tls_files.server_context(tmp_path)


def test_the_kubeconfig_trusts_the_authority(tmp_path: Path) -> None:
    new_authority().write(tmp_path, "simulator", ("localhost",))
    told = kubeconfig.text("localhost:1", "t", tls_files.authority(tmp_path))

    assert tls_files.server_context(tmp_path)
    assert "server: https://localhost:1" in told
    assert "certificate-authority-data: " in told


def test_the_audit_log_has_a_line_for_each_event(tmp_path: Path) -> None:
    write = audit_file.writer(tmp_path / "log")
    write({"stage": "a"})
    write({"stage": "b"})
    lines = (tmp_path / "log").read_text().splitlines()

    assert [json.loads(line)["stage"] for line in lines] == ["a", "b"]


def test_an_audit_log_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be written"):
        audit_file.writer(tmp_path / "nowhere" / "log")
