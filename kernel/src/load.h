// A claim as the search sees it: what it may become, who is on it, what it costs.
#pragma once

#include "lots.h"
#include "shelves.h"

namespace joiner {

struct Load {
    // What it may become, as its pods left it, and which rows alone.
    int known;
    int allowance = kNoAllowance;
    // Of the cheapest that has room.
    Amount price = 0;
    // What its pods are worth.
    double worth = 0;
    Amounts used;
    // (lot, pods), each lot once.
    std::vector<std::pair<int, Amount>> pods;
    HostCounts hosts;
    // The claim of the plan that it is still; -1 if it was changed.
    int origin = -1;
    // What is left of it without the pods that may move: index of that; -1 for nothing.
    int core = -1;
    // Whether any of its pods may move, and whether nothing about it may change.
    bool moves = false;
    bool fixed = false;

    double waste() const { return static_cast<double>(price) - worth; }
};

// Adds pods of a lot to a claim, which becomes that class.
inline void put(Load& load, const Lots& lots, int lot, Amount pods, int known) {
    const Lot& one = lots[lot];
    load.known = known;
    load.moves |= one.movable;
    load.worth += one.worth * static_cast<double>(pods);
    add(load.used.data(), *one.request, pods);
    count(load.hosts, one, pods);
    const auto there = std::find_if(load.pods.begin(), load.pods.end(),
                                    [&](const auto& part) { return part.first == lot; });
    if (there == load.pods.end()) {
        load.pods.emplace_back(lot, pods);
    } else {
        there->second += pods;
    }
}

}  // namespace joiner
