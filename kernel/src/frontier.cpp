#include "frontier.h"

#include <numeric>

namespace joiner {

Matrix frontier(const Matrix& points) {
    const std::size_t columns = points.columns();
    std::vector<std::size_t> order(points.rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        return std::lexicographical_compare(points.row(other), points.row(other) + columns,
                                            points.row(one), points.row(one) + columns);
    });
    Amounts kept;
    for (const std::size_t candidate : order) {
        const Amount* point = points.row(candidate);
        bool reached = false;
        for (std::size_t at = 0; at < kept.size() && !reached; at += columns) {
            reached = covers(kept.data() + at, point, columns);
        }
        if (!reached) kept.insert(kept.end(), point, point + columns);
    }
    return Matrix(columns, std::move(kept));
}

}  // namespace joiner
