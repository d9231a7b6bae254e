#include "bins.h"

namespace joiner {

Bins::Bins(Matrix free, const ClaimClasses& classes)
    : classes_(classes),
      free_(std::move(free)),
      used_(classes.resources()),
      headroom_(classes.resources()),
      spare_(classes.resources()) {}

void Bins::take_standing(int bin, const Request& request, Amount count) {
    add(free_.row(bin), request, -count);
}

void Bins::take_claim(int claim, const Request& request, Amount count, int known) {
    add(used_.row(claim), request, count);
    add(spare_.row(claim), request, -count);
    const auto place =
        std::lower_bound(emptiest_.begin(), emptiest_.end(), std::make_pair(pods_[claim], claim));
    pods_[claim] += count;
    const std::pair<Amount, int> moved(pods_[claim], claim);
    const auto target = std::lower_bound(place, emptiest_.end(), moved);
    // All between the two places move up by one.
    std::move(place + 1, target, place);
    *(target - 1) = moved;
    settle(claim, known);
}

void Bins::become(int claim, int known) { settle(claim, known); }

void Bins::settle(int claim, int known) {
    const std::size_t columns = classes_.resources();
    const ClaimClass& one = classes_[known];
    const Amount* used = used_.row(claim);
    Amount* spare = spare_.row(claim);
    const bool is_new = cheapest_[claim] < 0;
    const bool fits = std::all_of(spare, spare + columns, [](Amount left) { return left >= 0; });
    if (is_new || !fits || known != class_of_[claim]) {
        cheapest_[claim] = one.cheapest_row(used);
        const Amount* room = one.sold.room.row(cheapest_[claim]);
        for (std::size_t column = 0; column < columns; ++column) {
            spare[column] = room[column] - used[column];
        }
    }
    class_of_[claim] = known;
    Amount* headroom = headroom_.row(claim);
    for (std::size_t column = 0; column < columns; ++column) {
        headroom[column] = one.roof()[column] - used[column];
    }
}

int Bins::open(int known, int count) {
    const int first = claims();
    class_of_.resize(first + count, known);
    pods_.resize(first + count);
    used_.grow(count);
    headroom_.grow(count);
    spare_.grow(count);
    cheapest_.resize(first + count, -1);
    // An empty claim has fewer pods than any other; of equals the newest comes last.
    std::vector<std::pair<Amount, int>> added;
    for (int claim = first; claim < first + count; ++claim) added.emplace_back(0, claim);
    const auto place = std::lower_bound(emptiest_.begin(), emptiest_.end(), added.front());
    emptiest_.insert(place, added.begin(), added.end());
    return first;
}

}  // namespace joiner
