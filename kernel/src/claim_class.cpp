#include "claim_class.h"

#include <algorithm>

#include "frontier.h"
#include "remembered.h"

namespace joiner {
namespace {

std::size_t hash_of(const Bounds& bounds) {
    std::size_t found = bounds.size();
    const auto mix = [&](std::uint64_t value) { found = found * 0x9E3779B97F4A7C15u + value; };
    for (const Bound& bound : bounds) {
        mix(static_cast<std::uint64_t>(bound.key));
        mix(bound.within.rest());
        for (const std::uint64_t word : bound.within.words()) mix(word);
    }
    return found;
}

}  // namespace

const ClaimClass::Made& ClaimClass::made() const {
    if (made_) return *made_;
    auto found = std::make_unique<Made>();
    const std::size_t columns = sold.room.columns();
    found->rows.resize(sold.room.rows());
    for (const int offering : sold.ranked) {
        if (!offerings[offering]) continue;
        found->ranked.push_back(offering);
        found->rows[sold.row[offering]] = 1;
    }
    Amounts cells;
    for (std::size_t row = 0; row < found->rows.size(); ++row) {
        if (found->rows[row]) {
            cells.insert(cells.end(), sold.room.row(row), sold.room.row(row) + columns);
        }
    }
    found->frontier = joiner::frontier(Matrix(columns, std::move(cells)));
    found->roof.assign(columns, std::numeric_limits<Amount>::min());
    for (std::size_t row = 0; row < found->frontier.rows(); ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            found->roof[column] = std::max(found->roof[column], found->frontier.row(row)[column]);
        }
    }
    made_ = std::move(found);
    return *made_;
}

const Matrix& ClaimClass::frontier() const { return made().frontier; }
const Amounts& ClaimClass::roof() const { return made().roof; }
const std::vector<int>& ClaimClass::ranked() const { return made().ranked; }
const Mask& ClaimClass::rows() const { return made().rows; }

bool ClaimClass::has_room(const Amount* used) const {
    const Matrix& most = frontier();
    for (std::size_t row = 0; row < most.rows(); ++row) {
        if (covers(most.row(row), used, most.columns())) return true;
    }
    return false;
}

Mask ClaimClass::rows_for(const Amount* used) const {
    Mask found = rows();
    for (std::size_t row = 0; row < found.size(); ++row) {
        if (found[row]) found[row] = covers(sold.room.row(row), used, sold.room.columns());
    }
    return found;
}

int ClaimClass::cheapest(const Amount* used) const {
    for (const int offering : ranked()) {
        if (covers(sold.room.row(sold.row[offering]), used, sold.room.columns())) return offering;
    }
    return -1;
}

int ClaimClass::cheapest_row(const Amount* used) const {
    const int offering = cheapest(used);
    return offering < 0 ? -1 : sold.row[offering];
}

int ClaimClasses::add_template(Template sold) {
    templates_.push_back(std::make_unique<Template>(std::move(sold)));
    return static_cast<int>(templates_.size()) - 1;
}

int ClaimClasses::add(int pool, Mask offerings, std::vector<MinValues> wanted) {
    const int id = static_cast<int>(all_.size());
    all_.push_back(std::make_unique<ClaimClass>(id, pool, *templates_[pool], std::move(offerings),
                                                std::move(wanted)));
    return id;
}

int ClaimClasses::bounds(Bounds bounds) {
    std::vector<int>& alike = bounds_by_hash_[hash_of(bounds)];
    for (const int id : alike) {
        if (bounds_[id] == bounds) return id;
    }
    alike.push_back(static_cast<int>(bounds_.size()));
    bounds_.push_back(std::move(bounds));
    return alike.back();
}

void ClaimClasses::place_leaves(int place, Values values) {
    if (left_.size() <= static_cast<std::size_t>(place)) left_.resize(place + 1);
    left_[place] = std::move(values);
}

