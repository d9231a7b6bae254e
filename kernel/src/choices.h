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

private:
    // Most combinations of spread domains that are tried for one pod.
    static constexpr int kMost = 64;

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
