// The state of packing: standing bins first, then the claims of this plan.
//
// What is placed here never takes what is free of a standing bin, nor what the frontier of a
// claim's class leaves, below zero.
#pragma once

#include "claim_class.h"
#include "numbers.h"

namespace joiner {

// So many pods of one group on one bin, by one of their asks.
struct Placement {
    int group;
    int ask;
    int bin;
    Amount count;
};

class Bins {
public:
    Bins(Matrix free, const ClaimClasses& classes);

    int standing() const { return static_cast<int>(free_.rows()); }
    int claims() const { return static_cast<int>(class_of_.size()); }
    int size() const { return standing() + claims(); }

    const Matrix& free() const { return free_; }
    const Amount* free(int bin) const { return free_.row(bin); }

    // The class of a claim, what its pods ask for, and how many they are.
    int class_of(int claim) const { return class_of_[claim]; }
    const Amount* used(int claim) const { return used_.row(claim); }
    Amount pods(int claim) const { return pods_[claim]; }
    // In no resource is there more left on any type that a claim may become.
    const Amount* headroom(int claim) const { return headroom_.row(claim); }
    // What is left on the type that a claim is cheapest as, and the row of that type.
    const Amount* spare(int claim) const { return spare_.row(claim); }
    int cheapest_row(int claim) const { return cheapest_[claim]; }
    // All claims, those with fewest pods first.
    const std::vector<std::pair<Amount, int>>& emptiest() const { return emptiest_; }
    const Matrix& used() const { return used_; }

    // Takes room on a standing bin for so many pods.
    void take_standing(int bin, const Request& request, Amount count);
    // Takes room on a claim, which becomes that class.
    void take_claim(int claim, const Request& request, Amount count, int known);
    // Lets a claim be of another class that has room for its pods.
    void become(int claim, int known);
    // Adds empty claims of a class and returns the number of the first.
    int open(int known, int count);

private:
    // Finds what follows from the class of a claim and what is used of it.
    void settle(int claim, int known);

    const ClaimClasses& classes_;
    Matrix free_;
    std::vector<int> class_of_;
    Matrix used_;
    Matrix headroom_;
    Matrix spare_;
    std::vector<int> cheapest_;
    Amounts pods_;
    std::vector<std::pair<Amount, int>> emptiest_;
};

}  // namespace joiner
