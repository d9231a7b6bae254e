"""`joiner simulate`: what would change, and cost, if the cluster in some files were otherwise."""

from dataclasses import dataclass, replace

from cli import clusters, edits
from cli.choices import load
from cli.failures import bad_input_exits, end, progress
from cli.formats import Format, print_json, print_notes
from cli.options import Choices, WhatIf
from cli.refining import Refining
from cli.scenario_file import what_ifs
from cli.simulated import Shown, print_answers
from libs.domain import feature_gates
from libs.domain.errors import InvalidRequest
from libs.domain.feature_gates import FeatureGate
from libs.domain.scenario import PutNodePool, PutOverlay
from libs.domain.snapshot import ClusterSnapshot, keyed
from libs.domain.solution import SolveOptions, among, with_unplaced
from libs.runtime.budget import spending
from libs.wire.scenario_json import scenario_document
from services.solver.core.simulating.edited import edited
from services.solver.core.simulating.simulate import Base, base, outcome

AS_IT_IS = "as it is"
_AWAKE = "--scale"
"""The source that is named of workloads that are scaled before they are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked about which files, as it was typed."""

    files: tuple[str, ...]
    catalogue: str
    choices: Choices
    refining: Refining
    what_if: WhatIf
    scenario_file: str = ""


def run(question: Question, output: Format) -> None:
    """Carry out `joiner simulate`."""
    with bad_input_exits(), progress("reading") as status:
        asked = _asked(question)
        lab = _lab(question)
        status.update("planning")
        as_it_is = lab.answer(WhatIf(name=AS_IT_IS), 0)
        answers = []
        for number, one in enumerate(asked, start=1):
            status.update(f"what if: {one.shown}")
            answers.append(lab.answer(one, number))
    print_notes(dict.fromkeys(note for one in (as_it_is, *answers) for note in one.cluster.notes))
    if output is Format.JSON:
        documents = [scenario_document(one.answer) for one in (as_it_is, *answers)]
        print_json({"asItIs": documents[0], "scenarios": documents[1:]})
    else:
        print_answers(as_it_is, answers)
    end(
        (one for shown in (as_it_is, *answers) for one in clusters.refusals(shown.cluster)),
        negative=any(one.answer.solution.pods.unplaced for one in answers),
    )


def _asked(question: Question) -> list[WhatIf]:
    """Return the what-if of the options, if there is one, and those of the file."""
    asked = [question.what_if] if any(question.what_if.texts()) else []
    if question.scenario_file:
        asked += what_ifs(question.scenario_file)
    if not asked:
        raise InvalidRequest(
            "nothing is to change: give --remove-node, --add, --scale, … or --scenario-file"
        )
    return asked


def _lab(question: Question) -> "_Lab":
    # Files are read several times, about one and the same instant.
    now = clusters.instant(question.choices.now).isoformat()
    choices = replace(question.choices, now=now)
    given = clusters.read(question.files)
    cluster, options = load(given, question.catalogue, choices)
    options = question.refining.applied(options)
    return _Lab(
        given=given,
        catalogue=question.catalogue,
        choices=choices,
        cluster=cluster,
        options=options,
        start=base(cluster.snapshot, options),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lab:
    """A cluster out of files on which what-ifs are tried."""

    given: clusters.Input
    catalogue: str
    choices: Choices
    cluster: clusters.OfflineCluster
    options: SolveOptions
    start: Base

    def answer(self, what_if: WhatIf, position: int) -> Shown:
        """Return what changes.

        Raises:
            InvalidRequest: bad input; names the option, or file, object and field.
            OSError: a file cannot be read.
        """
        cluster = self._with_files(what_if)
        after = edits.changed(self._with_market(cluster.snapshot, what_if), what_if)
        found = outcome(self.start, after, spent=spending(self.options.refine_budget))
        answer = replace(
            found,
            scenario=what_if.shown,
            position=position,
            solution=with_unplaced(found.solution, among(cluster.left_out, len(after.nodes))),
        )
        return Shown(answer=answer, cluster=cluster)

    def _with_files(self, what_if: WhatIf) -> clusters.OfflineCluster:
        """Return the cluster with the objects of more files, read as if they were one.

        A workload without replicas is one of them once it is scaled: its file has what to copy.
        """
        found, cluster = self.given, self.cluster
        if what_if.add:
            found = found.and_then(clusters.read(what_if.add))
            cluster = self._load(found)
        awake = tuple((_AWAKE, one) for one in edits.awakened(cluster.documents, what_if))
        if not awake:
            return cluster
        cluster = self._load(found.and_then(clusters.Input(names=(), documents=awake)))
        # That such a workload is there twice is our doing.
        notes = tuple(note for note in cluster.notes if not note.startswith(_AWAKE))
        return replace(cluster, notes=notes)

    def _with_market(self, snapshot: ClusterSnapshot, what_if: WhatIf) -> ClusterSnapshot:
        """Return the snapshot with the pools and overlays that files hold."""
        for path in what_if.pool_files:
            where = what_if.where("pool_files", path)
            cluster = self._put(path)
            there = _named(cluster, "NodePool", where)
            # Their classes sell what all classes sell.
            sold = {**cluster.snapshot.catalogues, **snapshot.catalogues}
            snapshot = replace(snapshot, catalogues=keyed("catalogues", sold.values()))
            pools = cluster.snapshot.nodepools
            snapshot = edited(snapshot, [PutNodePool(nodepool=pools[name]) for name in there])
        for path in what_if.overlay_files:
            where = what_if.where("overlay_files", path)
            if not feature_gates.is_open(FeatureGate.NODE_OVERLAY, self.options.feature_gates):
                raise InvalidRequest(
                    "overlays are not looked at; add --feature-gates NodeOverlay=true", field=where
                )
            cluster = self._put(path)
            there = _named(cluster, "NodeOverlay", where)
            overlays = cluster.snapshot.overlays
            snapshot = edited(snapshot, [PutOverlay(overlay=overlays[name]) for name in there])
        return snapshot

    def _put(self, path: str) -> clusters.OfflineCluster:
        """Return what a file holds that is put in the place of what there is: all must count."""
        cluster = self._load(clusters.read([path]))
        if cluster.refused:
            raise InvalidRequest(cluster.refused[0].message)
        return cluster

    def _load(self, found: clusters.Input) -> clusters.OfflineCluster:
        return load(found, self.catalogue, self.choices)[0]


def _named(cluster: clusters.OfflineCluster, kind: str, where: str) -> list[str]:
    """Return the names of the objects of a kind.

    Raises:
        InvalidRequest: there are none, or one breaks its rules.
    """
    names = [one["metadata"]["name"] for own, one in cluster.documents if own == kind]
    if not names:
        raise InvalidRequest(f"holds no {kind}", field=where)
    for name in names:
        wrong = cluster.snapshot.set_aside.get(f"{kind}//{name}")
        if wrong is not None:
            raise InvalidRequest(wrong.message, field=f'{where}: {kind} "{name}": {wrong.field}')
    return names
