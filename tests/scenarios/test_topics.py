"""Holds the tables under `topics/` to the scenarios, and to the checklist that they answer.

A table is one paragraph of the checklist (section L2 of the behaviour reference), or a section of
rules that the checklist refers to: each of its topics, or of the statements of its rules, with the
scenarios that show it, or with where else it is tested.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.words import documents

HERE = Path(__file__).parent
SHARED = HERE.parents[2] / "shared"
REFERENCE = SHARED / "reference" / "karpenter-behaviour.md"
REPORTS = SHARED / "cases" / "field-reports.md"
TABLES = sorted((HERE / "topics").glob("*.yaml"))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_each_topic_has_scenarios_that_exist_or_is_tested_elsewhere(path: Path) -> None:
    (table,) = documents(path)
    existing = _cases()

    for entry in table["topics"]:
        missing = set(_mapped(entry)) - existing
        assert not missing, f"{entry['topic']}: {missing}"
        assert entry.get("cases") or entry.get("elsewhere"), f"{entry['topic']} has no case"


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_has_all_topics_of_its_paragraph(path: Path) -> None:
    if not REFERENCE.exists():
        pytest.skip(f"the checklist, {REFERENCE.name}, is not here")
    (table,) = documents(path)

    topics = _topics(table["paragraph"]) if "paragraph" in table else _statements(table["section"])
    assert [entry["topic"] for entry in table["topics"]] == topics


def test_each_report_of_the_readme_has_its_scenario() -> None:
    for reports, files in _reports():
        for report in reports:
            for stem in files:
                assert any(
                    file == stem and case.startswith(f"{report} ") for file, case in _cases()
                ), f"{report} is not in {stem}.yaml"


def test_the_readme_has_all_reports() -> None:
    if not REPORTS.exists():
        pytest.skip(f"the reports, {REPORTS.name}, are not here")
    headings = re.findall(r"^## (B\d+)", REPORTS.read_text(), re.MULTILINE)

    listed = [report for reports, _ in _reports() for report in reports]
    assert sorted(listed) == sorted(headings)


@cache
def _cases() -> frozenset[tuple[str, str]]:
    return frozenset(
        (path.stem, scenario["case"])
        for path in HERE.glob("*.yaml")
        for scenario in documents(path)
    )


def _reports() -> Iterator[tuple[list[str], list[str]]]:
    """Yield the rows of the README's table of reports: numbers, and files or none."""
    for line in (HERE / "README.md").read_text().splitlines():
        if re.match(r"\| B\d", line):
            _, numbers, where, _ = line.split("|")
            yield re.findall(r"B\d+", numbers), re.findall(r"`(\w+)\.yaml`", where)


def _mapped(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for stem, cases in entry.get("cases", {}).items():
        for case in cases:
            yield stem, case


def _topics(paragraph: str) -> list[str]:
    """Return the topics of the paragraph that begins so, in order."""
    lines = REFERENCE.read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{paragraph}: "))
    text = line.removeprefix(f"{paragraph}: ").removesuffix(".")
    return [topic.strip() for topic in text.split("; ")]


def _statements(section: str) -> list[str]:
    """Return the statements of the section's numbered rules, each with the number, in order."""
    _, _, rest = REFERENCE.read_text().partition(f"\n### {section}. ")
    rules = re.findall(r"^(\d+)\. (.*?)\.?$", rest.partition("\n##")[0], re.MULTILINE)
    return [
        f"{number}. {statement}"
        for number, rule in rules
        for statement in re.split(r"(?:; |\. )(?![^(]*\))", rule)
    ]
