#include "foresight.h"

#include <numeric>
#include <set>

namespace joiner {
namespace {

// What constraints of one kind look at once all nodes are there.
struct Scene {
    // Domains, or hosts, and those of which that is not decided.
    std::vector<int> looked_at;
    DomainSet open;
    // Pods of the plan, by place.
    std::map<int, Amount> all;
};

class Foresight {
public:
    Foresight(Packing& packing, const std::vector<int>& hard)
        : packing_(packing), topology_(packing.topology()), hard_(hard) {}

    std::vector<Surprise> surprises() {
        if (!may_be_surprised()) return {};
        topology_.settle();
        find_scenes();
        count_all();
        if (replay(false).empty()) return {};
        // Whoever has a node already may be bound before any other comes up.
        const std::set<Surprise> found = replay(true);
        return {found.begin(), found.end()};
    }

private:
    // A tally, and a domain or host.
    using Place = std::pair<int, int>;
    using Pods = std::map<Place, Amount>;

    // Tells whether there is anything that was not known when the first pod was placed.
    bool may_be_surprised() {
        std::set<int> coming;
        for (int pool = 0; pool < topology_.templates(); ++pool) {
            for (const Arrivals& one : topology_.arrivals(pool)) {
                for (const auto* shapes : {&one.shapes, &one.perhaps}) {
                    for (const int shape : *shapes) {
                        const std::vector<int>& counted = topology_.shape(shape).counted;
                        coming.insert(counted.begin(), counted.end());
                    }
                }
            }
        }
        std::set<std::pair<int, int>> known;
        for (const int id : hard_) {
            if (id < 0) continue;
            const Ask& ask = topology_.ask(id);
            for (const SpreadRule& rule : ask.rules.spread) {
                const bool usual = ask.unreachable.empty() && !ask.real_hosts && !rule.min_domains;
                if (usual && !known.insert({rule.tally, ask.site}).second) continue;
                if (coming.count(rule.tally) || is_new(ask, rule)) return true;
            }
        }
        return false;
    }

    bool is_new(const Ask& ask, const SpreadRule& rule) {
        const Tally& tally = topology_.tally(rule.tally);
        if (tally.on_hosts()) return ask.real_hosts || rule.min_domains;
        const DomainSet seen = topology_.seen(rule.tally) | tally.open;
        return !(seen - tally.standing - topology_.reach(ask, tally.key)).empty();
    }

    // Finds what pods are spread over.
    void find_scenes() {
        for (const Placement& one : packing_.placements()) {
            if (hard_[one.group] < 0) continue;
            for (const SpreadRule& rule : topology_.ask(hard_[one.group]).rules.spread) {
                const auto [scene, is_first] = scenes_.try_emplace(rule.tally);
                if (is_first) look(rule.tally, scene->second);
            }
        }
    }

    void look(int id, Scene& scene) {
        const Tally& tally = topology_.tally(id);
        if (tally.on_hosts()) {
            scene.looked_at = topology_.hosts(id);
            return;
        }
        const DomainSet real = topology_.seen(id);
        scene.open = tally.open - real;
        (real | scene.open).each([&](int number) { scene.looked_at.push_back(number); });
    }

    void count_all() {
        for (const Placement& one : packing_.placements()) {
            std::vector<Place>& places = counted_.emplace_back();
            if (packing_.group(one.group).is_virtual) continue;
            for (const int tally : topology_.shape(topology_.ask(one.ask).shape).counted) {
                const auto scene = scenes_.find(tally);
                if (scene == scenes_.end()) continue;
                for (const int place : topology_.places(tally, one.bin)) {
                    places.emplace_back(tally, place);
                    scene->second.all[place] += one.count;
                }
            }
        }
    }

