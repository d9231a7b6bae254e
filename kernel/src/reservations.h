// Reserved capacity: how many instances of each reservation this plan may still count on.
//
// A claim takes one instance of every reservation that it may become until it is narrowed; a pod
// that could use a reservation waits for the next plan while all instances are promised.
#pragma once

#include <map>
#include <optional>

#include "claim_class.h"

namespace joiner {

class Reservations {
public:
    // `left`: instances per reservation.
    explicit Reservations(Amounts left) : left_(std::move(left)) {}

    bool any() const { return !left_.empty(); }
    const Amounts& left() const { return left_; }
    // Returns the reserved offerings with room and an instance left; nothing if none is reserved.
    std::optional<Mask> usable(const ClaimClass& known, const Amount* used) const;
    // Returns the offerings of a class that are of no reservation.
    Mask unreserved(const ClaimClass& known) const;
    // Lets a claim hold just what it may still become, and releases the rest.
    void hold(int claim, const ClaimClass& known, const Amount* used);

private:
    Amounts left_;
    std::map<int, std::vector<int>> held_;
};

}  // namespace joiner
