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
    // A claim: its class, and what its pods use.
    struct Claim {
        int known;
        const Amount* used;
    };
    explicit Sights(Packing& packing);

    // Counts a claim, or no longer.
    void add(const Claim& claim) { count(claim, 1); }
    void remove(const Claim& claim) { count(claim, -1); }
    // Whether these claims may take the place of those.
    bool may_replace(const std::vector<Claim>& those, const std::vector<Claim>& these);

private:
    // What constraints over one key look at that admit the same nodes.
    struct Sight {
        int key;
        int admission;
        // Whether one of them wants several domains.
        bool several = false;
        DomainSet standing;
        // The same and those that somebody has counted on.
        DomainSet known;
        // By domain: claims that may be there, and claims that will be.
        std::map<int, int> possible;
        std::map<int, int> certain;
    };

    // What a class may become of all that a constraint looks at, and in which domains that is.
    using Parts = std::vector<std::pair<int, DomainSet>>;

    // Returns where a claim may be seen.
    DomainSet there(std::size_t sight, const Claim& claim);
    Parts parts(const Sight& sight, int known);
    void count(const Claim& claim, int by);
    bool keeps_several(std::size_t index, const std::vector<Claim>& those,
                       const std::vector<Claim>& these);

    Topology& topology_;
    ClaimClasses& classes_;
    std::vector<Sight> all_;
    // By class, then by sight.
    std::map<int, std::vector<Parts>> parts_;
};

}  // namespace joiner