// Tells whether some key has values here and there, and none in common.
static bool differ(const Values& here, const Values& there) {
    const Values& fewer = here.size() < there.size() ? here : there;
    const Values& more = &fewer == &here ? there : here;
    for (auto one = fewer.begin(); one != fewer.end();) {
        const int key = one->first;
        auto other = std::lower_bound(more.begin(), more.end(), std::pair(key, 0));
        bool common = other == more.end() || other->first != key;
        for (; one != fewer.end() && one->first == key; ++one) {
            common = common || std::binary_search(other, more.end(), *one);
        }
        if (!common) return true;
    }
    return false;
}

bool ClaimClasses::beyond(int known, const Bounds& bounds) const {
    return std::any_of(bounds.begin(), bounds.end(), [&](const Bound& bound) {
        const KeyView& there = view(known, bound.key);
        return there.closed && (there.domains & bound.within).empty();
    });
}

int ClaimClasses::narrow(int known, int place, int bounds) {
    const ClaimClass& before = *all_[known];
    const auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(place)) << 32 |
                     static_cast<std::uint32_t>(bounds);
    const auto found = before.narrowed_.find(key);
    if (found != before.narrowed_.end()) return found->second;
    // What is refused here is not kept: there may be as many as pairs of a claim and a domain.
    if (place >= 0 && static_cast<std::size_t>(place) < left_.size() &&
        differ(before.left_, left_[place])) {
        return -1;
    }
    if (beyond(known, bounds_[bounds])) return -1;
    return remembered(before.narrowed_, key,
                      [&] { return algebra_.narrow(known, place, bounds_[bounds]); });
}

int ClaimClasses::pinned(int known, const std::vector<int>& keys, const Amount* used) {
    for (const int key : keys) {
        const KeyView& there = view(known, key);
        if (there.domains.single() && !there.open) continue;
        const int offering = all_[known]->cheapest(used);
        if (offering < 0) return -1;
        const int lowest = there.numbers[there.group[offering]].front();
        known = narrow(known, kAnywhere, bounds({{key, DomainSet::of(lowest)}}));
        if (known < 0) return -1;
    }
    return known;
}

int ClaimClasses::root(int pool, const std::optional<Mask>& rows) {
    return remembered(roots_, {pool, rows.value_or(Mask())},
                      [&] { return algebra_.root(pool, rows ? &*rows : nullptr); });
}

int ClaimClasses::reached(int known, const std::vector<int>& arrivals) {
    return remembered(reached_, {known, arrivals},
                      [&] { return algebra_.reached(known, all_[known]->pool, arrivals); });
}

std::vector<int> ClaimClasses::split(int known, int key, const Request& request) {
    auto prices = this->prices(known, key, request);
    const std::vector<int>& places = domains_.places(key);
    std::sort(prices.begin(), prices.end(), [&](const auto& one, const auto& two) {
        return std::make_pair(one.second, places[one.first]) <
               std::make_pair(two.second, places[two.first]);
    });
    std::vector<int> found;
    for (const auto& [number, price] : prices) {
        const int narrower = narrow(known, kAnywhere, bounds({{key, DomainSet::of(number)}}));
        if (narrower >= 0 && narrower != known) found.push_back(narrower);
    }
    return found;
}

const KeyView& ClaimClasses::view(int known, int key) const {
    return remembered(all_[known]->views_, key, [&] { return algebra_.view(known, key); });
}

std::vector<std::pair<int, Amount>> ClaimClasses::prices(int known, int key,
                                                         const Request& request) const {
    const KeyView& there = view(known, key);
    const ClaimClass& one = *all_[known];
    std::map<int, Amount> least;
    std::size_t left = static_cast<std::size_t>(there.domains.size()) - there.domains.has(0);
    for (const int offering : one.ranked()) {
        if (!left) break;
        const Amount* room = one.sold.room.row(one.sold.row[offering]);
        if (!covers(room, request.amounts.data(), resources_)) continue;
        for (const int number : there.numbers[there.group[offering]]) {
            if (number) left -= least.emplace(number, one.sold.price[offering]).second;
        }
    }
    return {least.begin(), least.end()};
}

}  // namespace joiner
