#include "reservations.h"

#include <set>

namespace joiner {

std::optional<Mask> Reservations::usable(const ClaimClass& known, const Amount* used) const {
    Mask found(known.offerings.size());
    bool any_reserved = false;
    for (const int offering : known.ranked()) {
        const int reservation = known.sold.reservation[offering];
        const Amount* room = known.sold.room.row(known.sold.row[offering]);
        if (reservation < 0 || !covers(room, used, known.sold.room.columns())) continue;
        any_reserved = true;
        found[offering] = left_[reservation] > 0;
    }
    if (!any_reserved) return std::nullopt;
    return found;
}

Mask Reservations::unreserved(const ClaimClass& known) const {
    Mask found = known.offerings;
    for (std::size_t offering = 0; offering < found.size(); ++offering) {
        if (known.sold.reservation[offering] >= 0) found[offering] = 0;
    }
    return found;
}

void Reservations::hold(int claim, const ClaimClass& known, const Amount* used) {
    if (!any()) return;
    std::set<int> now;
    for (const int offering : known.ranked()) {
        const int reservation = known.sold.reservation[offering];
        const Amount* room = known.sold.room.row(known.sold.row[offering]);
        if (reservation >= 0 && covers(room, used, known.sold.room.columns())) {
            now.insert(reservation);
        }
    }
    std::vector<int>& held = held_[claim];
    for (const int reservation : held) ++left_[reservation];
    for (const int reservation : now) --left_[reservation];
    held.assign(now.begin(), now.end());
}

}  // namespace joiner
