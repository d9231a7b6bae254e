// The verdict on an ask: where may its next pods go, given where all others are.
//
// Source: kube-scheduler's PodTopologySpread and InterPodAffinity; on hosts the minimum is zero
// while anything can be bought, since an empty node can always be had.
#pragma once

#include "topology.h"

namespace joiner {

struct Verdict {
    // Allowed domains by key, in order of the keys.
    Bounds bounds;
    // For each key of a spread constraint its allowed domains, emptiest first. Of equally empty
    // ones that comes first in which the first pool buys a node most cheaply.
    std::vector<std::pair<int, std::vector<int>>> ranked;
    // Keys of which a claim must be in one domain, since the pod is counted there.
    std::vector<int> pins;
    // Most pods per bin; nothing where there is no bound.
    std::optional<Amounts> caps;
    // Most pods on a bin that is still to be opened.
    Amount new_cap = kUnbounded;
    // How many pods may be placed before asking again.
    Amount batch = kUnbounded;
};

// Returns where the next pods of an ask may go; nothing if nowhere.
//
// `arrivals`: who comes to a new node first; then the verdict is about new nodes only.
std::optional<Verdict> verdict(Topology& topology, int ask, const Arrivals* arrivals = nullptr);

// Returns where the next pods may go by both verdicts on new nodes; nothing if nowhere.
std::optional<Verdict> stricter(const Verdict& one, const Verdict& other);

}  // namespace joiner
