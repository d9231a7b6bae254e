#include "verdict.h"

#include <tuple>

namespace joiner {
namespace {

// Returns what is in either, ascending.
std::vector<int> both(const std::vector<int>& one, const std::vector<int>& other) {
    std::set<int> found(one.begin(), one.end());
    found.insert(other.begin(), other.end());
    return {found.begin(), found.end()};
}

// One verdict in the making.
class Judgement {
public:
    Judgement(Topology& topology, int ask, const Arrivals* arrivals)
        : topology_(topology),
          id_(ask),
          ask_(topology.ask(ask)),
          arrivals_(arrivals ? *arrivals : kNobody) {}

    std::optional<Verdict> verdict() {
        const Rules& rules = ask_.rules;
        if (topology_.in_use(ask_)) return std::nullopt;
        if (!rules.exclusive.empty()) found_.batch = 1;
        for (const AffinityRule& rule : rules.affinity) {
            if (!affinity(rule)) return std::nullopt;
        }
        for (const int tally : rules.together) together(tally);
        for (const ApartRule& rule : rules.apart) apart(rule);
        for (const SpreadRule& rule : rules.spread) {
            if (topology_.tally(rule.tally).on_hosts()) {
                spread_hosts(rule);
            } else {
                spread_domains(rule);
            }
        }
        keep_ranked();
        for (auto& [key, within] : bounds_) {
            if (within.empty()) return std::nullopt;
            found_.bounds.push_back({key, std::move(within)});
        }
        found_.pins = rules.pins;
        return std::move(found_);
    }

private:
    static const Arrivals kNobody;

    bool affinity(const AffinityRule& rule) {
        const auto arrives = [&](int tally) { return topology_.arriving(arrivals_, tally) > 0; };
        const auto counts = [&](int tally) { return topology_.tally(tally).anywhere() > 0; };
        if (std::any_of(rule.tallies.begin(), rule.tallies.end(), arrives)) {
            bind_to_keys(rule);
        } else if (std::any_of(rule.tallies.begin(), rule.tallies.end(), counts)) {
            for (const int tally : rule.tallies) near(tally);
        } else if (rule.own) {
            // The first pod of its kind may go anywhere that has the keys.
            found_.batch = 1;
            bind_to_keys(rule);
        } else {
            return false;
        }
        return true;
    }

    void near(int id) {
        const Tally& tally = topology_.tally(id);
        if (tally.on_hosts()) {
            cap([&](int bin) { return tally.certain(bin) > 0 ? kUnbounded : 0; }, 0);
        } else {
            bind(tally.key, tally.populated_for_certain());
        }
    }

    void bind_to_keys(const AffinityRule& rule) {
        for (const int id : rule.tallies) {
            const int key = topology_.tally(id).key;
            if (key == kHost) {
                bind_to_named();
            } else {
                bind(key, ~DomainSet::of(0));
            }
        }
    }

    void together(int id) {
        const Tally& tally = topology_.tally(id);
        if (tally.released) return;
        if (!tally.anywhere()) {
            found_.batch = 1;
        } else if (tally.on_hosts()) {
            near(id);
        } else {
            const DomainSet there = tally.populated_for_certain();
            bind(tally.key, there.empty() ? DomainSet::of(0) : there);
        }
    }

    void apart(const ApartRule& rule) {
        const Tally& tally = topology_.tally(rule.tally);
        const bool arrives = topology_.arriving(arrivals_, rule.tally) > 0;
        if (tally.on_hosts()) {
            const Amount most = arrives ? 0 : rule.own ? 1 : kUnbounded;
            const Mask& named = topology_.named();
            cap(
                [&](int bin) {
                    if (static_cast<std::size_t>(bin) < named.size() && !named[bin]) {
                        return kUnbounded;
                    }
                    return tally.count(bin) > 0 ? 0 : most;
                },
                most);
            return;
        }
        // A daemon that comes along is in every domain of the new node: it may have none.
        bind(tally.key, arrives ? DomainSet::of(0) : ~tally.populated());
        if (rule.own) found_.batch = 1;
    }

    void spread_hosts(const SpreadRule& rule) {
        const Tally& tally = topology_.tally(rule.tally);
        std::optional<Amount> least = topology_.least_on_hosts(ask_, rule);
        if (least || rule.min_domains) found_.batch = 1;
        if (!least) least = topology_.least_expected(ask_, rule);
        const Amount room = rule.max_skew + *least;
        // A new host that is counted may itself be the one with the fewest.
        const Amount coming = topology_.arriving(arrivals_, rule.tally);
        Amount with_new = std::min(*least, coming);
        if (coming && rule.min_domains) with_new = topology_.least_with_new_host(rule, coming);
        const Amount most = rule.max_skew + with_new - coming;
        if (rule.own) {
            cap([&](int bin) { return std::max<Amount>(room - tally.count(bin), 0); },
                std::max<Amount>(most, 0));
        } else {
            cap([&](int bin) { return room >= tally.count(bin) ? kUnbounded : 0; },
                most >= 0 ? kUnbounded : 0);
        }
        bind_to_named();
    }

