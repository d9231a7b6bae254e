#include "shelves.h"

#include <numeric>

namespace joiner {

const Shelf& Shelves::of(int known, int allowance) {
    const auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(known)) << 32 |
                     static_cast<std::uint32_t>(allowance);
    const auto [found, is_new] = known_.try_emplace(key);
    if (is_new) {
        const Mask* allowed = allowance == kNoAllowance ? nullptr : &allowances_[allowance].rows;
        found->second = made(classes_[known], allowed);
    }
    return found->second;
}

Shelf Shelves::made(const ClaimClass& known, const Mask* allowed) const {
    const Matrix& room = room_[known.pool];
    const std::size_t columns = room.columns();
    Shelf found;
    found.price.assign(room.rows(), kNever);
    for (const int offering : known.ranked()) {
        const int row = known.sold.row[offering];
        if (known.sold.reservation[offering] >= 0 || (allowed && !(*allowed)[row])) continue;
        const Amount price = known.sold.price[offering];
        if (found.price[row] <= price) continue;
        found.price[row] = price;
        found.places.push_back({row, price, room.row(row)});
    }
    std::stable_sort(found.places.begin(), found.places.end(),
                     [](const auto& one, const auto& two) { return one.price < two.price; });
    std::vector<Shelf::Place> kept;
    for (const Shelf::Place& place : found.places) {
        const auto reaches = [&](const auto& one) { return covers(one.room, place.room, columns); };
        if (std::none_of(kept.begin(), kept.end(), reaches)) kept.push_back(place);
    }
    found.places = std::move(kept);
    found.alike.resize(found.places.size());
    std::iota(found.alike.begin(), found.alike.end(), 0);
    const auto shape = [&](int index) {
        const Amount* own = found.places[index].room;
        return columns > 1 ? static_cast<double>(own[0]) / static_cast<double>(own[1] + 1) : 0.0;
    };
    std::stable_sort(found.alike.begin(), found.alike.end(),
                     [&](int one, int two) { return shape(one) < shape(two); });
    return found;
}

bool Shelves::reserved(int known, const Amount* used) const {
    const ClaimClass& one = classes_[known];
    const Matrix& room = room_[one.pool];
    return std::any_of(one.ranked().begin(), one.ranked().end(), [&](int offering) {
        return one.sold.reservation[offering] >= 0 &&
               covers(room.row(one.sold.row[offering]), used, room.columns());
    });
}

}  // namespace joiner
