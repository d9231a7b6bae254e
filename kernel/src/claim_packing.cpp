// Packing on claims of this plan: those that get no dearer first, of these the emptiest.
//
// Here everything is open: each pod narrows what its claim may still become.
#include "choices.h"
#include "min_values.h"
#include "packing.h"
#include "remembered.h"

namespace joiner {

Amount Packing::join(int group, int ask, Verdict& where, Amount want) {
    Amount placed = 0;
    const std::vector<int>& places = topology_.ask(ask).places;
    Choices choices(classes_, where);
    std::vector<DomainSet> there;
    if (choices.many()) there = reached_by_claims(topology_.ask(ask), where);
    while (placed < want && choices.next()) {
        if (!choices.within(there)) continue;
        // By one of several alternatives a claim may get dearer that does not by another.
        for (const bool dearer : {false, true}) {
            if (!dearer && places.size() == 1) continue;
            for (const int place : places) {
                if (placed >= want) break;
                const Choice choice{group, ask, place, choices.bounds()};
                placed += join_choice(choice, where, want - placed, dearer);
            }
        }
    }
    return placed;
}

// Returns of each ranked key the domains in which claims with room for a pod may come up.
std::vector<DomainSet> Packing::reached_by_claims(const Ask& ask, const Verdict& where) {
    std::vector<DomainSet> found(where.ranked.size());
    std::set<int> known;
    for (int claim = 0; claim < bins_.claims(); ++claim) {
        if (!ask.request.fits(bins_.headroom(claim))) continue;
        if (!known.insert(bins_.class_of(claim)).second) continue;
        for (std::size_t index = 0; index < found.size(); ++index) {
            const KeyView& view = classes_.view(bins_.class_of(claim), where.ranked[index].first);
            found[index] |= view.closed ? view.domains : ~DomainSet();
        }
    }
    return found;
}

Amount Packing::join_choice(const Choice& choice, Verdict& where, Amount want, bool dearer) {
    const Ask& ask = topology_.ask(choice.ask);
    // What a claim becomes, by its class; of the same class claims are pinned by what is on them.
    std::unordered_map<int, int> become;
    const auto becomes = [&](int claim) {
        const int known = bins_.class_of(claim);
        return remembered(become, where.pins.empty() ? known : claim,
                          [&] { return narrowed(known, bins_.used(claim), choice, where); });
    };
    if (topology_.shape(ask.shape).devices) return join_with_devices(choice, where, becomes);

    const auto cap = [&](int claim) {
        const Amount most = where.caps ? (*where.caps)[bins_.standing() + claim] : kUnbounded;
        return std::min(most, left_on(choice.group, claim));
    };
    const auto& order = bins_.emptiest();
    std::map<std::size_t, Amount> taken;
    Amount left = want;
    for (std::size_t place = 0; place < order.size() && left > 0; ++place) {
        const int claim = order[place].second;
        if (!ask.request.fits(bins_.spare(claim)) || cap(claim) <= 0) continue;
        const int known = becomes(claim);
        if (known < 0 || !classes_[known].rows()[bins_.cheapest_row(claim)]) continue;
        // On that row there is room for so many, whatever others of the class have.
        const Amount free = std::min({ask.request.times(bins_.spare(claim)), cap(claim), left});
        const Amount count = most_kept(known, bins_.class_of(claim), bins_.used(claim), ask, free);
        if (count <= 0) continue;
        taken[place] = count;
        left -= count;
    }
    for (std::size_t place = 0; dearer && place < order.size() && left > 0; ++place) {
        const int claim = order[place].second;
        if (!ask.request.fits(bins_.headroom(claim)) || cap(claim) <= 0) continue;
        const int known = becomes(claim);
        if (known < 0) continue;
        const auto before = taken.find(place);
        const Amount there = before == taken.end() ? 0 : before->second;
        const Amount most = most_on(known, bins_.class_of(claim), bins_.used(claim), ask, want);
        const Amount count = std::min(std::min(most, cap(claim)) - there, left);
        if (count <= 0) continue;
        taken[place] = there + count;
        left -= count;
    }
    // The order changes as claims fill.
    std::vector<std::pair<int, Amount>> chosen;
    for (const auto& [place, count] : taken) chosen.emplace_back(order[place].second, count);
    for (const auto& [claim, count] : chosen) {
        take_claim(choice.group, choice.ask, claim, count, becomes(claim));
        if (where.caps) (*where.caps)[bins_.standing() + claim] -= count;
    }
    return want - left;
}

template <typename Becomes>
Amount Packing::join_with_devices(const Choice& choice, Verdict& where, Becomes becomes) {
    const Ask& ask = topology_.ask(choice.ask);
    for (const auto& [pods, claim] : bins_.emptiest()) {
        if (!ask.request.fits(bins_.headroom(claim))) continue;
        if (where.caps && (*where.caps)[bins_.standing() + claim] <= 0) continue;
        if (left_on(choice.group, claim) <= 0) continue;
        int known = becomes(claim);
        const int before = bins_.class_of(claim);
        if (known < 0 || !most_on(known, before, bins_.used(claim), ask, 1)) continue;
        Amounts total(bins_.used(claim), bins_.used(claim) + classes_.resources());
        add(total.data(), ask.request, 1);
        known = algebra_.grant_planned(ask.shape, claim, known, total);
        if (known < 0 || !most_on(known, before, bins_.used(claim), ask, 1)) continue;
        const int chosen = claim;
        take_claim(choice.group, choice.ask, chosen, 1, known);
        hand_over(ask.shape, chosen);
        if (where.caps) --(*where.caps)[bins_.standing() + chosen];
        return 1;
    }
    return 0;
}

int Packing::narrowed(int known, const Amount* used, const Choice& choice, const Verdict& where) {
    const int narrower = classes_.narrow(known, choice.place, choice.bounds);
    if (narrower < 0 || where.pins.empty()) return narrower;
    Amounts total(used, used + classes_.resources());
    add(total.data(), topology_.ask(choice.ask).request, 1);
    return classes_.pinned(narrower, where.pins, total.data());
}

Amount Packing::most_on(int known, int before, const Amount* used, const Ask& ask, Amount want) {
    const Matrix& frontier = classes_[known].frontier();
    const auto room = [&](std::size_t row, std::size_t column) {
        return frontier.row(row)[column] - used[column];
    };
    Amount most = 0;
    for (std::size_t row = 0; row < frontier.rows() && most < want; ++row) {
        // Every column counts: the type must have what is used already, whatever this pod asks.
        bool fits = true;
        for (std::size_t column = 0; fits && column < frontier.columns(); ++column) {
            fits = room(row, column) >= ask.request.amounts[column];
        }
        if (!fits) continue;
        Amount times = want;
        for (const int column : ask.request.columns) {
            times = std::min(times, room(row, column) / ask.request.amounts[column]);
        }
        most = std::max(most, times);
    }
    return most_kept(known, before, used, ask, most);
}

Amount Packing::most_kept(int known, int before, const Amount* used, const Ask& ask, Amount most) {
    const ClaimClass& one = classes_[known];
    if (most && !one.wanted.empty()) {
        Amounts there(used, used + classes_.resources());
        if (before < 0) add(there.data(), ask.request, 1);
        const ClaimClass& was = classes_[before < 0 ? known : before];
        const Amounts least = values_to_keep(was, there.data(), strict_min_values_);
        most = most_that_keep(one, used, ask.request, most, least);
    }
    return topology_.shape(ask.shape).alone ? std::min<Amount>(most, 1) : most;
}

void Packing::take_claim(int group, int id, int claim, Amount count, int known) {
    const Ask& ask = topology_.ask(id);
    bins_.take_claim(claim, ask.request, count, known);
    reservations_.hold(claim, classes_[known], bins_.used(claim));
    tell_what_is_left(claim);
    const int bin = bins_.standing() + claim;
    placements_.push_back({group, id, bin, count});
    groups_[group].left -= count;
    if (groups_[group].most_on_claim < kUnbounded) together_[{group, claim}] += count;
    topology_.place(ask.shape, bin, count);
}

Amount Packing::left_on(int group, int claim) const {
    const Amount most = groups_[group].most_on_claim;
    if (most >= kUnbounded) return most;
    const auto there = together_.find({group, claim});
    return there == together_.end() ? most : most - there->second;
}

bool Packing::keeps_values_as(int claim, int known) const {
    const Amount* used = bins_.used(claim);
    const Amounts least = values_to_keep(classes_[bins_.class_of(claim)], used, strict_min_values_);
    return keeps_values(classes_[known], used, least);
}

void Packing::become(int claim, int known) {
    bins_.become(claim, known);
    const ClaimClass& one = classes_[known];
    reservations_.hold(claim, one, bins_.used(claim));
    limits_[one.pool].charge(claim, one.rows_for(bins_.used(claim)));
    tell_what_is_left(claim);
}

void Packing::hand_over(int shape, int claim) {
    algebra_.hand_over(shape, claim);
    with_devices_.insert(claim);
}

void Packing::tell_what_is_left(int claim) {
    if (!with_devices_.count(claim)) return;
    const Amount* used = bins_.used(claim);
    algebra_.became(claim, bins_.class_of(claim), Amounts(used, used + classes_.resources()));
}

}  // namespace joiner
