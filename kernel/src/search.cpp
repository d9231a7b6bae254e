#include "search.h"

#include "min_values.h"

namespace joiner {
namespace {

// Claims that are taken apart at once, and others at whose room is looked meanwhile.
constexpr std::size_t kMostTaken = 5;
constexpr std::size_t kMostJoined = 12;
// How often all claims are taken apart at once at first, and the most work that is spent on that:
// claims times lots times classes of new claims.
constexpr int kWholes = 3;
constexpr std::size_t kMostWork = 300'000;
// How far what pods are worth, and how much resources weigh, is varied.
constexpr double kNoise = 0.35;
constexpr double kLightest = 0.4;
constexpr double kHeaviest = 2.4;

std::vector<Market> markets(Packing& packing) {
    const Topology& topology = packing.topology();
    std::vector<Market> found;
    for (int pool = 0; pool < topology.templates(); ++pool) {
        const std::vector<Arrivals>& arrivals = topology.arrivals(pool);
        const bool alike = arrivals.size() == 1 && !arrivals.front().partly &&
                           arrivals.front().shapes.empty() && arrivals.front().pins.empty();
        found.push_back({alike, packing.limits(pool).limited()});
    }
    return found;
}

bool has(const std::vector<int>& many, int one) {
    return std::find(many.begin(), many.end(), one) != many.end();
}

}  // namespace

Search::Search(Packing& packing, Start start)
    : classes_(packing.classes()),
      topology_(packing.topology()),
      lots_(packing, std::move(start.worth), std::move(start.weights)),
      shelves_(classes_, std::move(start.room), std::move(start.allowances)),
      sights_(packing),
      recreation_(classes_, lots_, shelves_, markets(packing)),
      weight_(std::move(start.weight)),
      random_(start.seed),
      loads_(start.classes.size()) {
    const std::vector<Market> markets = joiner::markets(packing);
    for (std::size_t claim = 0; claim < loads_.size(); ++claim) {
        Load& load = loads_[claim];
        load.known = start.classes[claim];
        load.allowance = start.allowance[claim];
        load.origin = static_cast<int>(claim);
        const Amount* used = packing.bins().used(static_cast<int>(claim));
        load.used.assign(used, used + classes_.resources());
        load.fixed = is_fixed(load, markets[classes_[load.known].pool]);
        sights_.add({load.known, used});
        load.used.assign(classes_.resources(), 0);
    }
    for (const Placement& placement : packing.placements()) {
        const int claim = placement.bin - packing.bins().standing();
        if (claim < 0) continue;
        Load& load = loads_[claim];
        put(load, lots_, lots_.of(placement, load.known, load.fixed), placement.count, load.known);
    }
    bool kept = lots_.any_may_move();
    const bool all_open = std::all_of(markets.begin(), markets.end(),
                                      [](const Market& market) { return market.open; });
    for (Load& load : loads_) {
        kept &= hold_crowded(load, all_open);
        settle(load);
        movers_ += load.moves;
    }
    if (!kept) movers_ = 0;
}

// Lets pods stay of which a claim has more than a rule allows whoever comes last; returns false if
// they are there because no host has none of them.
bool Search::hold_crowded(Load& load, bool all_open) {
    for (const HostCount& one : load.hosts) {
        if (one.total <= one.most) continue;
        if (!all_open || lots_.relies_on_all(one.counter)) return false;
        for (auto& [lot, _] : load.pods) {
            const Lot& there = lots_[lot];
            const auto about = [&](const HostRule& rule) { return rule.counter == one.counter; };
            if (has(there.counted, one.counter) ||
                std::any_of(there.rules.begin(), there.rules.end(), about)) {
                lot = lots_.held(lot);
            }
        }
    }
    load.moves = std::any_of(load.pods.begin(), load.pods.end(),
                             [&](const auto& part) { return lots_[part.first].movable; });
    return true;
}

// Tells whether a claim is one of which nobody here knows what it may become.
bool Search::is_fixed(const Load& load, const Market& market) const {
    const ClaimClass& known = classes_[load.known];
    if (!market.open || shelves_.reserved(load.known, load.used.data())) return true;
    Amounts least;
    for (const MinValues& wanted : known.wanted) least.push_back(wanted.least);
    return !least.empty() && !keeps_values(known, load.used.data(), least);
}

// Finds what a claim of the plan costs, and what is left of it without the pods that may move.
void Search::settle(Load& load) {
    const auto price = [&](const Load& one) {
        const auto* place =
            shelves_.of(one.known, one.allowance).cheapest(one.used.data(), classes_.resources());
        return place ? place->price : kNever;
    };
    if (!load.fixed) load.price = price(load);
    if (load.price == kNever) {
        load.price = 0;
        load.fixed = true;
        load.moves = false;
    }
    if (!load.moves) return;
    Load core;
    core.known = load.known;
    core.allowance = load.allowance;
    core.used.resize(classes_.resources());
    for (const auto& [lot, pods] : load.pods) {
        if (!lots_[lot].movable) put(core, lots_, lot, pods, load.known);
    }
    if (core.pods.empty()) return;
    core.price = price(core);
    core.core = load.core = static_cast<int>(cores_.size());
    cores_.push_back(std::move(core));
}

Amount Search::price() const {
    Amount found = 0;
    for (const Load& load : loads_) found += load.price;
    return found;
}

void Search::advance(int iterations) {
    for (; iterations > 0 && any(); --iterations) step();
}

void Search::step() {
    Ruin ruin;
    std::vector<double> weight = weight_;
    double noise = 0;
    if (!wholes_ && work() > kMostWork) wholes_ = kWholes;
    if (wholes_ < kWholes) {
        pick(loads_.size(), ruin);
        if (wholes_ < 2) weight[wholes_] *= 2;
        ++wholes_;
    } else {
        pick(1 + random_.below(kMostTaken), ruin);
        for (double& one : weight) one *= kLightest + random_.unit() * (kHeaviest - kLightest);
        noise = random_.unit() * kNoise;
    }
    if (ruin.taken.empty()) return;
    recreate(ruin, taken_out(ruin, noise), std::move(weight));
}

// Returns how much work it is to take all claims apart at once.
std::size_t Search::work() {
    std::set<int> classes;
    for (int pool = 0; pool < topology_.templates(); ++pool) {
        for (int lot = 0; lot < lots_.size(); ++lot) {
            if (lots_[lot].movable) classes.insert(lots_.opened(pool, lot));
        }
    }
    return loads_.size() * static_cast<std::size_t>(lots_.size()) * classes.size();
}

// Picks claims to take apart: of a few at random the one that costs most beyond its worth.
void Search::pick(std::size_t count, Ruin& ruin) {
    if (count >= loads_.size()) {
        for (std::size_t claim = 0; claim < loads_.size(); ++claim) {
            if (loads_[claim].moves) ruin.taken.push_back(static_cast<int>(claim));
        }
        return;
    }
    for (std::size_t turn = 0; turn < count; ++turn) {
        int most = -1;
        for (int tries = turn ? 2 : 4; tries > 0; --tries) {
            const auto claim = static_cast<int>(random_.below(loads_.size()));
            if (!loads_[claim].moves || has(ruin.taken, claim)) continue;
            if (most < 0 || loads_[claim].waste() > loads_[most].waste()) most = claim;
        }
        if (most >= 0) ruin.taken.push_back(most);
    }
}

// Takes the pods that may move out of the claims that were picked.
std::vector<Part> Search::taken_out(Ruin& ruin, double noise) {
    std::map<int, Amount> left;
    for (const int claim : ruin.taken) {
        const Load& load = loads_[claim];
        ruin.price += load.price;
        if (load.core >= 0) ruin.loads.push_back(cores_[load.core]);
        for (const auto& [lot, pods] : load.pods) {
            if (lots_[lot].movable) left[lot] += pods;
        }
    }
    std::vector<Part> found;
    for (const auto& [lot, pods] : left) {
        const double varied = 1 + noise * (random_.unit() - 0.5);
        found.push_back({lot, pods, lots_[lot].worth * varied});
    }
    return found;
}

void Search::recreate(Ruin& ruin, std::vector<Part> parts, std::vector<double> weight) {
    recreation_.begin(std::move(parts), std::move(weight));
    if (random_.below(2)) fill_others(ruin);
    Amount budget = ruin.price;
    for (Load& load : ruin.loads) {
        budget -= load.price;
        recreation_.fill(load);
    }
    std::vector<int> allowances;
    for (const int claim : ruin.taken) {
        const Load& load = loads_[claim];
        if (load.core < 0 && load.allowance != kNoAllowance) allowances.push_back(load.allowance);
    }
    if (recreation_.open(ruin.loads, std::move(allowances), budget)) keep(ruin);
}

// Puts pods into the room of some other claims that get no dearer.
void Search::fill_others(Ruin& ruin) {
    for (std::size_t tries = 0; tries < kMostJoined && !recreation_.done(); ++tries) {
        const auto claim = static_cast<int>(random_.below(loads_.size()));
        if (loads_[claim].fixed || has(ruin.taken, claim) || has(ruin.joined, claim)) continue;
        Load load = loads_[claim];
        if (!recreation_.fill(load)) continue;
        ruin.joined.push_back(claim);
        ruin.filled.push_back(std::move(load));
    }
}

// Puts what was found in place of what was there, unless that would break a rule.
bool Search::keep(Ruin& ruin) {
    const auto seen = [](const Load& load) { return Sights::Claim{load.known, load.used.data()}; };
    std::vector<Sights::Claim> before;
    std::vector<Sights::Claim> after;
    for (const int claim : ruin.taken) before.push_back(seen(loads_[claim]));
    for (const int claim : ruin.joined) before.push_back(seen(loads_[claim]));
    for (const Load& load : ruin.loads) after.push_back(seen(load));
    for (const Load& load : ruin.filled) after.push_back(seen(load));
    if (!sights_.may_replace(before, after)) return false;
    for (const Sights::Claim& claim : before) sights_.remove(claim);
    for (const Sights::Claim& claim : after) sights_.add(claim);
    for (std::size_t index = 0; index < ruin.joined.size(); ++index) {
        loads_[ruin.joined[index]] = std::move(ruin.filled[index]);
    }
    std::size_t index = 0;
    for (; index < std::min(ruin.taken.size(), ruin.loads.size()); ++index) {
        loads_[ruin.taken[index]] = std::move(ruin.loads[index]);
    }
    for (std::size_t more = index; more < ruin.loads.size(); ++more) {
        loads_.push_back(std::move(ruin.loads[more]));
    }
    std::vector<int> gone(ruin.taken.begin() + index, ruin.taken.end());
    std::sort(gone.rbegin(), gone.rend());
    for (const int claim : gone) {
        if (claim + 1 < static_cast<int>(loads_.size())) loads_[claim] = std::move(loads_.back());
        loads_.pop_back();
    }
    return changed_ = true;
}

}  // namespace joiner
