#include "lots.h"

namespace joiner {
namespace {

HostCount& of_counter(HostCounts& counts, int counter) {
    for (HostCount& one : counts) {
        if (one.counter == counter) return one;
    }
    counts.push_back({counter});
    return counts.back();
}

HostCount of_counter(const HostCounts& counts, int counter) {
    for (const HostCount& one : counts) {
        if (one.counter == counter) return one;
    }
    return {counter};
}

}  // namespace

Amount most_more(const HostCounts& counts, const Lot& lot) {
    Amount found = kUnbounded;
    for (const int counter : lot.counted) {
        const HostCount there = of_counter(counts, counter);
        found = std::min(found, there.most - there.total);
    }
    for (const HostRule& rule : lot.rules) {
        const Amount left = rule.most - of_counter(counts, rule.counter).total;
        const bool own =
            std::find(lot.counted.begin(), lot.counted.end(), rule.counter) != lot.counted.end();
        if (own || left < 0) found = std::min(found, left);
    }
    return found;
}

void count(HostCounts& counts, const Lot& lot, Amount pods) {
    for (const int counter : lot.counted) of_counter(counts, counter).total += pods;
    for (const HostRule& rule : lot.rules) {
        HostCount& there = of_counter(counts, rule.counter);
        there.most = std::min(there.most, rule.most);
    }
}

Lots::Lots(Packing& packing, std::vector<double> worth, std::vector<int> weights)
    : packing_(packing),
      topology_(packing.topology()),
      classes_(packing.classes()),
      worth_(std::move(worth)),
      weights_(std::move(weights)) {
    for (int pool = 0; pool < topology_.templates(); ++pool) {
        roots_.push_back(classes_.root(pool, std::nullopt));
    }
    for (const Placement& placement : packing_.placements()) {
        const Ask& ask = topology_.ask(placement.ask);
        for (const SpreadRule& rule : ask.rules.spread) {
            active_.insert(rule.tally);
            if (!topology_.tally(rule.tally).on_hosts()) continue;
            any_may_move_ &= !ask.real_hosts;
            if (!rule.own) kept_.insert(rule.tally);
            if (!rule.min_domains) continue;
            relying_.insert(counter(rule.tally));
            const bool stands = placement.bin < packing_.bins().standing();
            if (stands && topology_.tally(rule.tally).count(placement.bin) > rule.max_skew) {
                any_may_move_ = false;
            }
        }
        for (const AffinityRule& rule : ask.rules.affinity) {
            for (const int tally : rule.tallies) {
                active_.insert(tally);
                if (topology_.tally(tally).on_hosts()) kept_.insert(tally);
            }
        }
        for (const ApartRule& rule : ask.rules.apart) active_.insert(rule.tally);
    }
}

Lots::Kind Lots::kind(const Ask& ask) {
    const Shape& shape = topology_.shape(ask.shape);
    const Rules& rules = ask.rules;
    Kind found;
    found.movable =
        !shape.devices && shape.holds.empty() && rules.together.empty() && rules.exclusive.empty();
    std::set<int> keys(rules.pins.begin(), rules.pins.end());
    std::set<int> admissions;
    const auto look = [&](int tally, std::optional<Amount> most) {
        if (!topology_.tally(tally).on_hosts()) {
            keys.insert(topology_.tally(tally).key);
        } else if (most) {
            found.rules.push_back({counter(tally), *most});
        } else {
            found.movable = false;
        }
    };
    for (const SpreadRule& rule : rules.spread) {
        look(rule.tally, rule.own ? std::optional<Amount>(rule.max_skew) : std::nullopt);
    }
    for (const ApartRule& rule : rules.apart) look(rule.tally, rule.own);
    for (const AffinityRule& rule : rules.affinity) {
        for (const int tally : rule.tallies) look(tally, std::nullopt);
    }
    for (const int id : shape.counted) {
        if (!active_.count(id)) continue;
        const Tally& tally = topology_.tally(id);
        if (tally.on_hosts()) {
            found.counted.push_back(counter(id));
            if (kept_.count(id)) found.movable = false;
        } else {
            keys.insert(tally.key);
            if (tally.admission >= 0) admissions.insert(tally.admission);
        }
    }
    found.keys.assign(keys.begin(), keys.end());
    found.admissions.assign(admissions.begin(), admissions.end());
    return found;
}

// Numbers below 0 are of groups, the others of tallies.
int Lots::counter(int tally) {
    return counters_.try_emplace(tally, static_cast<int>(counters_.size())).first->second;
}

int Lots::of(const Placement& placement, int known, bool fixed) {
    const Ask& ask = topology_.ask(placement.ask);
    const auto [kind, is_new_kind] = kinds_.try_emplace(placement.ask);
    if (is_new_kind) kind->second = this->kind(ask);
    bool movable = kind->second.movable && !fixed;
    Bounds bounds;
    std::vector<int> domains;
    for (const int key : kind->second.keys) {
        const KeyView& there = classes_.view(known, key);
        movable &= there.domains.single() && !there.open;
        if (!movable) break;
        bounds.push_back({key, there.domains});
        domains.push_back(there.numbers.empty() ? 0 : there.numbers.front().front());
    }
    std::vector<std::pair<int, bool>> looked_at;
    std::vector<bool> answers;
    for (const int admission : kind->second.admissions) {
        if (!movable) break;
        const std::optional<bool> answer = seen(admission, known);
        movable &= answer.has_value();
        looked_at.emplace_back(admission, answer.value_or(false));
        answers.push_back(answer.value_or(false));
    }
    if (!movable) domains.clear(), answers.clear();
    const int weight = weights_[classes_[known].pool];
    const auto [found, is_new] = by_content_.try_emplace(
        Content(placement.group, placement.ask, weight, domains, answers, movable), size());
    if (is_new) {
        all_.push_back({placement.group, placement.ask, &ask.request, worth_[placement.group],
                        weight, movable, topology_.shape(ask.shape).alone, ask.places,
                        movable ? classes_.bounds(std::move(bounds)) : -1, kind->second.keys,
                        std::move(looked_at), kind->second.counted, kind->second.rules});
        const Amount most = packing_.group(placement.group).most_on_claim;
        if (most < kUnbounded) {
            const int own = counter(-1 - placement.group);
            all_.back().counted.push_back(own);
            all_.back().rules.push_back({own, most});
        }
    }
    return found->second;
}

int Lots::held(int id) {
    Lot lot = all_[id];
    if (!lot.movable) return id;
    const auto [found, is_new] =
        by_content_.try_emplace(Content(lot.group, lot.ask, lot.weight, {}, {}, false), size());
    if (is_new) {
        lot.movable = false;
        all_.push_back(std::move(lot));
    }
    return found->second;
}

std::optional<bool> Lots::seen(int admission, int known) {
    const std::vector<int>& found = topology_.admitted(admission, known);
    if (found.empty()) return false;
    if (std::find(found.begin(), found.end(), known) != found.end()) return true;
    return std::nullopt;
}

int Lots::find_joined(int known, int lot) {
    const int found = narrowed(known, lot);
    if (static_cast<std::size_t>(known) >= joined_.size()) joined_.resize(known + 1);
    if (joined_[known].empty()) joined_[known].assign(all_.size(), kUnknown);
    return joined_[known][lot] = found;
}

int Lots::narrowed(int known, int id) {
    const Lot& lot = all_[id];
    if (weights_[classes_[known].pool] < lot.weight) return -1;
    for (const int place : lot.places) {
        const int narrower = classes_.narrow(known, place, lot.bounds);
        if (narrower >= 0 && holds(narrower, id)) return narrower;
    }
    return -1;
}

int Lots::opened(int pool, int lot) { return joined(roots_[pool], lot); }

bool Lots::holds(int known, int id) {
    const Lot& lot = all_[id];
    for (const int key : lot.keys) {
        const KeyView& there = classes_.view(known, key);
        if (!there.domains.single() || there.open) return false;
    }
    return std::all_of(lot.seen.begin(), lot.seen.end(), [&](const auto& one) {
        return seen(one.first, known) == std::optional<bool>(one.second);
    });
}

}  // namespace joiner
