"""A lower bound in no time, for answers of the fast stage: coarse, but always there.

Apart from the near one because it looks at sums alone: what all pods ask for, weighed, less what
stands, divided by the most that any type has for a price.
"""

from collections import Counter
from itertools import product

import numpy as np

from libs.domain.capacity import CapacityType
from libs.domain.resources import CPU, MEMORY
from services.solver.core.offers.template import Template
from services.solver.core.packing.bins import Bins
from services.solver.core.packing.problem import Problem
from services.solver.core.refining.bound import SAFE
from services.solver.core.refining.fluid import PriceOf
from services.solver.core.vectors import Bools, Floats, most_that_fit

_MOST_ALONE = 4
"""Groups, those with most pods, that are looked at one by one."""

_MIXES = tuple(product((1.0, 2.0, 4.0), (1.0, 2.0, 4.0)))
"""Weights of cpu and memory that are tried besides each resource alone."""


def quick_bound(problem: Problem, bins: Bins, price_of: PriceOf) -> int:
    """Return nano-dollars per hour that no plan for the pods which have a place can go below."""
    if not bins.claims:
        return 0
    net = bins.used.sum(axis=0).astype(np.float64)
    of_use = _of_use(problem, bins)
    net -= np.maximum(bins.free[of_use], 0).sum(axis=0)
    offers = [_rows(problem, template, price_of) for template in problem.templates]
    room = np.concatenate([one[0] for one in offers])
    price = np.concatenate([one[1] for one in offers])
    reserved = np.sum([one[2] for one in offers], axis=0)
    net -= reserved
    weights = _weights(net)
    worth = room @ weights.T
    ratio = np.full_like(worth, np.inf)
    np.divide(worth, price[:, None], out=ratio, where=price[:, None] > 0)
    most = ratio.max(axis=0, initial=0.0)
    asked = weights @ np.maximum(net, 0)
    found = np.divide(asked, most, out=np.zeros_like(asked), where=most > 0)
    alone = 0.0 if of_use.any() or reserved.any() else _alone(problem, bins, room, price)
    return int(max(found.max(initial=0.0), alone) * (1 - SAFE))


def _alone(problem: Problem, bins: Bins, room: Floats, price: Floats) -> float:
    """Return what the pods of one group cost if all others cost nothing, of a few groups the most.

    Whole pods are counted: with little to buy that is what costs.
    """
    placed: Counter[int] = Counter()
    for one in bins.placements:
        placed[one.group] += one.size
    known, most = room.astype(np.int64), 0.0
    for group, count in placed.most_common(_MOST_ALONE):
        vector = problem.dimensions.requests(problem.groups[group].shape.requests)
        asked = np.flatnonzero(vector)
        often = np.minimum(most_that_fit(known[:, asked], vector[asked]), count)
        each = np.divide(price, often, out=np.full_like(price, np.inf), where=often > 0)
        least = each.min(initial=np.inf)
        most = max(most, count * least if np.isfinite(least) else 0.0)
    return most


def _of_use(problem: Problem, bins: Bins) -> Bools:
    """Return (n_standing,): bins on which the least demanding pods may have room."""
    names = problem.dimensions.names
    found = np.ones(len(bins.standing), np.bool_)
    for name in (CPU, MEMORY):
        least = min((group.shape.requests.get(name) for group in problem.groups), default=0)
        found &= bins.standing.free[:, names.index(name)] >= least
    return found


def _rows(problem: Problem, template: Template, price_of: PriceOf) -> tuple[Floats, Floats, Floats]:
    """Return room and least price of a pool's rows, and the room of all that is reserved."""
    columns = template.columns
    sold = template.offerings
    reserved = np.zeros(template.room.shape[1])
    if columns.reservations and problem.reservations:
        held = np.array(
            [one.capacity_type == CapacityType.RESERVED for one in columns.offerings], np.bool_
        )
        if (sold & held).any():
            most = np.maximum(template.room[columns.row[sold & held]].max(axis=0), 0)
            reserved += most * sum(columns.reservations.values())
        sold = sold & ~held
    least = np.full(len(template.room), np.inf)
    np.minimum.at(least, columns.row[sold], price_of(template)[sold].astype(np.float64))
    known = np.isfinite(least)
    return np.maximum(template.room[known], 0).astype(np.float64), least[known], reserved


def _weights(net: Floats) -> Floats:
    """Return (n, n_resources): weights of the resources that are short, each alone and mixed."""
    short = net > 0
    each = np.diag(np.where(short, 1 / np.maximum(net, 1), 0))[short]
    if not short[:2].all():
        return each
    mixed = np.zeros((len(_MIXES), len(net)))
    mixed[:, :2] = np.array(_MIXES) / net[:2]
    return np.concatenate([each, mixed])
