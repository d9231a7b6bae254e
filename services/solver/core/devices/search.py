"""The search: which devices of one place all claims of a pod get, depth first.

One claim after the other, of each claim one request after the other, of each request its ways in
order of preference, of each way one device after the other, in the order of the place. The first
whole answer is taken. Devices of one request are chosen in ascending order, and of devices that
no request and no constraint tells apart only the first is tried, so that no set is tried twice.

Apart from what is seen and what is taken because it only asks both.

Source: kube-scheduler's structured allocator of 1.36. Differences on purpose: work is bounded by
steps, not by time; a set of equal devices is tried once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from libs.domain.device import MOST_DEVICES_OF_CLAIM, DeviceClaim
from libs.domain.taint import HARD_EFFECTS, tolerates
from services.solver.core.devices.bounding import most_devices
from services.solver.core.devices.constraints import Constraint
from services.solver.core.devices.offer import Candidate
from services.solver.core.devices.selecting import Broken, Selectors
from services.solver.core.devices.usage import CounterId, DeviceId, Ledger, View
from services.solver.core.devices.ways import NotFound, Seen, Way, share, ways

MOST_STEPS = 50_000
"""Devices that are tried for one pod at one place before it counts as refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A device that a request gets."""

    request: str
    candidate: Candidate
    part: dict[str, int] | None
    """What is taken of a shared device; None: all of it."""
    admin_access: bool
    counted: bool
    """Whether the device's counters are taken with it, nobody having a part of it before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What each claim gets."""

    given: tuple[tuple[Given, ...], ...]
    """Per claim, in the order of its requests."""
    steps: int = 0
    """How many devices were tried."""


def search(
    claims: Sequence[DeviceClaim], seen: Seen, selectors: Selectors, most_steps: int = MOST_STEPS
) -> Found | NotFound:
    """Return which devices the claims get.

    Args:
        claims: not allocated yet; their classes are there.
        seen: the place.
        selectors: judge of devices.
        most_steps: devices that are tried.
    """
    run = _Run(
        seen=seen,
        selectors=selectors,
        candidates=_free(claims, seen),
        steps_left=most_steps,
    )
    for claim in claims:
        requests = []
        for request in claim.requests:
            found = ways(request, seen, selectors)
            if isinstance(found, NotFound):
                return found
            requests.append(found)
        run.claims.append(requests)
        run.constraints.append([Constraint(one) for one in claim.constraints])
        run.given.append([])
    complete = all(map(run.is_possible, range(len(claims)))) and run.request(0, 0)
    steps = most_steps - run.steps_left
    if complete:
        return Found(given=tuple(tuple(one) for one in run.given), steps=steps)
    return NotFound(problem=run.problem, steps=steps)


def _free(claims: Sequence[DeviceClaim], seen: Seen) -> Sequence[Candidate]:
    """Return the devices of a place that claims could get any of, in its order."""
    candidates = seen.offer.candidates
    subs = (sub for one in claims for each in one.requests for sub in each.alternatives)
    if any(sub.admin_access for sub in subs):
        return candidates
    for template, view in ((False, seen.cluster), (True, seen.template)):
        for whole in view.wholes:
            candidates = tuple(
                one for one in candidates if one.template is not template or one.id not in whole
            )
    return candidates


