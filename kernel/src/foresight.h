// What came up in a plan only after pods were placed whom it concerns.
//
// All nodes of a plan are there when its pods are bound, in whatever order they come up. A spread
// constraint looks at every domain that there is, and one that nobody could fill counts as empty:
// pods that were spread before a later claim made such a domain could not be bound beside it.
#pragma once

#include <tuple>

#include "packing.h"

namespace joiner {

struct Surprise {
    int tally;
    // A domain; -1 for a host.
    int number;
    // How many pods came there later, by themselves; 0 where it is the domain that is new.
    Amount pods;
    // Whether the domain may still be avoided: it is one of several for the claims that make it.
    bool open;
    bool operator<(const Surprise& other) const {
        return std::tie(tally, number, pods) < std::tie(other.tally, other.number, other.pods);
    }
};

// Returns what a packing has to foresee for its pods to be bound once all its nodes are there.
//
// `hard`: by group the ask that its pods cannot give up, -1 for those that are not spread.
std::vector<Surprise> surprises(Packing& packing, const std::vector<int>& hard);

}  // namespace joiner
