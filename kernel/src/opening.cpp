// Opening claims: a new one of the first pool that can, for as many pods as it takes.
#include "choices.h"
#include "min_values.h"
#include "packing.h"

namespace joiner {

// Pods that look for a new claim of some class, and who comes to it before them.
struct Packing::Opening {
    int group;
    int ask;
    Verdict where;
    int root;
    Arrivals arrivals;
};

Amount Packing::open(int group, int id, const std::optional<Verdict>& where, Amount want) {
    const Amount* asked = topology_.ask(id).request.amounts.data();
    for (int pool = 0; pool < topology_.templates(); ++pool) {
        // Whatever else is asked for, the pool has to have a type that is large enough.
        if (!classes_[classes_.root(pool, std::nullopt)].has_room(asked)) continue;
        if (!limits_[pool].nodes_left()) continue;
        const int whole = classes_.root(pool, limits_[pool].rows());
        std::map<int, std::vector<int>> alike;
        const std::vector<Arrivals>& arrivals = topology_.arrivals(pool);
        for (int kind = 0; kind < static_cast<int>(arrivals.size()); ++kind) {
            const auto opening = opening_of(group, id, where, whole, {kind});
            if (!opening) continue;
            if (const auto opened = open_some(*opening, want)) return *opened;
            alike[arrivals[kind].settled].push_back(kind);
        }
        // The types of each kind may be too few for minValues.
        if (classes_[whole].wanted.empty()) continue;
        for (const auto& [settled, kinds] : alike) {
            if (kinds.size() < 2) continue;
            const auto opening = opening_of(group, id, where, whole, kinds);
            if (!opening) continue;
            if (const auto opened = open_some(*opening, want)) return *opened;
        }
    }
    return 0;
}

// Returns where the pods of a group may have new nodes of which it stays open of which of these
// kinds of a pool's nodes they are; nothing if there are no such nodes.
std::optional<Packing::Opening> Packing::opening_of(int group, int ask,
                                                    const std::optional<Verdict>& where, int whole,
                                                    const std::vector<int>& kinds) {
    const std::vector<Arrivals>& arrivals = topology_.arrivals(classes_[whole].pool);
    const int root = classes_.reached(whole, kinds);
    if (root < 0) return std::nullopt;
    std::optional<Verdict> there;
    for (const int kind : kinds) {
        const std::optional<Verdict> own =
            arrivals[kind].partly ? verdict(topology_, ask, &arrivals[kind]) : where;
        if (!own || own->new_cap <= 0) return std::nullopt;
        there = there ? stricter(*there, *own) : own;
        if (!there) return std::nullopt;
    }
    return Opening{group, ask, *std::move(there), root, either(arrivals, kinds)};
}

// Returns who comes to a node of which it is not known yet of which kind it is.
Arrivals Packing::either(const std::vector<Arrivals>& arrivals, const std::vector<int>& kinds) {
    Arrivals found = arrivals[kinds.front()];
    for (const int kind : kinds) {
        const std::vector<int>& coming = arrivals[kind].shapes;
        const auto comes = [&](int shape) {
            return std::find(coming.begin(), coming.end(), shape) != coming.end();
        };
        for (const int shape : coming) {
            const auto& certain = arrivals[kinds.front()].shapes;
            if (std::find(certain.begin(), certain.end(), shape) == certain.end()) {
                found.perhaps.push_back(shape);
            }
        }
        for (const int shape : found.shapes) {
            if (!comes(shape)) found.perhaps.push_back(shape);
        }
        std::erase_if(found.shapes, [&](int shape) { return !comes(shape); });
    }
    std::set<int> once(found.perhaps.begin(), found.perhaps.end());
    found.perhaps.assign(once.begin(), once.end());
    return found;
}

// Opens claims of one class; nothing if no pod fits, 0 if it is better to wait.
std::optional<Amount> Packing::open_some(const Opening& opening, Amount want) {
    want = std::min(want, opening.where.batch);
    const Ask& ask = topology_.ask(opening.ask);
    std::optional<Amount> found;
    const auto attempt = [&](int known) {
        const auto usable = reservations_.any()
                                ? reservations_.usable(classes_[known], ask.request.amounts.data())
                                : std::nullopt;
        const bool promised = usable && std::count(usable->begin(), usable->end(), 1) == 0;
        if (promised && groups_[opening.group].waits) {
            deferred_.insert(opening.group);
            found = 0;
            return true;
        }
        Amount opened = 0;
        if (!promised) {
            opened = open_as(opening, usable ? classes_.restrict(known, *usable) : known, want);
        }
        if (!opened && usable) {
            // Beside a reservation of which none can be had, or which is too little of a choice.
            const Mask free = reservations_.unreserved(classes_[known]);
            if (std::count(free.begin(), free.end(), 1)) {
                opened = open_as(opening, classes_.restrict(known, free), want);
            }
        }
        if (opened) found = opened;
        return opened > 0;
    };
    each_opening(opening, attempt);
    return found;
}

// Calls `use` with what a new claim may be, in the cheapest domains, then where minValues are met
// or there may be devices, until it returns true.
template <typename Use>
void Packing::each_opening(const Opening& opening, Use use) {
    const Ask& ask = topology_.ask(opening.ask);
    const Verdict& where = opening.where;
    const Amounts nothing(classes_.resources());
    const bool devices = topology_.shape(ask.shape).devices;
    const std::vector<int> places = cheapest_first(opening);
    for (Choices choices(classes_, where); choices.next();) {
        for (const int place : places) {
            const Choice choice{opening.group, opening.ask, place, choices.bounds()};
            const int known = narrowed(opening.root, nothing.data(), choice, where);
            if (known < 0) continue;
            if (use(known)) return;
            Amounts least;
            for (const MinValues& wanted : classes_[known].wanted) least.push_back(wanted.least);
            if (where.pins.empty() ||
                (!devices && keeps_values(classes_[known], ask.request.amounts.data(), least))) {
                continue;
            }
            const int free = classes_.narrow(opening.root, place, choice.bounds);
            if (free < 0) continue;
            for (const int key : where.pins) {
                for (const int one : classes_.split(free, key, ask.request)) {
                    const int pinned = classes_.pinned(one, where.pins, ask.request.amounts.data());
                    if (pinned >= 0 && use(pinned)) return;
                }
            }
        }
    }
}

// Returns the alternatives of labels that a pod asks for, that with the cheapest node first.
std::vector<int> Packing::cheapest_first(const Opening& opening) {
    const Ask& ask = topology_.ask(opening.ask);
    if (ask.places.size() < 2) return ask.places;
    const int bounds = classes_.bounds(opening.where.bounds);
    std::vector<std::pair<Amount, int>> priced;
    for (const int place : ask.places) {
        const int known = classes_.narrow(opening.root, place, bounds);
        if (known < 0) continue;
        const int offering = classes_[known].cheapest(ask.request.amounts.data());
        if (offering >= 0) priced.emplace_back(classes_[known].sold.price[offering], place);
    }
    const auto cheaper = [](const auto& one, const auto& other) { return one.first < other.first; };
    std::stable_sort(priced.begin(), priced.end(), cheaper);
    std::vector<int> found;
    for (const auto& [price, place] : priced) found.push_back(place);
    return found;
}

// Opens as many claims of a class as the pods need, one where there is anything to count; returns
// how many pods they take.
Amount Packing::open_as(const Opening& opening, int known, Amount want) {
    const Ask& ask = topology_.ask(opening.ask);
    const bool devices = topology_.shape(ask.shape).devices;
    if (devices) {
        known = algebra_.grant_planned(ask.shape, -1, known, ask.request.amounts);
        if (known < 0) return 0;
        want = 1;
    }
    const Amounts nothing(classes_.resources());
    const Amount most = std::min({most_on(known, -1, nothing.data(), ask, want),
                                  opening.where.new_cap, groups_[opening.group].most_on_claim});
    if (most <= 0) return 0;
    Limits& limits = limits_[classes_[known].pool];
    const bool single = limits.limited() || reservations_.any();
    const Amount count = single ? 1 : (want + most - 1) / most;
    const int first = bins_.open(known, static_cast<int>(count));
    topology_.note_opened();
    const Mask rows = classes_[known].rows_for(ask.request.amounts.data());
    Amount left = want;
    for (int claim = first; claim < first + count; ++claim) {
        limits.charge(claim, rows);
        take_claim(opening.group, opening.ask, claim, std::min(most, left), known);
        left -= std::min(most, left);
    }
    if (devices) hand_over(ask.shape, first);
    for (int claim = first; claim < first + count; ++claim) {
        for (const int shape : opening.arrivals.shapes) {
            topology_.record(shape, bins_.standing() + claim, 1, Presence::kCertain);
        }
        for (const int shape : opening.arrivals.perhaps) {
            topology_.record(shape, bins_.standing() + claim, 1, Presence::kPerhaps);
        }
    }
    return want - left;
}

}  // namespace joiner
