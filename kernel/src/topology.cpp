#include "topology.h"

#include "remembered.h"

namespace joiner {

Topology::Topology(Algebra& algebra, const Domains& domains, ClaimClasses& classes,
                   const Bins& bins, Mask named, int nodes)
    : algebra_(algebra),
      domains_(domains),
      classes_(classes),
      bins_(bins),
      named_(std::move(named)),
      nodes_(nodes) {}

int Topology::add_tally(Tally tally) {
    if (!tally.on_hosts()) {
        const std::vector<int>& domains = domain_of(tally.key);
        for (std::size_t bin = 0; bin < domains.size(); ++bin) {
            if (domains[bin] > 0 && (tally.admitted.empty() || tally.admitted[bin])) {
                tally.standing.add(domains[bin]);
                if (will_be_node(static_cast<int>(bin))) tally.nodes.add(domains[bin]);
            }
        }
    }
    tally.counts_virtual = is_virtual_;
    tallies_.push_back(std::make_unique<Tally>(std::move(tally)));
    return static_cast<int>(tallies_.size()) - 1;
}

int Topology::add_shape(Shape shape) {
    shapes_.push_back(std::move(shape));
    return static_cast<int>(shapes_.size()) - 1;
}

void Topology::counts(int tally, int shape) { shapes_.at(shape).counted.push_back(tally); }

int Topology::add_rules(Rules rules) {
    rules_.push_back(std::move(rules));
    return static_cast<int>(rules_.size()) - 1;
}

int Topology::add_ask(Ask ask) {
    asks_.push_back(std::make_unique<Ask>(std::move(ask)));
    return static_cast<int>(asks_.size()) - 1;
}

void Topology::set_arrivals(std::vector<std::vector<Arrivals>> by_pool) {
    arrivals_ = std::move(by_pool);
}

Amount Topology::arriving(const Arrivals& arrivals, int tally) const {
    Amount found = 0;
    for (const int shape : arrivals.shapes) {
        const std::vector<int>& counted = shapes_[shape].counted;
        found += std::find(counted.begin(), counted.end(), tally) != counted.end();
    }
    return found;
}

// How pods are counted.

void Topology::count(int tally, int bin, Amount pods) {
    Tally& one = *tallies_.at(tally);
    if (!has_key(one, bin)) return;
    one.add_anywhere(pods, Presence::kCertain);
    if (!one.admitted.empty() && !one.admitted[bin]) return;
    const int number = one.on_hosts() ? bin : domain_of(one.key)[bin];
    if (one.on_hosts() || number > 0) one.add(number, pods, Presence::kCertain);
}

void Topology::set_virtual(bool is_virtual) {
    if (is_virtual == is_virtual_) return;
    is_virtual_ = is_virtual;
    for (const auto& tally : tallies_) tally->counts_virtual = is_virtual;
}

void Topology::place(int shape, int bin, Amount pods) {
    record(shape, bin, pods, is_virtual_ ? Presence::kVirtual : Presence::kCertain);
    if (!is_virtual_ && !will_be_node(bin)) expect(bin);
}

void Topology::expect(int bin) {
    expected_.insert(bin);
    for (const auto& tally : tallies_) {
        if (tally->on_hosts() || !admits(*tally, bin)) continue;
        const int number = domain_of(tally->key)[bin];
        if (number > 0) tally->nodes.add(number);
    }
}

bool Topology::will_be_node(int bin) const {
    return bin < nodes_ || bin >= bins_.standing() || expected_.count(bin);
}

void Topology::record(int shape, int bin, Amount pods, Presence presence) {
    hold(shape);
    const bool stands = bin < bins_.standing();
    if (!stands) {
        const int claim = bin - bins_.standing();
        const int known = bins_.class_of(claim);
        if (static_cast<std::size_t>(known) >= noted_.size()) noted_.resize(known + 1);
        if (!noted_[known]) {
            noted_[known] = 1;
            opened_.push_back({known, claim});
            changes_.become = true;
        }
    }
    for (const int id : shapes_[shape].counted) {
        Tally& tally = *tallies_[id];
        changes_.tallies.insert(id);
        const bool has = has_key(tally, bin);
        if (has) tally.add_anywhere(pods, presence);
        if (!admits(tally, bin)) continue;
        if (tally.on_hosts()) {
            if (has) tally.add(bin, pods, presence);
        } else if (stands) {
            const int number = domain_of(tally.key)[bin];
            if (number > 0) tally.add(number, pods, presence);
        } else {
            const int known = bins_.class_of(bin - bins_.standing());
            classes_.domains(known, tally.key).each([&](int number) {
                if (number > 0) tally.add(number, pods, presence);
            });
        }
    }
}

void Topology::release(int tally) {
    tallies_.at(tally)->released = true;
    changes_.tallies.insert(tally);
}

void Topology::hold(int shape) {
    const std::vector<int>& holds = shapes_.at(shape).holds;
    held_.insert(holds.begin(), holds.end());
}

bool Topology::in_use(const Ask& ask) const {
    return std::any_of(ask.rules.exclusive.begin(), ask.rules.exclusive.end(),
                       [&](int claim) { return held_.count(claim) > 0; });
}

bool Topology::has_key(const Tally& tally, int bin) {
    if (bin < bins_.standing())
        return tally.on_hosts() ? named_[bin] : domain_of(tally.key)[bin] != 0;
    if (tally.on_hosts()) return true;
    const int known = bins_.class_of(bin - bins_.standing());
    return classes_.domains(known, tally.key) != DomainSet::of(0);
}

bool Topology::admits(Tally& tally, int bin) {
    if (tally.admission < 0) return true;
    if (bin < bins_.standing()) return tally.admitted.empty() || tally.admitted[bin];
    return admits_claim(tally.admission, bin - bins_.standing());
}

bool Topology::admits_claim(int admission, int claim) {
    const int known = bins_.class_of(claim);
    const std::vector<int>& found = admitted(admission, known);
    return std::any_of(found.begin(), found.end(), [&](int narrower) {
        return narrower == known || classes_[narrower].has_room(bins_.used(claim));
    });
}

bool Topology::surely_admits(int admission, int known) {
    if (admission < 0) return true;
    const std::vector<int>& found = admitted(admission, known);
    return std::find(found.begin(), found.end(), known) != found.end();
}

// Returns what claims of a class may become of all that an admission looks at.
const std::vector<int>& Topology::admitted(int admission, int known) {
    return remembered(admitted_, {admission, known},
                      [&] { return algebra_.admitted(admission, known); });
}

// What claims may still become.

void Topology::settle() {
    opened_.clear();
    for (int claim = 0; claim < bins_.claims(); ++claim) {
        opened_.push_back({bins_.class_of(claim), claim});
    }
    for (const auto& tally : tallies_) {
        tally->opened = tally->open = tally->sure = DomainSet();
        tally->seen = 0;
        tally->looks_at.clear();
    }
}

void Topology::see_opened(Tally& tally) {
    for (; tally.seen < opened_.size(); ++tally.seen) {
        const auto [known, claim] = opened_[tally.seen];
        DomainSet there;
        if (tally.admission < 0) {
            there = classes_.domains(known, tally.key);
        } else {
            for (const int narrower : admitted(tally.admission, known)) {
                if (narrower == known || classes_[narrower].has_room(bins_.used(claim))) {
                    there |= classes_.domains(narrower, tally.key);
                }
            }
        }
        there.remove(0);
        DomainSet all = classes_.domains(known, tally.key);
        all.remove(0);
        (all.single() ? tally.opened : tally.open) |= there;
        if (all.single() && surely_admits(tally.admission, known)) tally.sure |= all;
    }
}

bool Topology::give_up_unreachable(int id) {
    Ask& ask = *asks_.at(id);
    bool changed = false;
    for (const SpreadRule& rule : ask.rules.spread) {
        const int key = tallies_[rule.tally]->key;
        if (key == kHost) {
            changed |= !ask.real_hosts;
            ask.real_hosts = true;
            continue;
        }
        const DomainSet fresh = eligible(ask, rule.tally).second - ask.unreachable[key];
        if (fresh.empty()) continue;
        ask.unreachable[key] |= fresh;
        changed = true;
    }
    return changed;
}

std::set<int> Topology::held_open(const Ask& ask) {
    std::set<int> found;
    for (const SpreadRule& rule : ask.rules.spread) {
        const Tally& tally = *tallies_[rule.tally];
        if (tally.on_hosts()) continue;
        const DomainSet paper = eligible(ask, rule.tally).second;
        const DomainSet only = (tally.open & paper) - reach(ask, tally.key);
        only.each([&](int number) {
            if (!tally.certain(number)) found.insert(tally.key);
        });
    }
    return found;
}

// What constraints look at.

const std::vector<int>& Topology::domain_of(int key) {
    return remembered(domain_of_, key, [&] { return algebra_.domain_of(key); });
}

const std::vector<int>& Topology::new_nodes(const Ask& ask) {
    return remembered(new_nodes_, ask.site, [&] { return algebra_.new_nodes(ask.site); });
}

const DomainSet& Topology::reachable(const Ask& ask, int key) {
    return remembered(reachable_, {ask.site, key}, [&] {
        DomainSet found;
        for (const int known : new_nodes(ask)) found |= classes_.domains(known, key);
        found.remove(0);
        return found;
    });
}

const std::map<int, Topology::Turn>& Topology::turns(int id, int key) {
    return remembered(turns_, {id, key}, [&] {
        std::map<int, Turn> found;
        const Ask& ask = this->ask(id);
        const int anywhere = classes_.bounds({});
        for (const int open : new_nodes(ask)) {
            for (const int place : ask.places) {
                const int known = classes_.narrow(open, place, anywhere);
                if (known < 0) continue;
                for (const auto& [number, price] : classes_.prices(known, key, ask.request)) {
                    const Turn turn(classes_[known].pool, price);
                    const auto [least, first] = found.try_emplace(number, turn);
                    if (!first) least->second = std::min(least->second, turn);
                }
            }
        }
        return found;
    });
}

std::pair<DomainSet, DomainSet> Topology::eligible(const Ask& ask, int id) {
    Tally& tally = *tallies_.at(id);
    see_opened(tally);
    const DomainSet real = tally.standing | tally.opened | tally.foreseen;
    return {real, (reach(ask, tally.key) | tally.open) - real};
}

DomainSet Topology::reach(const Ask& ask, int key) {
    const auto given_up = ask.unreachable.find(key);
    const DomainSet& all = reachable(ask, key);
    return given_up == ask.unreachable.end() ? all : all - given_up->second;
}

std::optional<Amount> Topology::least_on_hosts(const Ask& ask, const SpreadRule& rule) {
    if (!rule.min_domains && classes_.templates() && !ask.real_hosts) return std::nullopt;
    const auto [counts, there] = looked_at(*tallies_[rule.tally]);
    if (counts.empty() || there < rule.min_domains) return std::nullopt;
    return *std::min_element(counts.begin(), counts.end());
}

Amount Topology::least_expected(const Ask& ask, const SpreadRule& rule) {
    if (rule.min_domains) return 0;
    const Amount coming = least_arriving(ask, rule.tally);
    if (!coming) return 0;
    const Amounts counts = looked_at(*tallies_[rule.tally]).counts;
    if (counts.empty()) return coming;
    return std::min(coming, *std::min_element(counts.begin(), counts.end()));
}

Amount Topology::least_with_new_host(const SpreadRule& rule, Amount coming) {
    const auto [counts, there] = looked_at(*tallies_[rule.tally]);
    if (there + 1 < rule.min_domains) return 0;
    Amount least = coming;
    for (const Amount count : counts) least = std::min(least, count);
    return least;
}

Amount Topology::least_arriving(const Ask& ask, int tally) {
    std::optional<Amount> least;
    std::set<int> pools;
    for (const int known : new_nodes(ask)) pools.insert(classes_[known].pool);
    for (const int pool : pools) {
        for (const Arrivals& one : arrivals(pool)) {
            const Amount coming = arriving(one, tally);
            least = std::min(least.value_or(coming), coming);
        }
    }
    return least.value_or(0);
}

Topology::Hosts Topology::looked_at(Tally& tally) {
    Hosts found;
    if (tally.host_foreseen) found.counts.push_back(0);
    for (int bin = 0; bin < bins_.size(); ++bin) {
        if (!looks_at(tally, bin)) continue;
        found.counts.push_back(tally.certain(bin));
        // Nobody counts a claim in flight before its node is there.
        const int claim = bin - bins_.standing();
        const bool sure = claim < 0 || surely_admits(tally.admission, bins_.class_of(claim));
        found.there += sure && will_be_node(bin);
    }
    return found;
}

bool Topology::looks_at(Tally& tally, int bin) {
    if (bin < bins_.standing()) return tally.admitted.empty() || tally.admitted[bin];
    if (tally.admission < 0) return true;
    const int claim = bin - bins_.standing();
    return remembered(tally.looks_at, bins_.class_of(claim),
                      [&] { return admits_claim(tally.admission, claim); });
}

std::vector<int> Topology::hosts(int id) {
    Tally& tally = *tallies_.at(id);
    std::vector<int> found;
    for (int bin = 0; bin < bins_.size(); ++bin) {
        if (looks_at(tally, bin)) found.push_back(bin);
    }
    return found;
}

DomainSet Topology::seen(int id) {
    Tally& tally = *tallies_.at(id);
    see_opened(tally);
    return tally.standing | tally.opened;
}

std::vector<int> Topology::places(int id, int bin) {
    Tally& tally = *tallies_.at(id);
    if (!admits(tally, bin) || !has_key(tally, bin)) return {};
    if (tally.on_hosts()) return {bin};
    if (bin < bins_.standing()) {
        const int number = domain_of(tally.key)[bin];
        return number > 0 ? std::vector<int>{number} : std::vector<int>{};
    }
    std::vector<int> found;
    classes_.domains(bins_.class_of(bin - bins_.standing()), tally.key).each([&](int number) {
        if (number > 0) found.push_back(number);
    });
    return found;
}

bool Topology::are_enough(const SpreadRule& rule) {
    if (!rule.min_domains) return true;
    Tally& tally = *tallies_[rule.tally];
    if (tally.on_hosts()) return looked_at(tally).there >= rule.min_domains;
    see_opened(tally);
    return (tally.nodes | tally.sure).size() >= rule.min_domains;
}

void Topology::foresee(int id, int number, Amount pods) {
    Tally& tally = *tallies_.at(id);
    if (number < 0) {
        tally.host_foreseen = true;
        return;
    }
    tally.foreseen.add(number);
    if (pods) tally.add(number, pods, Presence::kPerhaps);
}

}  // namespace joiner
