// The domains to which a claim may be narrowed for a pod, best balanced first.
#pragma once

#include "verdict.h"

namespace joiner {

class Choices {
public:
    Choices(ClaimClasses& classes, const Verdict& where)
        : classes_(classes), where_(where), chosen_(where.ranked.size()) {}

    // Goes on to the next way; false if there is none.
    bool next() {
        if (tried_ == kMost || (tried_ && !advance())) return false;
        ++tried_;
        bounds_ = classes_.bounds(combined());
        return true;
    }
    int bounds() const { return bounds_; }
    // Whether there are so many ways that it pays to know beforehand which ones lead nowhere.
    bool many() const {
        return std::any_of(where_.ranked.begin(), where_.ranked.end(),
                           [](const auto& one) { return one.second.size() > kFew; });
    }
    // Tells whether this way is in some domains, for each ranked key those.
    bool within(const std::vector<DomainSet>& domains) const {
        for (std::size_t index = 0; index < domains.size(); ++index) {
            if (!domains[index].has(where_.ranked[index].second[chosen_[index]])) return false;
        }
        return true;
    }

private:
    // Most combinations of spread domains that are tried for one pod.
    static constexpr int kMost = 64;
    static constexpr std::size_t kFew = 8;

    // The domains of the last key change first.
    bool advance() {
        std::size_t last = chosen_.size();
        while (last > 0 && ++chosen_[last - 1] == where_.ranked[last - 1].second.size()) {
            chosen_[--last] = 0;
        }
        return last > 0;
    }

    Bounds combined() const {
        Bounds found = where_.bounds;
        for (std::size_t index = 0; index < chosen_.size(); ++index) {
            const auto& [key, order] = where_.ranked[index];
            for (Bound& bound : found) {
                if (bound.key == key) bound.within = DomainSet::of(order[chosen_[index]]);
            }
        }
        return found;
    }

    ClaimClasses& classes_;
    const Verdict& where_;
    std::vector<std::size_t> chosen_;
    int tried_ = 0;
    int bounds_ = 0;
};

}  // namespace joiner
