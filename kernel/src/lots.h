// Which pods of a plan may change places, and what holds for them wherever they go.
//
// A pod that is counted over a label key, or looks at others over one, stays in its domain of that
// key: then all counts stay as they are. On hosts there are counts of each claim, which may change
// within what rules say. Pods of which more than that has to be minded stay where they are.
#pragma once

#include <map>
#include <set>
#include <tuple>

#include "packing.h"

namespace joiner {

// On one claim there are no more pods of those that a counter counts.
struct HostRule {
    int counter;
    Amount most;
};

// Pods of one group that were placed by one ask, in the same domains: any of them is like any
// other.
struct Lot {
    int group;
    int ask;
    const Request* request;
    // What such a pod costs at least.
    double worth;
    // They stay in pools of at least this weight.
    int weight;
    bool movable;
    // Whether no two of them can be on one node.
    bool alone;
    // Alternatives of labels, and the domains to stay in, as classes are narrowed by.
    std::vector<int> places;
    int bounds;
    // Label keys of which the node must be in one domain.
    std::vector<int> keys;
    // Whether certain spread constraints look at their node.
    std::vector<std::pair<int, bool>> seen;
    // Counters of hosts that count them, and what they ask of counters.
    std::vector<int> counted;
    std::vector<HostRule> rules;
};

// What the pods that a counter counts on one claim come to, and the most that pods there suffer.
struct HostCount {
    int counter;
    Amount total = 0;
    Amount most = kUnbounded;
};
using HostCounts = std::vector<HostCount>;

// Returns how many more pods of a lot a claim with these counts takes; below 0 if there are too
// many.
Amount most_more(const HostCounts& counts, const Lot& lot);
void count(HostCounts& counts, const Lot& lot, Amount pods);

class Lots {
public:
    // `worth`: of a pod by group; `weights`: by pool.
    Lots(Packing& packing, std::vector<double> worth, std::vector<int> weights);

    // Whether any pod may move: not where nodes without certain pods count against others.
    bool any_may_move() const { return any_may_move_; }
    int size() const { return static_cast<int>(all_.size()); }
    const Lot& operator[](int lot) const { return all_[lot]; }
    // Returns the lot that pods on a claim of a class are of; `fixed`: they are to stay there.
    int of(const Placement& placement, int known, bool fixed);
    // Returns the lot of pods like these that are to stay where they are.
    int held(int lot);
    // Whether a rule about a counter may rely on all hosts having some of its pods.
    bool relies_on_all(int counter) const { return relying_.count(counter) > 0; }
    // Returns what a class becomes with pods of a lot; -1 if they cannot be there.
    int joined(int known, int lot) {
        const auto row = static_cast<std::size_t>(known);
        if (row < joined_.size() && !joined_[row].empty() && joined_[row][lot] != kUnknown) {
            return joined_[row][lot];
        }
        return find_joined(known, lot);
    }
    // Returns what an empty claim of a pool becomes with pods of a lot; -1 if they cannot be there.
    int opened(int pool, int lot);
    // Whether pods of a lot may go on being on a claim that has become this.
    bool holds(int known, int lot);

private:
    static constexpr int kUnknown = -2;

    // What a group's ask means for its pods, whatever claim they are on.
    struct Kind {
        bool movable;
        std::vector<int> keys;
        std::vector<int> admissions;
        std::vector<int> counted;
        std::vector<HostRule> rules;
    };
    using Content = std::tuple<int, int, int, std::vector<int>, std::vector<bool>, bool>;

    Kind kind(const Ask& ask);
    int counter(int tally);
    // Returns whether a spread constraint looks at claims of a class; nothing if that is open.
    std::optional<bool> seen(int admission, int known);
    int find_joined(int known, int lot);
    int narrowed(int known, int lot);

    Packing& packing_;
    Topology& topology_;
    ClaimClasses& classes_;
    std::vector<double> worth_;
    std::vector<int> weights_;
    bool any_may_move_ = true;
    // Tallies that some pod looks at, and those of them whose pods may not leave or come to hosts:
    // somebody has to be near them, or came before them.
    std::set<int> active_;
    std::set<int> kept_;
    std::set<int> relying_;
    std::map<int, int> counters_;
    std::map<int, Kind> kinds_;
    std::vector<Lot> all_;
    std::map<Content, int> by_content_;
    // By pool.
    std::vector<int> roots_;
    // By class, then by lot.
    std::vector<std::vector<int>> joined_;
};

}  // namespace joiner
