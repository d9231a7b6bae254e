// Ruin and recreate: takes the pods out of a few claims that cost more than they are worth, finds
// places for them again, and keeps that unless it is dearer.
//
// Only claims of this plan change, and which of their pods are where. `lots.h` says what keeps the
// rules of pods, `sights.h` those of spread constraints about nodes without pods, an allowance per
// claim the limits of pools.
#pragma once

#include "load.h"
#include "random.h"
#include "recreation.h"
#include "sights.h"

namespace joiner {

// Where a search begins, besides with what was packed.
struct Start {
    // By pool: rows x resources, and its weight.
    std::vector<Matrix> room;
    std::vector<int> weights;
    // By claim: its class, and its allowance, kNoAllowance for those without.
    std::vector<int> classes;
    std::vector<int> allowance;
    std::vector<Allowance> allowances;
    // By group: what a pod costs at least.
    std::vector<double> worth;
    // By resource: how much it weighs in the size of a pod.
    std::vector<double> weight;
    std::uint64_t seed;
};

class Search {
public:
    // The packing has to stay where it is.
    Search(Packing& packing, Start start);
    Search(const Search&) = delete;

    // Whether there is anything to search through.
    bool any() const { return movers_ > 0; }
    // Tries so many changes.
    void advance(int iterations);
    // Whether any claim has changed.
    bool changed() const { return changed_; }
    const std::vector<Load>& loads() const { return loads_; }
    const Lots& lots() const { return lots_; }
    Amount price() const;

private:
    // A change in the making.
    struct Ruin {
        // Claims that are taken apart, what is there instead, and what they cost.
        std::vector<int> taken;
        std::vector<Load> loads;
        Amount price = 0;
        // Claims into whose room pods are put, and what they become.
        std::vector<int> joined;
        std::vector<Load> filled;
    };

    bool is_fixed(const Load& load, const Market& market) const;
    bool hold_crowded(Load& load, bool all_open);
    void settle(Load& load);
    void step();
    std::size_t work();
    void pick(std::size_t count, Ruin& ruin);
    std::vector<Part> taken_out(Ruin& ruin, double noise);
    void recreate(Ruin& ruin, std::vector<Part> parts, std::vector<double> weight);
    void fill_others(Ruin& ruin);
    bool keep(Ruin& ruin);

    ClaimClasses& classes_;
    const Topology& topology_;
    Lots lots_;
    Shelves shelves_;
    Sights sights_;
    Recreation recreation_;
    std::vector<double> weight_;
    Random random_;
    // Claims, and what is left of some of them without pods that may move.
    std::vector<Load> loads_;
    std::vector<Load> cores_;
    // How many claims have pods that may move.
    int movers_ = 0;
    int wholes_ = 0;
    bool changed_ = false;
};

}  // namespace joiner
