// First fit by groups of equal pods: standing bins in their order, then claims of this plan, then
// new claims of the first pool that can.
#pragma once

#include <set>

#include "limits.h"
#include "reservations.h"
#include "verdict.h"

namespace joiner {

class Packing {
public:
    // `standing`: what is free of each standing bin; `named`: which have the hostname label;
    // `nodes`: how many, the first ones, are nodes already.
    Packing(Algebra& algebra, const Domains& domains, Matrix standing, Mask named, int nodes,
            Amounts reservations, bool strict_min_values);
    Packing(const Packing&) = delete;

    int add_template(Template sold, Limits limits);

    ClaimClasses& classes() { return classes_; }
    Topology& topology() { return topology_; }
    const Topology& topology() const { return topology_; }
    const Bins& bins() const { return bins_; }
    Limits& limits(int pool) { return limits_.at(pool); }
    const std::vector<Placement>& placements() const { return placements_; }
    // Groups that wait for a reservation to be settled.
    std::set<int>& deferred() { return deferred_; }

    // One of the asks of a group, most wishes first.
    struct Wish {
        // Which wish of its pods makes one of them lead the others; -1 for none.
        int leads = -1;
        // Whether it keeps to where the companions of its pods may run.
        bool near_companions = false;
        // Its number; -1 until it is known.
        int ask = -1;
    };
    // A group of pods.
    struct Group {
        // Whether nodes are bought for it, whether it waits for reservations that are promised to
        // others.
        bool buys = true;
        bool waits = true;
        // How many of its pods have no place yet.
        Amount left = 0;
        // When it is its turn, and whether the turn is that of virtual pods.
        int turn = 0;
        bool is_virtual = false;
        // Whether its pods claim devices, and whether nobody counts these: they rather wait.
        bool devices = false;
        bool ignored = false;
        // Whether an earlier plan put pods of it somewhere.
        bool expected = false;
        // Tallies one of which has to count a pod, for each affinity that nobody else meets.
        std::vector<std::vector<int>> awaited;
        // Groups that go first where it has found a place, since they have less of a choice.
        std::vector<int> more_tied;
        std::vector<Wish> wishes;
        // Whether it no longer keeps to where its companions may run.
        bool alone = false;
        // Most of its pods that are to be on one claim.
        Amount most_on_claim = kUnbounded;
    };
    void add_group(Group group);
    Group& group(int id) { return groups_.at(id); }
    const Group& group(int id) const { return groups_.at(id); }
    // Returns the group that has this turn.
    int group_at(int turn) const { return at_turn_.at(turn); }
    const std::vector<Group>& groups() const { return groups_; }

    // Places up to `want` pods of a group and returns how many found room.
    Amount place(int group, int ask, Amount want);
    // Returns standing bins that a pod may run on, and how many such pods fit on each.
    std::pair<std::vector<int>, Amounts> room(int ask, const Verdict& where);
    // Places pods of a group on a standing bin with room for them.
    void take_standing(int group, int ask, int bin, Amount count);
    // Tells whether a claim that becomes another class keeps the minValues that it has to.
    bool keeps_values_as(int claim, int known) const;
    // Lets a claim be of another class, of fewer types, that has room for its pods.
    void become(int claim, int known);

private:
    // Pods of a group that are to be narrowed for in one way.
    struct Choice {
        int group;
        int ask;
        int place;
        int bounds;
    };
    struct Opening;

    // On standing bins.
    Amount place_standing(int group, int ask, const Verdict& where, Amount want);
    // Calls `use` with the bins where pods of an ask may go, in order, for as long as it says so.
    template <typename Use>
    void each_candidate(int ask, const Verdict& where, Use use);
    // Standing bins of which an ask likes the labels, and that had room when last looked at;
    // kept for one ask, since pods that look at others come one by one.
    std::vector<int>& roomy(int ask);
    const Mask& compatible(const Ask& ask);
    const Mask& within(const Bound& bound);

    // On claims of this plan.
    std::vector<DomainSet> reached_by_claims(const Ask& ask, const Verdict& where);
    Amount join(int group, int ask, Verdict& where, Amount want);
    // `dearer`: whether claims may get dearer by it.
    Amount join_choice(const Choice& choice, Verdict& where, Amount want, bool dearer);
    template <typename Becomes>
    Amount join_with_devices(const Choice& choice, Verdict& where, Becomes becomes);
    // Returns what a claim of a class, with so much used, becomes if a pod moves in; -1.
    int narrowed(int known, const Amount* used, const Choice& choice, const Verdict& where);
    // Returns how many of so many pods fit on a claim of a class with so much used, which was of
    // another class before; -1 for a new one.
    Amount most_on(int known, int before, const Amount* used, const Ask& ask, Amount want);
    // Returns how many of those for whom there is room may come, by all but room.
    Amount most_kept(int known, int before, const Amount* used, const Ask& ask, Amount most);
    void take_claim(int group, int ask, int claim, Amount count, int known);
    // Returns how many more pods of a group are to be on a claim.
    Amount left_on(int group, int claim) const;
    // Hands over the devices that were found last to the pod on this claim.
    void hand_over(int shape, int claim);
    // Lets the algebra know what a claim is now that it was something else before.
    void tell_what_is_left(int claim);

    // On new ones.
    Amount open(int group, int ask, const std::optional<Verdict>& where, Amount want);
    std::optional<Opening> opening_of(int group, int ask, const std::optional<Verdict>& where,
                                      int whole, const std::vector<int>& kinds);
    static Arrivals either(const std::vector<Arrivals>& arrivals, const std::vector<int>& kinds);
    std::optional<Amount> open_some(const Opening& opening, Amount want);
    std::vector<int> cheapest_first(const Opening& opening);
    Amount open_as(const Opening& opening, int known, Amount want);
    template <typename Use>
    void each_opening(const Opening& opening, Use use);

    Algebra& algebra_;
    ClaimClasses classes_;
    Bins bins_;
    Topology topology_;
    std::vector<Limits> limits_;
    Reservations reservations_;
    bool strict_min_values_;
    std::vector<Group> groups_;
    std::map<int, int> at_turn_;
    std::vector<Placement> placements_;
    std::set<int> deferred_;
    // Pods by group and claim, of groups of which only so many are to be on one.
    std::map<std::pair<int, int>, Amount> together_;
    // Claims whose pods have devices.
    std::set<int> with_devices_;
    std::map<int, Mask> compatible_;
    std::vector<int> roomy_;
    int roomy_for_ = -1;
    // By the number that the classes have for the bound.
    std::map<int, Mask> within_;
};

}  // namespace joiner
