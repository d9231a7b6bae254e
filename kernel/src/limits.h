// What a pool may still buy: limits less what is there and what this plan buys.
//
// A new claim is charged with the largest capacity that it may still become.
#pragma once

#include <map>
#include <optional>

#include "numbers.h"

namespace joiner {

class Limits {
public:
    // `capacities`: per row the full capacity in the limited resources; `nodes`: how many are left.
    Limits(Matrix capacities, Amounts left, std::optional<Amount> nodes)
        : capacities_(std::move(capacities)), left_(std::move(left)), nodes_(nodes) {}

    bool limited() const { return nodes_ || !left_.empty(); }
    bool nodes_left() const { return !nodes_ || *nodes_ > 0; }
    std::optional<Amount> nodes() const { return nodes_; }
    const Amounts& left() const { return left_; }
    // Which rows may still be bought; nothing if no resource is limited.
    std::optional<Mask> rows() const;
    // Counts a claim that may become any of these rows; anew if it was counted.
    void charge(int claim, const Mask& rows);
    // The claims that are counted, ascending.
    std::vector<int> claims() const;

private:
    Matrix capacities_;
    Amounts left_;
    std::optional<Amount> nodes_;
    std::map<int, Amounts> charged_;
};

}  // namespace joiner
