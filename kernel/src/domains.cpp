#include "domains.h"

#include <algorithm>
#include <numeric>

namespace joiner {

int Domains::key(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, static_cast<int>(keys_.size()));
    if (is_new) keys_.emplace_back();
    return found->second;
}

int Domains::number(int key, const std::string& value) {
    Key& known = keys_.at(key);
    const int next = static_cast<int>(known.values.size());
    const auto [found, is_new] = known.numbers.try_emplace(value, next);
    if (is_new) known.values.push_back(value);
    return found->second;
}

const std::vector<int>& Domains::places(int key) const {
    const Key& known = keys_[key];
    if (known.places.size() != known.values.size()) {
        std::vector<int> order(known.values.size());
        std::iota(order.begin(), order.end(), 0);
        // UTF-8 sorts as code points do. Absence stays first.
        std::sort(order.begin() + 1, order.end(),
                  [&](int one, int two) { return known.values[one] < known.values[two]; });
        known.places.resize(order.size());
        for (std::size_t place = 0; place < order.size(); ++place) {
            known.places[order[place]] = static_cast<int>(place);
        }
    }
    return known.places;
}

}  // namespace joiner
