// What claims of a class can be bought as, cheapest first.
//
// Rows that are neither cheaper nor larger than another one are left out: what fits on them fits
// on the other. What is reserved is left out, too: of that there is an end.
#pragma once

#include <unordered_map>
#include <vector>

#include "claim_class.h"

namespace joiner {

// No row can be had at this price.
inline constexpr Amount kNever = std::numeric_limits<Amount>::max();

struct Shelf {
    struct Place {
        int row;
        Amount price;
        const Amount* room;
    };
    // Cheapest first.
    std::vector<Place> places;
    // Indices of the places, those together that are alike in shape: in what there is of resources
    // for each other.
    std::vector<std::vector<int>> alike;
    // By row, kNever for those that are not sold.
    Amounts price;

    // Returns the cheapest place with this much room; nothing if there is none.
    const Place* cheapest(const Amount* used, std::size_t columns) const {
        for (const Place& place : places) {
            if (covers(place.room, used, columns)) return &place;
        }
        return nullptr;
    }
};

// Rows of a pool with limits that some claims may be, so that they stay within the limits.
struct Allowance {
    int pool;
    Mask rows;
};

// Any row.
inline constexpr int kNoAllowance = -1;

class Shelves {
public:
    // `room`: by pool, rows x resources.
    Shelves(const ClaimClasses& classes, std::vector<Matrix> room,
            std::vector<Allowance> allowances)
        : classes_(classes), room_(std::move(room)), allowances_(std::move(allowances)) {}

    const Shelf& of(int known, int allowance);
    int pool_of(int allowance) const { return allowances_[allowance].pool; }
    // Whether a claim with so much used may be launched as something reserved.
    bool reserved(int known, const Amount* used) const;

private:
    static std::vector<std::vector<int>> alike(const std::vector<Shelf::Place>& places,
                                               std::size_t columns);
    Shelf made(const ClaimClass& known, const Mask* allowed) const;

    const ClaimClasses& classes_;
    std::vector<Matrix> room_;
    std::vector<Allowance> allowances_;
    std::unordered_map<std::uint64_t, Shelf> known_;
};

}  // namespace joiner
