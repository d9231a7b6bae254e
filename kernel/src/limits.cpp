#include "limits.h"

namespace joiner {

std::optional<Mask> Limits::rows() const {
    if (left_.empty()) return std::nullopt;
    Mask found(capacities_.rows());
    for (std::size_t row = 0; row < found.size(); ++row) {
        found[row] = covers(left_.data(), capacities_.row(row), left_.size());
    }
    return found;
}

void Limits::charge(int claim, const Mask& rows) {
    if (!limited()) return;
    Amounts most(left_.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!rows[row]) continue;
        for (std::size_t column = 0; column < most.size(); ++column) {
            most[column] = std::max(most[column], capacities_.row(row)[column]);
        }
    }
    const auto [before, is_new] = charged_.try_emplace(claim, most.size(), 0);
    if (is_new && nodes_) --*nodes_;
    for (std::size_t column = 0; column < most.size(); ++column) {
        left_[column] += before->second[column] - most[column];
    }
    before->second = std::move(most);
}

std::vector<int> Limits::claims() const {
    std::vector<int> found;
    for (const auto& [claim, _] : charged_) found.push_back(claim);
    return found;
}

}  // namespace joiner