@dataclass(slots=True, kw_only=True)
class _Run:
    """One search: what was chosen so far, all of it taken back on the way out of a dead end."""

    seen: Seen
    selectors: Selectors
    candidates: Sequence[Candidate]
    """Those that are not taken already."""
    steps_left: int
    problem: str = ""
    claims: list[list[list[Way]]] = field(default_factory=list)
    constraints: list[list[Constraint]] = field(default_factory=list)
    given: list[list[Given]] = field(default_factory=list)
    users: dict[tuple[bool, DeviceId], list[int]] = field(default_factory=dict)
    """Claims that have a device that is not shared."""
    parts: dict[tuple[bool, DeviceId], dict[str, int]] = field(default_factory=dict)
    counters: dict[bool, Ledger] = field(default_factory=lambda: {False: Ledger(), True: Ledger()})
    chosen: list[Candidate] = field(default_factory=list)
    twins: dict[int, object] = field(default_factory=dict)

    def is_possible(self, claim: int) -> bool:
        """Tell whether each constraint of a claim, looked at alone, can hold for all requests."""
        every = [way for ways in self.claims[claim] for way in ways]
        if not self.constraints[claim] or any(
            way.sub.admin_access or way.all is not None for way in every
        ):
            return True
        meant = [one for one in self.candidates if self._is_meant(every, one)]
        if any(one.device.shared for one in meant):
            return True  # one device may serve several requests
        return all(
            one.most_of_all(meant)
            >= sum(
                min(way.count if one.concerns(way.names) else 0 for way in ways)
                for ways in self.claims[claim]
            )
            for one in self.constraints[claim]
        )

    def _is_meant(self, every: Sequence[Way], one: Candidate) -> bool:
        """Tell whether any way is about a device; who cannot be asked counts as one that is."""
        return any(
            self.selectors.match(way.sub, one.pool.driver, one.device) is not False for way in every
        )

    def request(self, claim: int, request: int) -> bool:
        """Satisfy this request and all after it."""
        if claim == len(self.claims):
            return True
        if request == len(self.claims[claim]):
            return self.request(claim + 1, 0)
        ways = self.claims[claim][request]
        return any(self._way(claim, request, way) for way in ways)

    def _way(self, claim: int, request: int, way: Way) -> bool:
        if self.problem or len(self.given[claim]) + way.count > MOST_DEVICES_OF_CLAIM:
            return False
        if way.all is None:
            enough = self._most(claim, way) >= way.count
            return enough and self._some(claim, request, way, way.count, 0)
        return bool(way.all) and self._every(claim, request, way, way.all)

    def _every(self, claim: int, request: int, way: Way, needed: tuple[Candidate, ...]) -> bool:
        if not needed:
            return self.request(claim, request + 1)
        given = self._take(claim, way, needed[0])
        if given is None:
            return False
        if self._every(claim, request, way, needed[1:]):
            return True
        self._give_back(claim, way, given)
        return False

    def _some(self, claim: int, request: int, way: Way, missing: int, start: int) -> bool:
        """Choose as many devices as are missing from `start` on."""
        if not missing:
            return self.request(claim, request + 1)
        candidates = self.candidates
        dead: set[object] = set()
        for index in range(start, len(candidates) - missing + 1):
            one = candidates[index]
            twins = self._twins(index) if self._is_fresh(one) else None
            if self.problem or twins in dead:
                continue
            given = self._choose(claim, way, one)
            if given is not None:
                if self._some(claim, request, way, missing - 1, index + 1):
                    return True
                self._give_back(claim, way, given)
            if twins is not None:
                dead.add(twins)
        return False

    def _most(self, claim: int, way: Way) -> int:
        """Return how many devices the way could get at most as things are, or more than enough."""
        single: list[Candidate] = []
        bounded = bool(self.constraints[claim])
        for one in self.candidates:
            if self._is_in_use(claim, way.sub.admin_access, one):
                continue
            matches = self.selectors.match(way.sub, one.pool.driver, one.device)
            if isinstance(matches, Broken):
                # The search will meet it, or find all devices before.
                return way.count
            if matches:
                single.append(one)
                bounded = bounded or bool(one.device.counters)
            if not bounded and len(single) >= way.count:
                return way.count
        return most_devices(single, way.names, self.constraints[claim], self._counter_left)

    def _counter_left(self, one: Candidate, counter: CounterId) -> int:
        """Return how much of a counter is left."""
        offer = self.seen.offer
        budgets = offer.template_budgets if one.template else offer.budgets
        own = self.counters[one.template].counters.get(counter, 0)
        return budgets.get(counter, 0) - self._view(one).counter(counter) - own

    def _twins(self, index: int) -> object:
        """Return what is equal for devices that no request and no constraint tells apart."""
        found = self.twins.get(index)
        if found is None:
            one = self.candidates[index]
            ways = [way for claim in self.claims for ways in claim for way in ways]
            found = self.twins[index] = (
                one.template,
                one.pool.key,
                one.kind,
                tuple(self.selectors.match(way.sub, one.pool.driver, one.device) for way in ways),
                tuple(one.attribute(each.attribute) for own in self.constraints for each in own),
            )
        return found

    def _choose(self, claim: int, way: Way, one: Candidate) -> Given | None:
        """Take a device if the request is about it and it is free."""
        self.steps_left -= 1
        if self.steps_left < 0:
            self.problem = "no devices were found within the steps that a search may take"
            return None
        if self._is_in_use(claim, way.sub.admin_access, one):
            return None
        matches = self.selectors.match(way.sub, one.pool.driver, one.device)
        if isinstance(matches, Broken):
            self.problem = matches.problem
            return None
        return self._take(claim, way, one) if matches else None

    def _take(self, claim: int, way: Way, one: Candidate) -> Given | None:
        """Take a device that the request is about; None if something is against it."""
        key = one.template, one.id
        if self._is_in_use(claim, way.sub.admin_access, one):
            return None
        if not tolerates(way.sub.tolerations, one.device.taints, HARD_EFFECTS):
            return None
        part = share(one, way.asked, self._view(one), self.parts.get(key))
        if part is None or not self.seen.narrow([*self.chosen, one]):
            return None
        counted = not (one.device.shared and self._is_shared(one))
        if counted and not self._has_counters(one):
            return None
        if not self._hold(claim, way, one):
            if way.all is not None:
                # kube-scheduler takes it for a mistake in the claim and tries nothing else.
                self.problem = "it asks for all devices, and a constraint keeps one of them out"
            return None
        if counted:
            self.counters[one.template].count(one.id, one.device)
        if one.device.shared:
            self._add_part(key, part, 1)
        else:
            self.users.setdefault(key, []).append(claim)
        given = Given(
            request=way.names[-1],
            candidate=one,
            part=part if one.device.shared else None,
            admin_access=way.sub.admin_access,
            counted=counted,
        )
        self.given[claim].append(given)
        self.chosen.append(one)
        return given

    def _give_back(self, claim: int, way: Way, given: Given) -> None:
        one = given.candidate
        key = one.template, one.id
        self.chosen.pop()
        self.given[claim].pop()
        for constraint in self.constraints[claim]:
            constraint.remove(way.names, one)
        if given.counted:
            self.counters[one.template].count(one.id, one.device, -1)
        if given.part is None:
            self.users[key].pop()
        else:
            self._add_part(key, given.part, -1)

    def _hold(self, claim: int, way: Way, one: Candidate) -> bool:
        """Add the device to all constraints of its claim, or to none."""
        constraints = self.constraints[claim]
        for index, constraint in enumerate(constraints):
            if not constraint.add(way.names, one):
                for before in constraints[:index]:
                    before.remove(way.names, one)
                return False
        return True

    def _is_in_use(self, claim: int, admin_access: bool, one: Candidate) -> bool:
        users = self.users.get((one.template, one.id))
        if admin_access:
            return users is not None and claim in users
        return bool(users) or self._view(one).is_whole(one.id)

    def _is_fresh(self, one: Candidate) -> bool:
        """Tell whether nobody has any of the device, so that its twins are no better."""
        view = self._view(one)
        taken = view.is_whole(one.id) or self._is_shared(one)
        return not taken and not self.users.get((one.template, one.id))

    def _is_shared(self, one: Candidate) -> bool:
        return (one.template, one.id) in self.parts or self._view(one).is_shared(one.id)

    def _has_counters(self, one: Candidate) -> bool:
        """Tell whether the counters that the device takes are left."""
        return all(
            amount <= self._counter_left(one, (*one.id[:2], use.counter_set, name))
            for use in one.device.counters
            for name, amount in use.amounts.items()
        )

    def _view(self, one: Candidate) -> View:
        return self.seen.template if one.template else self.seen.cluster

    def _add_part(self, key: tuple[bool, DeviceId], part: dict[str, int], sign: int) -> None:
        there = self.parts.setdefault(key, {"": 0})
        there[""] += sign
        for name, amount in part.items():
            there[name] = there.get(name, 0) + sign * amount
        if not there[""]:
            del self.parts[key]
