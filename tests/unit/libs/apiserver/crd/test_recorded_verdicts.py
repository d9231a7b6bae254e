"""What a real API server with Karpenter's CRDs answered, against our CRDs and our engine.

Lines that the API server's own checks decide (envelope, metadata, query, preconditions) are not
played here: they are about the server, not about CRDs.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from libs.apiserver.crd.admission import Admission, CompiledCrd, compile_crd
from libs.kube.crd_files import read_crds
from services.simulator.rule_ids import RuleIds, number_rules

VERDICTS = Path(__file__).parents[4] / "data" / "crd_verdicts.jsonl.gz"
_OF_THE_SERVER = ("metadata", "fieldValidation", "dryRun")

Line = Mapping[str, Any]
CRDS = {"karpenter": read_crds(), "kwok-chart": read_crds(overlay="kwok")}


@pytest.fixture(scope="module")
def engines() -> dict[str, dict[str, CompiledCrd]]:
    return {
        name: {kind: compile_crd(crd) for kind, crd in crds.items()} for name, crds in CRDS.items()
    }


def lines_about_crds(op: str) -> Iterator[Line]:
    with gzip.open(VERDICTS, "rt") as file:
        for text in file:
            line = json.loads(text)
            causes = line.get("causes", ())
            of_server = any(cause["field"].startswith(_OF_THE_SERVER) for cause in causes)
            if line["op"] == op and line["status"] in (200, 201, 422) and not of_server:
                yield line


def admit(line: Line, engines: dict[str, dict[str, CompiledCrd]]) -> Admission:
    version = engines[line["crds"]][line["gvk"]["kind"]].versions[line["gvk"]["version"]]
    subresource = "status" if line["op"] == "status" else ""
    return version.admit(line["object"], line["old"], subresource=subresource)


def our_answer(line: Line, admission: Admission, rules: RuleIds) -> object:
    kind = line["gvk"]["kind"]
    if admission.causes:
        return {rules.identify(kind, cause.cause()) for cause in admission.causes}
    warned = {rules.identify(kind, warning.cause())[2] for warning in admission.warnings}
    parts = {
        name: admission.object[name] for name in ("spec", "status") if name in admission.object
    }
    return json.dumps(parts, sort_keys=True), warned


def recorded_answer(line: Line) -> object:
    if line["status"] == 422:
        return {
            (
                cause["field"],
                cause["reason"],
                cause.get("message")
                or cause["rule"]
                + (f" not evaluated: {cause['notEvaluated']}" if "notEvaluated" in cause else ""),
            )
            for cause in line["causes"]
        }
    warned = {warning["rule"] for warning in line.get("warnings", ()) if "rule" in warning}
    parts = {name: line["stored"][name] for name in ("spec", "status") if name in line["stored"]}
    return json.dumps(parts, sort_keys=True), warned


@pytest.mark.parametrize(("op", "count"), [("create", 1610), ("update", 288), ("status", 265)])
def test_every_recorded_answer_about_a_crd_is_ours(
    op: str, count: int, engines: dict[str, dict[str, CompiledCrd]]
) -> None:
    rules = number_rules(CRDS["kwok-chart"])
    lines = list(lines_about_crds(op))

    differing = [
        line["id"]
        for line in lines
        if our_answer(line, admit(line, engines), rules) != recorded_answer(line)
    ]

    assert len(lines) == count
    assert differing == []
