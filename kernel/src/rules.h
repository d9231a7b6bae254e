// What pods ask for: room, places, and what other pods mean for them.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "domain_set.h"
#include "numbers.h"

namespace joiner {

struct SpreadRule {
    int tally;
    Amount max_skew;
    // 0 where the constraint says nothing of it.
    Amount min_domains;
    // 1 if the pod counts itself.
    Amount own;
};

// Terms that one pod has to match together, one tally per key.
struct AffinityRule {
    std::vector<int> tallies;
    // Whether the pod matches its own terms, so that it may be the first.
    bool own;
};

// Pods to keep away from, and whether the pod is itself counted there.
struct ApartRule {
    int tally;
    bool own;
};

struct Rules {
    std::vector<SpreadRule> spread;
    std::vector<AffinityRule> affinity;
    std::vector<ApartRule> apart;
    // Tallies of the pods that use a volume which is yet to be made where the first of them goes;
    // until they are released.
    std::vector<int> together;
    // Volume claims that a single pod at a time may use.
    std::vector<int> exclusive;
    // Keys of which a claim must be in one domain, since the pod is counted there; ascending.
    std::vector<int> pins;

    bool none() const {
        return spread.empty() && affinity.empty() && apart.empty() && together.empty() &&
               exclusive.empty() && pins.empty();
    }
};

// A shape of pods, as far as their being somewhere matters.
struct Shape {
    // Tallies that count them.
    std::vector<int> counted;
    // Volume claims that they suffer no other user of.
    std::vector<int> holds;
    // Whether they have something of a node for themselves, or attach volumes.
    bool limited = false;
    // Whether no two of them can be on one node for that.
    bool alone = false;
    bool devices = false;
};

struct Ask {
    int shape;
    // By which the algebra knows labels, names and taints that it asks for.
    int site;
    // Alternatives of labels of a new node.
    std::vector<int> places;
    // Whether it may be anywhere at all.
    bool anywhere;
    Request request;
    Rules rules;
    // Domains that exist only on paper and were not to be had, by key.
    std::map<int, DomainSet> unreachable;
    // Whether hosts that could be bought no longer count as there.
    bool real_hosts = false;
};

// Daemons that other pods look at and that come to a new node before any other pod.
struct Arrivals {
    std::vector<int> shapes;
    // Those of which that depends on what is bought in the end.
    std::vector<int> perhaps;
    // Whether they come to some nodes of the pool only.
    bool partly = false;
    // Which of the ways in which the pool's open labels may be settled.
    int settled = 0;
    // Keys of which a claim must be in one domain, since they are counted there.
    std::vector<int> pins;
};

}  // namespace joiner
