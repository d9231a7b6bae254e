"""Find the lower bound of a quality benchmark again: `python -m benchmarks.recompute_bound FOLDER`.

Apart from everything, and importing nothing of this project: it reads the objects and types that
`joiner bench quality --out FOLDER` wrote, by its own reading of quantities, selectors, taints and
volumes, and states its own linear program. Needs highspy.

The bound is that of a fluid: pods may be cut up over nodes, and nodes bought in parts. For kinds t
of nodes (a type in a pool, zone and capacity type) and classes c of equal pods

    minimise    sum of price[t] * n[t]
    subject to  sum over t of x[c,t] = count[c]
                sum over c of request[c,r] * x[c,t] <= allocatable[t,r] * n[t]   for every r

where x[c,t] is there only if one such pod may run, alone, on an empty such node. Rules about other
pods, limits of pools and all else are left out, which only lowers the bound.
"""

import json
import math
import re
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Amounts = dict[str, Fraction]
Classes = Counter[tuple[tuple[tuple[str, Fraction], ...], str]]
"""Pods by their requests and, as text, their rules."""
Kind = tuple[Json, list[Json], Amounts, Json]
"""Labels with the values that they may have, taints, room, offering."""
Bought = tuple[int, Amounts, float]
"""Which rules allow it, as bits; room; price."""
Entry = tuple[int, Amounts, int, list[int]]
"""A class: number, requests, count, and the kinds of nodes that one of its pods fits on."""

SUFFIXES = {
    "": Fraction(1), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40),
}  # fmt: skip
ZONE = "topology.kubernetes.io/zone"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
NODEPOOL = "karpenter.sh/nodepool"
MOST_CLASSES = 1500
"""Above, requests are rounded down to fewer values, which keeps the bound a bound."""


def main(folder: str) -> None:
    """Print bound, cost and their ratio as one JSON object."""
    given = json.loads(Path(folder, "input.json").read_text())
    told = json.loads(Path(folder, "bound.json").read_text())
    classes = pod_classes(given["objects"])
    kinds = node_kinds(given["objects"], given["instanceTypes"])
    bound = fluid_bound(classes, kinds)
    print(
        json.dumps(
            {
                "recomputed_lower_bound_per_hour": round(bound, 6),
                "told_lower_bound_per_hour": told["lowerBoundPerHour"],
                "cost_per_hour": told["costPerHour"],
                "over_recomputed_percent": round(100 * (told["costPerHour"] / bound - 1), 3),
            }
        )
    )


def quantity(text: object) -> Fraction:
    """Return the number that a Kubernetes quantity denotes."""
    match = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", str(text))
    if match is None:
        raise SystemExit(f"not a quantity: {text!r}")
    return Fraction(match[1]) * SUFFIXES[match[2]]


def amounts(quantities: Json) -> Amounts:
    """Return resources by name, CPU in cores."""
    return {name: quantity(text) for name, text in quantities.items()}


def requests_of(spec: Json) -> Amounts:
    """Return what a pod's containers ask for together, and one place."""
    asked: Amounts = {"pods": Fraction(1)}
    for container in spec["containers"]:
        for name, amount in amounts(container["resources"].get("requests", {})).items():
            asked[name] = asked.get(name, Fraction(0)) + amount
    return asked


def pod_classes(objects: list[Json]) -> Classes:
    """Return (requests, rules) → count; rules are alternatives of expressions, and tolerations."""
    volumes = {one["metadata"]["name"]: one for one in objects if one["kind"] == "PersistentVolume"}
    claims = {
        one["metadata"]["name"]: one for one in objects if one["kind"] == "PersistentVolumeClaim"
    }
    found: Classes = Counter()
    for one in objects:
        if one["kind"] != "Pod":
            continue
        if one["spec"].get("nodeName"):
            raise SystemExit("a pod runs already: this bound is about empty clusters")
        asked = tuple(sorted(requests_of(one["spec"]).items()))
        found[asked, json.dumps(rules_of(one["spec"], claims, volumes), sort_keys=True)] += 1
    return coarser(found) if len(found) > MOST_CLASSES else found


