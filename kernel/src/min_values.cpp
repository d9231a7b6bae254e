#include "min_values.h"

namespace joiner {
namespace {

// Counts the values, up to as many as are enough.
Amount achieved(const ClaimClass& known, const Amount* used, const MinValues& wanted,
                Amount enough) {
    Mask seen(static_cast<std::size_t>(wanted.distinct));
    Amount found = 0;
    for (const int offering : known.ranked()) {
        if (found >= enough) return enough;
        const Amount* room = known.sold.room.row(known.sold.row[offering]);
        if (!covers(room, used, known.sold.room.columns())) continue;
        for (const int value : wanted.values[wanted.group[offering]]) {
            found += !seen[value];
            seen[value] = 1;
        }
    }
    return std::min(found, enough);
}

}  // namespace

Amounts values_to_keep(const ClaimClass& known, const Amount* used, bool strict) {
    Amounts found;
    for (const MinValues& wanted : known.wanted) {
        found.push_back(strict ? wanted.least : achieved(known, used, wanted, wanted.least));
    }
    return found;
}

bool keeps_values(const ClaimClass& known, const Amount* used, const Amounts& least) {
    for (std::size_t index = 0; index < least.size(); ++index) {
        const MinValues& wanted = known.wanted[index];
        if (achieved(known, used, wanted, least[index]) < least[index]) return false;
    }
    return true;
}

Amount most_that_keep(const ClaimClass& known, const Amount* used, const Request& request,
                      Amount most, const Amounts& least) {
    Amount low = 0;
    Amount high = most;
    while (low < high) {
        const Amount middle = (low + high + 1) / 2;
        Amounts there(used, used + request.amounts.size());
        add(there.data(), request, middle);
        if (keeps_values(known, there.data(), least)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

}  // namespace joiner
