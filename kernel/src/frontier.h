// The Pareto frontier of rooms: what fits under any row of it fits on some instance type.
#pragma once

#include <cstdint>
#include <vector>

namespace joiner {

using Amount = std::int64_t;

// Rows of equal length, one after the other.
class Matrix {
public:
    Matrix(std::size_t columns, std::vector<Amount> cells)
        : columns_(columns), cells_(std::move(cells)) {}

    std::size_t columns() const { return columns_; }
    std::size_t rows() const { return columns_ ? cells_.size() / columns_ : 0; }
    const Amount* row(std::size_t index) const { return cells_.data() + index * columns_; }
    const std::vector<Amount>& cells() const { return cells_; }

private:
    std::size_t columns_;
    std::vector<Amount> cells_;
};

// The rows that no other row reaches in every column, lexicographically largest first, each once.
Matrix frontier(const Matrix& points);

}  // namespace joiner
