// Where all pods are: counts by domain and by host, changed by `record` alone.
//
// Every claim on which a counted pod lands is in one domain of the key from then on, so that what
// is counted is what will be.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "bins.h"
#include "claim_class.h"
#include "domains.h"
#include "rules.h"
#include "tally.h"

namespace joiner {

class Topology {
public:
    // `named`: the standing bins that have the hostname label; the first `nodes` of them are nodes
    // already, the others claims in flight.
    Topology(Algebra& algebra, const Domains& domains, ClaimClasses& classes, const Bins& bins,
             Mask named, int nodes);

    int add_tally(Tally tally);
    int add_shape(Shape shape);
    void counts(int tally, int shape);
    // Counts pods that run on a standing bin.
    void count(int tally, int bin, Amount pods);
    // Lets those who have to be together with a tally's pods go elsewhere, too: the volume that
    // they share was there before, and can be used wherever it says.
    void release(int tally);
    // Lets a tally look at a domain, or with -1 at a host, that only a later claim will make; and
    // at so many more pods there, which may come.
    void foresee(int tally, int number, Amount pods);
    // What other pods mean for asks that are alike in it.
    int add_rules(Rules rules);
    const Rules& rules(int id) const { return rules_.at(id); }
    int add_ask(Ask ask);
    void set_arrivals(std::vector<std::vector<Arrivals>> by_pool);

    const Tally& tally(int id) const { return *tallies_.at(id); }
    const Shape& shape(int id) const { return shapes_.at(id); }
    const Ask& ask(int id) const { return *asks_.at(id); }
    const Bins& bins() const { return bins_; }
    const Domains& domains() const { return domains_; }
    int templates() const { return static_cast<int>(classes_.templates()); }
    const Mask& named() const { return named_; }
    const std::vector<Arrivals>& arrivals(int pool) const { return arrivals_.at(pool); }
    // Returns how many of these daemons a tally counts.
    Amount arriving(const Arrivals& arrivals, int tally) const;

    // Says whether virtual pods have the turn: what is recorded for them is there for them only.
    void set_virtual(bool is_virtual);
    // Counts pods of whoever has the turn that were placed on a bin.
    void place(int shape, int bin, Amount pods);
    // Counts pods that are on a bin.
    void record(int shape, int bin, Amount pods, Presence presence);
    void hold(int shape);
    // Whether one pod at a time may use a volume claim that the ask is about, and one does.
    bool in_use(const Ask& ask) const;
    bool is_held(int claim) const { return held_.count(claim) > 0; }
    // Looks again at all claims of the plan: what one may become narrows as it fills.
    void settle();
    // Forgets domains that exist only on paper and in which this pod got no node; false if none.
    bool give_up_unreachable(int ask);
    // Keys by which claims that may still go anywhere hold a pod back.
    std::set<int> held_open(const Ask& ask);

    // What has changed since this was asked before: tallies, whether there are new claims, whether
    // a claim has become something that none was before.
    struct Changes {
        std::set<int> tallies;
        bool opened = false;
        bool become = false;
    };
    Changes changes() { return std::exchange(changes_, {}); }
    void note_opened() { changes_.opened = true; }

    // The domains of standing bins; -1 where one is not decided yet.
    const std::vector<int>& domain_of(int key);
    // The domains that a spread constraint looks at: real ones, and those on paper.
    std::pair<DomainSet, DomainSet> eligible(const Ask& ask, int tally);
    // The domains in which this pod could get a new node, by labels and taints.
    const DomainSet& reachable(const Ask& ask, int key);
    // The same but for those given up.
    DomainSet reach(const Ask& ask, int key);
    // By domain when a new node there would be had: the pool's turn, then the price.
    using Turn = std::pair<int, Amount>;
    const std::map<int, Turn>& turns(int ask, int key);
    // The smallest count on any host that a constraint looks at; nothing while an empty one can
    // still be had, or where there are too few.
    std::optional<Amount> least_on_hosts(const Ask& ask, const SpreadRule& rule);
    // The same while an empty one can still be had: with the daemons that come to every node.
    Amount least_expected(const Ask& ask, const SpreadRule& rule);
    // The same once there is one host more, with so many daemons.
    Amount least_with_new_host(const SpreadRule& rule, Amount coming);
    // How many pods that a tally counts come to any node that the pod could get.
    Amount least_arriving(const Ask& ask, int tally);
    // The hosts that a tally looks at, and the domains that are there.
    std::vector<int> hosts(int tally);
    DomainSet seen(int tally);
    // The domains in which pods on a bin are counted, or its own number for hosts.
    std::vector<int> places(int tally, int bin);
    // Whether a bin is a node already.
    bool is_node(int bin) const { return bin < nodes_; }
    // Whether pods find nodes in as many domains, or on as many hosts, as a constraint wants.
    bool are_enough(const SpreadRule& rule);
    // Returns what claims of a class may become of all that a spread constraint looks at.
    const std::vector<int>& admitted(int admission, int known);

private:
    const std::vector<int>& new_nodes(const Ask& ask);
    void see_opened(Tally& tally);
    bool admits(Tally& tally, int bin);
    bool admits_claim(int admission, int claim);
    // Whether an admission looks at claims of a class whatever they become.
    bool surely_admits(int admission, int known);
    bool has_key(const Tally& tally, int bin);
    // Whether a pod of this plan finds a node there: it is one, is bought, or pods wait for it.
    bool will_be_node(int bin) const;
    void expect(int bin);
    bool looks_at(Tally& tally, int bin);
    // How many pods there are on the hosts that a tally looks at.
    struct Hosts {
        // How many pods there are at least on each.
        Amounts counts;
        // How many of them are nodes, or will be by this plan.
        Amount there = 0;
    };
    Hosts looked_at(Tally& tally);

    // A claim of this plan when its class was first met.
    struct Opened {
        int known;
        int claim;
    };

    Algebra& algebra_;
    const Domains& domains_;
    ClaimClasses& classes_;
    const Bins& bins_;
    Mask named_;
    int nodes_;
    bool is_virtual_ = false;
    std::set<int> expected_;
    std::map<int, std::vector<int>> domain_of_;
    std::vector<std::unique_ptr<Tally>> tallies_;
    // They keep their place: one may be looked at while Python, asked meanwhile, tells of others.
    std::deque<Shape> shapes_;
    std::deque<Rules> rules_;
    std::vector<std::unique_ptr<Ask>> asks_;
    std::vector<std::vector<Arrivals>> arrivals_;
    std::vector<Opened> opened_;
    std::vector<std::uint8_t> noted_;
    std::set<int> held_;
    std::map<std::pair<int, int>, std::vector<int>> admitted_;
    std::map<int, std::vector<int>> new_nodes_;
    std::map<std::pair<int, int>, DomainSet> reachable_;
    std::map<std::pair<int, int>, std::map<int, Turn>> turns_;
    Changes changes_;
};

}  // namespace joiner
