// The domains that spread constraints look at: a plan that is changed must not add to them.
//
// A domain without pods that comes up beside full ones breaks constraints that were kept; one that
// goes breaks those that want several.
#pragma once

#include <map>

#include "packing.h"

namespace joiner {

class Sights {
public:
    explicit Sights(Packing& packing);

    // Counts claims of a class, or no longer.
    void add(int known) { count(known, 1); }
    void remove(int known) { count(known, -1); }
    // Whether claims of these classes may take the place of those.
    bool may_replace(const std::vector<int>& those, const std::vector<int>& these);

private:
    // What constraints over one key look at that admit the same nodes.
    struct Sight {
        int key;
        int admission;
        // Whether one of them wants several domains.
        bool several = false;
        DomainSet standing;
        // By domain: claims that may be there, and claims that will be.
        std::map<int, int> possible;
        std::map<int, int> certain;
    };

    // Returns by sight where claims of a class may be seen.
    const std::vector<DomainSet>& there(int known);
    DomainSet where(const Sight& sight, int known);
    void count(int known, int by);
    bool keeps_several(const Sight& sight, std::size_t index, const std::vector<int>& those,
                       const std::vector<int>& these);

    Topology& topology_;
    ClaimClasses& classes_;
    std::vector<Sight> all_;
    std::map<int, std::vector<DomainSet>> there_;
};

}  // namespace joiner