    // Binds pods in the order in which they were placed, perhaps those first that need not wait for
    // a node, and returns what keeps some from being bound.
    std::set<Surprise> replay(bool nodes_first) {
        std::vector<std::size_t> order(packing_.placements().size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        Pods bound;
        const auto bind_early = [&](std::size_t index) {
            const Placement& one = packing_.placements()[index];
            if (!topology_.is_node(one.bin) || !refusals(one, bound, true).empty()) return false;
            bind(index, bound);
            return true;
        };
        if (nodes_first) std::erase_if(order, bind_early);
        std::set<Surprise> found;
        for (const std::size_t index : order) {
            for (const auto& [rule, place] : refusals(packing_.placements()[index], bound, false)) {
                tell(*rule, bound, place, found);
            }
            bind(index, bound);
        }
        return found;
    }

    void bind(std::size_t index, Pods& bound) const {
        for (const Place& place : counted_[index]) {
            bound[place] += packing_.placements()[index].count;
        }
    }

    // Returns the constraints by which a pod is not bound, and where; `early`: while no new node is
    // there.
    std::vector<std::pair<const SpreadRule*, int>> refusals(const Placement& one, const Pods& bound,
                                                            bool early) {
        std::vector<std::pair<const SpreadRule*, int>> found;
        if (hard_[one.group] < 0) return found;
        for (const SpreadRule& rule : topology_.ask(hard_[one.group]).rules.spread) {
            for (const int place : topology_.places(rule.tally, one.bin)) {
                const Amount there = pods(rule.tally, bound, place, true) + rule.own * one.count;
                // The least is at least none.
                if (there <= rule.max_skew) continue;
                if (there - lowest(rule, bound, early) > rule.max_skew) {
                    found.emplace_back(&rule, place);
                }
            }
        }
        return found;
    }

    // Tells which domains are too empty beside one; of those that were foreseen, or were there
    // before, the fault is with pods that came to the one.
    void tell(const SpreadRule& rule, const Pods& bound, int place, std::set<Surprise>& found) {
        const Tally& tally = topology_.tally(rule.tally);
        const Scene& scene = scenes_.at(rule.tally);
        const Amount least = pods(rule.tally, bound, place, true) + rule.own - rule.max_skew;
        bool is_new = false;
        for (const int number : scene.looked_at) {
            if (pods(rule.tally, bound, number, false) >= least) continue;
            if (tally.on_hosts()) {
                if (tally.host_foreseen || number < packing_.bins().standing()) continue;
                found.insert({rule.tally, -1, 0, false});
            } else {
                if (tally.standing.has(number) || tally.foreseen.has(number)) continue;
                found.insert({rule.tally, number, 0, scene.open.has(number)});
            }
            is_new = true;
        }
        if (is_new || tally.on_hosts()) return;
        found.insert({rule.tally, place, least - lowest(rule, bound, false), false});
    }

    // Returns the smallest number of pods anywhere; `early`: on the nodes that are there.
    Amount lowest(const SpreadRule& rule, const Pods& bound, bool early) {
        const Tally& tally = topology_.tally(rule.tally);
        Amount found = kUnbounded;
        Amount places = 0;
        for (const int number : scenes_.at(rule.tally).looked_at) {
            const bool is_there =
                tally.on_hosts() ? topology_.is_node(number) : tally.standing.has(number);
            if (early && !is_there) continue;
            ++places;
            found = std::min(found, pods(rule.tally, bound, number, false));
        }
        const bool enough = early ? places >= rule.min_domains : topology_.are_enough(rule);
        return places && enough ? found : 0;
    }

    // Returns how many pods there are at a place at most, or at least, if of the plan's only some
    // are bound.
    Amount pods(int id, const Pods& bound, int place, bool most) const {
        const Tally& tally = topology_.tally(id);
        const auto in = [](const auto& counts, const auto& key) {
            const auto found = counts.find(key);
            return found == counts.end() ? 0 : found->second;
        };
        return (most ? tally.likely(place) : tally.certain(place)) - in(scenes_.at(id).all, place) +
               in(bound, Place(id, place));
    }

    Packing& packing_;
    Topology& topology_;
    // By group.
    const std::vector<int>& hard_;
    std::map<int, Scene> scenes_;
    // By placement, where its pods are counted.
    std::vector<std::vector<Place>> counted_;
};

}  // namespace

std::vector<Surprise> surprises(Packing& packing, const std::vector<int>& hard) {
    return Foresight(packing, hard).surprises();
}

}  // namespace joiner
