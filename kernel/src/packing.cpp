#include "packing.h"

namespace joiner {

Packing::Packing(Algebra& algebra, const Domains& domains, Matrix standing, Mask named, int nodes,
                 Amounts reservations, bool strict_min_values)
    : algebra_(algebra),
      classes_(algebra, domains, standing.columns()),
      bins_(std::move(standing), classes_),
      topology_(algebra, domains, classes_, bins_, std::move(named), nodes),
      reservations_(std::move(reservations)),
      strict_min_values_(strict_min_values) {}

int Packing::add_template(Template sold, Limits limits) {
    limits_.push_back(std::move(limits));
    return classes_.add_template(std::move(sold));
}

void Packing::add_group(Group group) {
    at_turn_.emplace(group.turn, static_cast<int>(groups_.size()));
    groups_.push_back(std::move(group));
}

Amount Packing::place(int group, int ask, Amount want) {
    const bool buys = groups_.at(group).buys;
    if (!topology_.ask(ask).anywhere) return 0;
    std::optional<Verdict> where = verdict(topology_, ask);
    Amount placed = 0;
    if (where) {
        want = std::min(want, where->batch);
        placed = place_standing(group, ask, *where, want);
        if (buys && placed < want) placed += join(group, ask, *where, want - placed);
    }
    // No bin that is still to be opened has a cap of its own: these need not be carried along.
    if (where) where->caps.reset();
    while (buys && placed < want) {
        const Amount opened = open(group, ask, where, want - placed);
        if (!opened) break;
        placed += opened;
    }
    return placed;
}

}  // namespace joiner
