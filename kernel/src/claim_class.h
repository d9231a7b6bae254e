// Claims that are alike in what they may still become, and how they narrow.
//
// A claim never holds a list of types while it is packed: it has a class, the class has a frontier
// of room, and "some type still fits" is "it fits under the frontier".
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "algebra.h"
#include "domains.h"
#include "numbers.h"

namespace joiner {

// What a pool could buy: rows of room, offerings of rows.
struct Template {
    // Rows x resources: what is left for pods after daemons.
    Matrix room;
    // Per offering.
    std::vector<int> row;
    Amounts price;
    // Index of its reservation, -1 for none.
    std::vector<int> reservation;
    // The offerings in order of price, capacity type precedence, type and zone.
    std::vector<int> ranked;
};

// How many values of a key the types of a claim have to leave to choose from.
struct MinValues {
    Amount least;
    // Per offering the index into `values`.
    std::vector<int> group;
    // What such an offering has of the values that are allowed.
    std::vector<std::vector<int>> values;
    int distinct;
};

// Pairs of a key and one of the few values that are left of it, by their numbers, ascending.
using Values = std::vector<std::pair<int, int>>;

class ClaimClass {
public:
    ClaimClass(int id, int pool, const Template& sold, Mask offerings,
               std::vector<MinValues> wanted)
        : id(id),
          pool(pool),
          sold(sold),
          offerings(std::move(offerings)),
          wanted(std::move(wanted)) {}

    const int id;
    const int pool;
    const Template& sold;
    // What could still be bought, room apart.
    const Mask offerings;
    const std::vector<MinValues> wanted;

    // What fits under any of its rows fits on some type.
    const Matrix& frontier() const;
    // In no resource does any type have more.
    const Amounts& roof() const;
    // Its offerings, cheapest first.
    const std::vector<int>& ranked() const;
    // Which rows have an offering that could still be bought.
    const Mask& rows() const;

    // Tells whether any type has this much room.
    bool has_room(const Amount* used) const;
    // Returns the rows that have this much room.
    Mask rows_for(const Amount* used) const;
    // Returns the cheapest offering, or its row, with this much room; -1 if there is none.
    int cheapest(const Amount* used) const;
    int cheapest_row(const Amount* used) const;

private:
    friend class ClaimClasses;
    struct Made {
        Matrix frontier;
        Amounts roof;
        std::vector<int> ranked;
        Mask rows;
    };
    const Made& made() const;

    Values left_;
    mutable std::unique_ptr<Made> made_;
    mutable std::unordered_map<std::uint64_t, int> narrowed_;
    mutable std::unordered_map<int, KeyView> views_;
};

// The place that asks for nothing.
inline constexpr int kAnywhere = -1;

class ClaimClasses {
public:
    ClaimClasses(Algebra& algebra, const Domains& domains, std::size_t resources)
        : algebra_(algebra), domains_(domains), resources_(resources) {}

    std::size_t resources() const { return resources_; }
    int add_template(Template sold);
    const Template& sold(int pool) const { return *templates_[pool]; }
    std::size_t templates() const { return templates_.size(); }
    // Called as the algebra finds new classes.
    int add(int pool, Mask offerings, std::vector<MinValues> wanted);
    const ClaimClass& operator[](int id) const { return *all_.at(id); }
    std::size_t size() const { return all_.size(); }

    // Takes in all values that a class, or a place, leaves of each key of which they are few. Where
    // a class and a place have none of a key in common the pod cannot move in, which nobody need be
    // asked: of as many kinds of claims as there are pods each pod would ask about all.
    void class_leaves(int known, Values values) { all_[known]->left_ = std::move(values); }
    void place_leaves(int place, Values values);
    // Returns a number for these bounds, by which `narrow` knows them.
    int bounds(Bounds bounds);
    // Returns the class that claims become if a pod moves in; -1 if it cannot.
    int narrow(int known, int place, int bounds);
    // Returns the class in one domain of each key, that of its cheapest offering with room; -1.
    int pinned(int known, const std::vector<int>& keys, const Amount* used);
    // Returns the class of an empty claim of a pool, on these rows only if there are any.
    int root(int pool, const std::optional<Mask>& rows);
    int restrict(int known, const Mask& offerings) { return algebra_.restrict(known, offerings); }
    // Returns of a class what some of its pool's arrivals come to, and no others; -1 if nothing.
    int reached(int known, const std::vector<int>& arrivals);
    // Returns the class in each domain of a key, that with the cheapest offering first.
    std::vector<int> split(int known, int key, const Request& request);
    const KeyView& view(int known, int key) const;
    const DomainSet& domains(int known, int key) const { return view(known, key).domains; }
    // Returns by domain the least price of a claim with room for the pod, domains ascending.
    std::vector<std::pair<int, Amount>> prices(int known, int key, const Request& request) const;

private:
    // Tells whether a class is never in these domains, whatever it becomes.
    bool beyond(int known, const Bounds& bounds) const;

    Algebra& algebra_;
    const Domains& domains_;
    std::size_t resources_;
    std::map<std::pair<int, Mask>, int> roots_;
    std::map<std::pair<int, std::vector<int>>, int> reached_;
    std::vector<std::unique_ptr<Template>> templates_;
    std::vector<std::unique_ptr<ClaimClass>> all_;
    std::vector<Values> left_;
    std::vector<Bounds> bounds_;
    std::unordered_map<std::size_t, std::vector<int>> bounds_by_hash_;
};

}  // namespace joiner
