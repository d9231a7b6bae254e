// Amounts of resources in base units, and rows of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace joiner {

using Amount = std::int64_t;
using Amounts = std::vector<Amount>;
using Mask = std::vector<std::uint8_t>;

// A number of pods that no node reaches.
inline constexpr Amount kUnbounded = Amount{1} << 40;

// Rows of equal length, one after the other.
class Matrix {
public:
    explicit Matrix(std::size_t columns = 0, Amounts cells = {})
        : columns_(columns), cells_(std::move(cells)) {}

    std::size_t columns() const { return columns_; }
    std::size_t rows() const { return columns_ ? cells_.size() / columns_ : 0; }
    const Amount* row(std::size_t index) const { return cells_.data() + index * columns_; }
    Amount* row(std::size_t index) { return cells_.data() + index * columns_; }
    const Amounts& cells() const { return cells_; }
    // Appends rows of zeros.
    void grow(std::size_t rows) { cells_.resize(cells_.size() + rows * columns_); }

private:
    std::size_t columns_;
    Amounts cells_;
};

// What every pod of a shape asks for.
struct Request {
    // One per resource.
    Amounts amounts;
    // Resources of which it asks for any.
    std::vector<int> columns;

    explicit Request(Amounts all) : amounts(std::move(all)) {
        for (std::size_t column = 0; column < amounts.size(); ++column) {
            if (amounts[column]) columns.push_back(static_cast<int>(column));
        }
    }

    // Tells whether a row has as much of all that is asked for; what is not may be overdrawn.
    bool fits(const Amount* room) const {
        return std::all_of(columns.begin(), columns.end(),
                           [&](int column) { return room[column] >= amounts[column]; });
    }

    // Returns how often it fits into a row, at least 0.
    Amount times(const Amount* room) const {
        Amount most = kUnbounded;
        for (const int column : columns) most = std::min(most, room[column] / amounts[column]);
        return std::max<Amount>(most, 0);
    }
};

// Tells whether a row has as much as another one in every column.
inline bool covers(const Amount* room, const Amount* other, std::size_t columns) {
    for (std::size_t column = 0; column < columns; ++column) {
        if (room[column] < other[column]) return false;
    }
    return true;
}

// Adds `count` times what is asked for to a row.
inline void add(Amount* row, const Request& request, Amount count) {
    for (const int column : request.columns) row[column] += count * request.amounts[column];
}

}  // namespace joiner
