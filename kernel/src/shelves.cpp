#include "shelves.h"

namespace joiner {
namespace {

// How many pods there may be matters little for their order, and differs by size.
constexpr std::size_t kPods = 2;
constexpr double kAlike = 1.15;

bool is_alike(const Amount* one, const Amount* other, std::size_t columns) {
    for (std::size_t column = 1; column < columns; ++column) {
        if (column == kPods) continue;
        const double left = static_cast<double>(one[column]) * static_cast<double>(other[0]);
        const double right = static_cast<double>(other[column]) * static_cast<double>(one[0]);
        if (left > right * kAlike || right > left * kAlike) return false;
    }
    return true;
}

}  // namespace

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
    found.alike = alike(found.places, columns);
    return found;
}

std::vector<std::vector<int>> Shelves::alike(const std::vector<Shelf::Place>& places,
                                             std::size_t columns) {
    std::vector<std::vector<int>> found;
    for (int index = 0; index < static_cast<int>(places.size()); ++index) {
        const auto same = [&](const std::vector<int>& group) {
            return is_alike(places[group.front()].room, places[index].room, columns);
        };
        const auto group = std::find_if(found.begin(), found.end(), same);
        if (group == found.end()) {
            found.push_back({index});
        } else {
            group->push_back(index);
        }
    }
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