    void spread_domains(const SpreadRule& rule) {
        const Tally& tally = topology_.tally(rule.tally);
        const auto [real, paper] = topology_.eligible(ask_, rule.tally);
        const Amount expected = topology_.least_arriving(ask_, rule.tally);
        Amounts lowest;
        real.each([&](int number) { lowest.push_back(tally.certain(number)); });
        paper.each([&](int) { lowest.push_back(expected); });
        if (lowest.size() > 2) {
            std::partial_sort(lowest.begin(), lowest.begin() + 2, lowest.end());
        } else {
            std::sort(lowest.begin(), lowest.end());
        }
        const Amount coming = topology_.arriving(arrivals_, rule.tally);
        if (coming || rule.own) found_.batch = 1;
        // Nobody counts a claim in flight before its node is there.
        const DomainSet nodes = tally.nodes | tally.sure;
        const Amount there_are = nodes.size();
        std::vector<int> allowed;
        for (int number = 1; number < topology_.domains().count(tally.key); ++number) {
            const Amount there = tally.count(number) + coming;
            // A domain on paper is not there to be counted, but for the one of the new node.
            const bool enough = there_are + !nodes.has(number) >= rule.min_domains;
            Amount least = enough && !lowest.empty() ? lowest.front() : 0;
            if (coming && enough && (real.has(number) || paper.has(number))) {
                const Amount counted = real.has(number) ? tally.certain(number) : expected;
                // The daemon that comes may fill the emptiest domain, or the only one.
                if (counted == least)
                    least = lowest.size() > 1 ? std::min(there, lowest[1]) : there;
            }
            if (there + rule.own - least <= rule.max_skew) allowed.push_back(number);
        }
        rank(tally, coming, allowed);
    }

    // Orders domains by their pods, by the turn of a new node there, by name.
    void rank(const Tally& tally, Amount coming, std::vector<int>& allowed) {
        const auto& turns = topology_.turns(id_, tally.key);
        const std::vector<int>& places = topology_.domains().places(tally.key);
        const Topology::Turn last(topology_.templates(), 0);
        const auto turn = [&](int number) {
            const auto found = turns.find(number);
            return found == turns.end() ? last : found->second;
        };
        const auto standing = [&](int number) {
            return std::make_tuple(tally.count(number) + coming, turn(number), places[number]);
        };
        std::sort(allowed.begin(), allowed.end(),
                  [&](int one, int two) { return standing(one) < standing(two); });
        const auto known = std::find_if(found_.ranked.begin(), found_.ranked.end(),
                                        [&](const auto& one) { return one.first == tally.key; });
        if (known == found_.ranked.end()) {
            found_.ranked.emplace_back(tally.key, std::move(allowed));
            return;
        }
        std::erase_if(known->second, [&](int number) {
            return std::find(allowed.begin(), allowed.end(), number) == allowed.end();
        });
    }

    // Leaves of the ranked domains those within all bounds, which are drawn in to them.
    void keep_ranked() {
        for (auto& [key, order] : found_.ranked) {
            const auto bound = bounds_.find(key);
            if (bound != bounds_.end()) {
                std::erase_if(order, [&](int number) { return !bound->second.has(number); });
            }
            DomainSet kept;
            for (const int number : order) kept.add(number);
            bounds_[key] = std::move(kept);
        }
    }

    void bind(int key, const DomainSet& within) {
        const auto [bound, is_new] = bounds_.try_emplace(key, within);
        if (!is_new) bound->second &= within;
    }

    void bind_to_named() {
        const Mask& named = topology_.named();
        if (std::all_of(named.begin(), named.end(), [](auto has) { return has; })) return;
        cap(
            [&](int bin) {
                return static_cast<std::size_t>(bin) >= named.size() || named[bin] ? kUnbounded : 0;
            },
            kUnbounded);
    }

    template <typename Most>
    void cap(Most most, Amount with_new) {
        if (!found_.caps) found_.caps.emplace(topology_.bins().size(), kUnbounded);
        for (int bin = 0; bin < topology_.bins().size(); ++bin) {
            Amount& known = (*found_.caps)[bin];
            known = std::min<Amount>(known, most(bin));
        }
        found_.new_cap = std::min(found_.new_cap, with_new);
    }

    Topology& topology_;
    const int id_;
    const Ask& ask_;
    const Arrivals& arrivals_;
    std::map<int, DomainSet> bounds_;
    Verdict found_;
};

const Arrivals Judgement::kNobody;

}  // namespace

std::optional<Verdict> stricter(const Verdict& one, const Verdict& other) {
    std::map<int, DomainSet> bounds;
    for (const Bound& bound : one.bounds) bounds[bound.key] = bound.within;
    for (const Bound& bound : other.bounds) {
        const auto [known, is_new] = bounds.try_emplace(bound.key, bound.within);
        if (!is_new) known->second &= bound.within;
    }
    Verdict found;
    for (const auto& [key, within] : bounds) {
        if (within.empty()) return std::nullopt;
        found.bounds.push_back({key, within});
    }
    found.ranked = one.ranked;
    for (auto& [key, order] : found.ranked) {
        std::erase_if(order, [&](int number) { return !bounds[key].has(number); });
    }
    found.pins = both(one.pins, other.pins);
    found.new_cap = std::min(one.new_cap, other.new_cap);
    found.batch = std::min(one.batch, other.batch);
    return found;
}

std::optional<Verdict> verdict(Topology& topology, int ask, const Arrivals* arrivals) {
    std::optional<Verdict> found =
        topology.ask(ask).rules.none() ? Verdict() : Judgement(topology, ask, arrivals).verdict();
    if (!found || !arrivals || arrivals->pins.empty()) return found;
    found->pins = both(found->pins, arrivals->pins);
    return found;
}

}  // namespace joiner