def rules_of(spec: Json, claims: Json, volumes: Json) -> Json:
    """Return on which nodes a pod may run: every list of alternatives needs one that holds."""
    needed = [
        [[{"key": key, "operator": "In", "values": [value]}]]
        for key, value in spec.get("nodeSelector", {}).items()
    ]
    affinity = spec.get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required:
        needed.append([term["matchExpressions"] for term in required["nodeSelectorTerms"]])
    for volume in spec.get("volumes", []):
        claim = claims[volume["persistentVolumeClaim"]["claimName"]]
        bound = volumes.get(claim["spec"].get("volumeName"))
        if bound:
            terms = bound["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
            needed.append([term["matchExpressions"] for term in terms])
    return {"needed": needed, "tolerations": spec.get("tolerations", [])}


def coarser(found: Classes) -> Classes:
    """Return fewer classes, by rounding requests down to powers of a base near one."""
    base = 1.01
    while True:
        merged: Classes = Counter()
        for (asked, rules), count in found.items():
            lower = tuple((name, round_down(amount, base, name)) for name, amount in asked)
            merged[lower, rules] += count
        if len(merged) <= MOST_CLASSES:
            print(f"requests rounded down by up to {base - 1:.1%}", file=sys.stderr)
            return merged
        base = 1 + (base - 1) * 1.5


def round_down(amount: Fraction, base: float, name: str) -> Fraction:
    """Return the largest power of the base, in small units, that is not above the amount."""
    unit = {"cpu": Fraction(1, 1000), "memory": Fraction(2**20)}.get(name)
    if unit is None or amount < unit:
        return amount
    power = math.floor(math.log(amount / unit, base))
    return min(unit * Fraction(base**power), amount)


def node_kinds(objects: list[Json], types: list[Json]) -> list[Kind]:
    """Return what may be bought: labels, taints, allocatable after daemons, price."""
    overhead: Amounts = {}
    for one in objects:
        if one["kind"] == "DaemonSet" and runs_everywhere(one["spec"]["template"]["spec"]):
            for name, amount in requests_of(one["spec"]["template"]["spec"]).items():
                overhead[name] = overhead.get(name, Fraction(0)) + amount
    kinds: list[Kind] = []
    for pool in (one for one in objects if one["kind"] == "NodePool"):
        template = pool["spec"]["template"]["spec"]
        for kind in types:
            capacity, kept = amounts(kind["capacity"]), amounts(kind["overhead"])
            room = {
                name: amount - kept.get(name, 0) - overhead.get(name, 0)
                for name, amount in capacity.items()
            }
            for offering in kind["offerings"]:
                labels = {
                    **kind["labels"],
                    **{key: [value] for key, value in pool_labels(pool).items()},
                    ZONE: [offering["zone"]],
                    CAPACITY_TYPE: [offering["capacityType"]],
                }
                if holds(template["requirements"], labels):
                    kinds.append((labels, template.get("taints", []), room, offering))
    return kinds


def pool_labels(pool: Json) -> Json:
    """Return the labels that a pool gives to its nodes."""
    labels = pool["spec"]["template"].get("metadata", {}).get("labels", {})
    return {**labels, NODEPOOL: pool["metadata"]["name"]}


def runs_everywhere(spec: Json) -> bool:
    """Tell whether a daemon runs on every node; of others nothing is held back."""
    free = not spec.get("nodeSelector") and not spec.get("affinity")
    return free and any(
        one.get("operator") == "Exists" and not one.get("key")
        for one in spec.get("tolerations", [])
    )


def holds(expressions: list[Json], labels: Json) -> bool:
    """Tell whether some value of the labels meets each expression."""
    return all(holds_one(one, labels.get(one["key"])) for one in expressions)


def holds_one(expression: Json, values: list[str] | None) -> bool:
    """Tell whether one of a label's possible values meets an expression; None: no such label."""
    operator, wanted = expression["operator"], expression.get("values", [])
    if operator == "Exists":
        return values is not None
    if operator == "DoesNotExist":
        return values is None
    if operator == "In":
        return values is not None and any(value in wanted for value in values)
    if operator == "NotIn":
        return values is None or any(value not in wanted for value in values)
    if operator in ("Gt", "Lt"):
        numbers = [int(value) for value in values or () if value.isdigit()]
        return any(n > int(wanted[0]) if operator == "Gt" else n < int(wanted[0]) for n in numbers)
    raise SystemExit(f"unknown operator {operator}")


def tolerated(taints: list[Json], tolerations: list[Json]) -> bool:
    """Tell whether every taint that keeps pods away is tolerated."""
    return all(
        taint["effect"] == "PreferNoSchedule" or any(tolerates(one, taint) for one in tolerations)
        for taint in taints
    )


def tolerates(toleration: Json, taint: Json) -> bool:
    """Tell whether a toleration is about a taint."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    same_value = toleration.get("value", "") == taint.get("value", "")
    return bool(toleration.get("key") == taint["key"] and same_value)


def may_run(rules: Json, labels: Json, taints: list[Json]) -> bool:
    """Tell whether a pod with these rules may run on such a node, rooms apart."""
    return tolerated(taints, rules["tolerations"]) and all(
        any(holds(terms, labels) for terms in alternatives) for alternatives in rules["needed"]
    )


def fluid_bound(classes: Classes, kinds: list[Kind]) -> float:
    """Return the least cost, in the currency of the prices per hour."""
    rules = list(dict.fromkeys(text for _, text in classes))
    bought = cheapest_kinds([json.loads(text) for text in rules], kinds)
    names = sorted({name for asked, _ in classes for name, _ in asked})
    entries: list[Entry] = []
    impossible = 0
    for number, ((asked, text), count) in enumerate(classes.items()):
        fits = [
            index
            for index, (mask, room, _) in enumerate(bought)
            if mask >> rules.index(text) & 1
            and all(amount <= room.get(name, 0) for name, amount in asked)
        ]
        impossible += 0 if fits else count
        entries.append((number, dict(asked), count if fits else 0, fits))
    if impossible:
        print(f"{impossible} pods fit nowhere and are left out", file=sys.stderr)
    return solve([one for one in entries if one[2]], bought, names)


def cheapest_kinds(rules: list[Json], kinds: list[Kind]) -> list[Bought]:
    """Return (which rules allow it, room, price) of the kinds that no other one outdoes."""
    found: dict[tuple[int, tuple[tuple[str, Fraction], ...]], float] = {}
    allowed: dict[str, int] = {}
    for labels, taints, room, offering in kinds:
        key = json.dumps([labels, taints], sort_keys=True)
        if key not in allowed:
            allowed[key] = sum(
                1 << bit for bit, one in enumerate(rules) if may_run(one, labels, taints)
            )
        place = (allowed[key], tuple(sorted(room.items())))
        found[place] = min(found.get(place, float("inf")), offering["pricePerHour"])
    listed = sorted(
        ((mask, dict(room), price) for (mask, room), price in found.items() if mask),
        key=lambda one: (one[2], -one[1]["cpu"], -one[1]["memory"]),
    )
    kept: list[Bought] = []
    for mask, room, price in listed:
        if not any(outdoes(other, mask, room) for other in kept):
            kept.append((mask, room, price))
    return kept


def outdoes(other: Bought, mask: int, room: Amounts) -> bool:
    """Tell whether a kind that is not dearer has all that another has."""
    their_mask, theirs, _ = other
    return mask & ~their_mask == 0 and all(
        theirs.get(name, 0) >= amount for name, amount in room.items()
    )


def solve(entries: list[Entry], kinds: list[Bought], names: list[str]) -> float:
    """Solve the linear program; columns are first n[t], then every x[c,t]."""
    import highspy  # noqa: PLC0415  # only whoever recomputes needs it
    import numpy as np  # noqa: PLC0415

    scale = {name: max(float(kind[1].get(name, 0)) for kind in kinds) or 1.0 for name in names}
    cost = [price for _, _, price in kinds]
    rows: dict[tuple[str, int, str], list[tuple[int, float]]] = {}
    column = len(kinds)
    for index, (_, room, _) in enumerate(kinds):
        for name in names:
            rows["room", index, name] = [(index, -float(room.get(name, 0)) / scale[name])]
    for number, asked, _, fits in entries:
        rows["all", number, ""] = []
        for index in fits:
            cost.append(0.0)
            rows["all", number, ""].append((column, 1.0))
            for name, amount in asked.items():
                rows["room", index, name].append((column, float(amount) / scale[name]))
            column += 1
    counts = {number: count for number, _, count, _ in entries}
    # The class beneath: `Highs` prints its name before it can be told not to.
    highs = highspy._core._Highs()
    highs.setOptionValue("output_flag", False)
    # All of a process have to want as many, or those that come later answer nothing.
    highs.setOptionValue("threads", 1)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = column, len(rows)
    program.col_cost_ = np.array(cost)
    program.col_lower_ = np.zeros(column)
    program.col_upper_ = np.full(column, highspy.kHighsInf)
    lower = [float(counts[key[1]]) if key[0] == "all" else -highspy.kHighsInf for key in rows]
    upper = [float(counts[key[1]]) if key[0] == "all" else 0.0 for key in rows]
    program.row_lower_, program.row_upper_ = np.array(lower), np.array(upper)
    matrix = program.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = np.cumsum([0, *(len(row) for row in rows.values())])
    matrix.index_ = np.array([place for row in rows.values() for place, _ in row], dtype=np.int32)
    matrix.value_ = np.array([value for row in rows.values() for _, value in row])
    highs.passModel(program)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SystemExit(f"the linear program is {highs.getModelStatus()}")
    return float(highs.getInfo().objective_function_value)


if __name__ == "__main__":
    main(sys.argv[1])
