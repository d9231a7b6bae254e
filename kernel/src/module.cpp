// What Python sees of the kernel.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "foresight.h"
#include "session.h"

namespace joiner {
namespace {

using namespace nb::literals;

using Wanted = std::tuple<Amount, Ints, std::vector<std::vector<int>>, int>;
using Spread = std::tuple<int, Amount, Amount, Amount>;
using Affinity = std::pair<std::vector<int>, bool>;
using Coming = std::tuple<std::vector<int>, bool, int, std::vector<int>>;

int add_template(Session& self, const Rows& room, const Ints& row, const Ints& price,
                 const Ints& reservation, const Ints& ranked, const Rows& capacities, Amounts left,
                 std::optional<Amount> nodes) {
    Template sold{to_matrix(room), to_numbers(row), to_amounts(price), to_numbers(reservation),
                  to_numbers(ranked)};
    Limits limits(to_matrix(capacities), std::move(left), nodes);
    return self.packing.add_template(std::move(sold), std::move(limits));
}

int add_class(Session& self, int pool, const Flags& offerings, std::vector<Wanted> wanted) {
    std::vector<MinValues> least;
    for (auto& [count, group, values, distinct] : wanted) {
        least.push_back({count, to_numbers(group), std::move(values), distinct});
    }
    return self.packing.classes().add(pool, to_mask(offerings), std::move(least));
}

int add_tally(Session& self, std::optional<int> key, std::optional<int> admission,
              std::optional<Flags> admitted) {
    Tally tally;
    tally.key = key.value_or(kHost);
    tally.admission = admission.value_or(-1);
    if (admitted) tally.admitted = to_mask(*admitted);
    return self.packing.topology().add_tally(std::move(tally));
}

int add_rules(Session& self, const std::vector<Spread>& spread,
              const std::vector<Affinity>& affinity, const std::vector<std::pair<int, bool>>& apart,
              std::vector<int> together, std::vector<int> exclusive, std::vector<int> pins) {
    Rules rules;
    for (const auto& [tally, skew, domains, own] : spread) {
        rules.spread.push_back({tally, skew, domains, own});
    }
    for (const auto& [tallies, own] : affinity) rules.affinity.push_back({tallies, own});
    for (const auto& [tally, own] : apart) rules.apart.push_back({tally, own});
    rules.together = std::move(together);
    rules.exclusive = std::move(exclusive);
    rules.pins = std::move(pins);
    return self.packing.topology().add_rules(std::move(rules));
}

int add_ask(Session& self, int shape, int site, std::vector<int> places, bool anywhere,
            const Ints& request, int rules) {
    Topology& topology = self.packing.topology();
    return topology.add_ask({shape,
                             site,
                             std::move(places),
                             anywhere,
                             Request(to_amounts(request)),
                             topology.rules(rules),
                             {},
                             false});
}

void set_arrivals(Session& self, const std::vector<std::vector<Coming>>& by_pool) {
    std::vector<std::vector<Arrivals>> found;
    for (const auto& of_pool : by_pool) {
        found.emplace_back();
        for (const auto& [shapes, partly, settled, pins] : of_pool) {
            found.back().push_back({shapes, {}, partly, settled, pins});
        }
    }
    self.packing.topology().set_arrivals(std::move(found));
}

void count(Session& self, int tally, const Ints& bins, const Ints& pods) {
    for (std::size_t index = 0; index < bins.size(); ++index) {
        self.packing.topology().count(tally, static_cast<int>(bins.data()[index]),
                                      pods.data()[index]);
    }
}

std::optional<Verdict> verdict_on(Session& self, int ask, std::optional<int> pool, int arrivals) {
    Topology& topology = self.packing.topology();
    return verdict(topology, ask, pool ? &topology.arrivals(*pool).at(arrivals) : nullptr);
}

std::vector<std::pair<int, nb::int_>> bounds(const Verdict& where) {
    std::vector<std::pair<int, nb::int_>> found;
    for (const Bound& bound : where.bounds) found.emplace_back(bound.key, to_bits(bound.within));
    return found;
}

std::tuple<IntsOut, IntsOut> room(Session& self, int ask, const Verdict& where) {
    auto [bins, counts] = self.packing.room(ask, where);
    return {to_ints(bins), to_ints(std::move(counts))};
}

std::tuple<IntsOut, IntsOut, IntsOut> placements(const Session& self) {
    std::tuple<Amounts, Amounts, Amounts> found;
    for (const Placement& one : self.packing.placements()) {
        std::get<0>(found).push_back(one.group);
        std::get<1>(found).push_back(one.bin);
        std::get<2>(found).push_back(one.count);
    }
    auto& [groups, bins, counts] = found;
    return {to_ints(std::move(groups)), to_ints(std::move(bins)), to_ints(std::move(counts))};
}

IntsOut classes(const Session& self) {
    std::vector<int> found;
    for (int claim = 0; claim < self.packing.bins().claims(); ++claim) {
        found.push_back(self.packing.bins().class_of(claim));
    }
    return to_ints(found);
}

IntsOut pods(const Session& self) {
    Amounts found;
    for (int claim = 0; claim < self.packing.bins().claims(); ++claim) {
        found.push_back(self.packing.bins().pods(claim));
    }
    return to_ints(std::move(found));
}

std::pair<nb::int_, nb::int_> eligible(Session& self, int ask, int tally) {
    Topology& topology = self.packing.topology();
    const auto [real, paper] = topology.eligible(topology.ask(ask), tally);
    return {to_bits(real), to_bits(paper)};
}

std::optional<Amount> least_on_hosts(Session& self, int ask, int rule) {
    Topology& topology = self.packing.topology();
    return topology.least_on_hosts(topology.ask(ask), topology.ask(ask).rules.spread.at(rule));
}

std::vector<std::tuple<int, std::optional<int>, Amount, bool>> surprises_of(
    Session& self, const std::vector<int>& hard) {
    std::vector<std::tuple<int, std::optional<int>, Amount, bool>> found;
    for (const Surprise& one : surprises(self.packing, hard)) {
        const std::optional<int> domain =
            one.number < 0 ? std::nullopt : std::optional<int>(one.number);
        found.emplace_back(one.tally, domain, one.pods, one.open);
    }
    return found;
}

// What a packing is about.
void bind_making(nb::class_<Session>& bound) {
    bound
        .def(nb::init<nb::handle, const Domains&, const Rows&, const Flags&, int, Amounts, bool>(),
             "algebra"_a, "domains"_a, "standing"_a, "named"_a, "nodes"_a, "reservations"_a,
             "strict_min_values"_a, nb::keep_alive<1, 3>())
        .def("add_template", &add_template, "room"_a, "row"_a, "price"_a, "reservation"_a,
             "ranked"_a, "capacities"_a, "left"_a, "nodes"_a.none())
        .def("add_class", &add_class, "pool"_a, "offerings"_a, "wanted"_a)
        .def(
            "class_leaves",
            [](Session& self, int known, Values values) {
                self.packing.classes().class_leaves(known, std::move(values));
            },
            "known"_a, "values"_a,
            "Take in the few values that a class leaves of a key: pairs of numbers, ascending.")
        .def(
            "place_leaves",
            [](Session& self, int place, Values values) {
                self.packing.classes().place_leaves(place, std::move(values));
            },
            "place"_a, "values"_a, "Take in the few values that a place leaves of a key.")
        .def(
            "add_shape",
            [](Session& self, bool limited, bool alone, bool devices, std::vector<int> holds) {
                return self.packing.topology().add_shape(
                    {{}, std::move(holds), limited, alone, devices});
            },
            "limited"_a, "alone"_a, "devices"_a, "holds"_a)
        .def("add_tally", &add_tally, "key"_a.none(), "admission"_a.none(), "admitted"_a.none())
        .def(
            "counts",
            [](Session& self, int tally, const std::vector<int>& shapes) {
                for (const int shape : shapes) self.packing.topology().counts(tally, shape);
            },
            "tally"_a, "shapes"_a)
        .def("count", &count, "tally"_a, "bins"_a, "pods"_a)
        .def(
            "release", [](Session& self, int tally) { self.packing.topology().release(tally); },
            "tally"_a, "Let those who have to be together with a tally's pods go elsewhere, too.")
        .def(
            "foresee",
            [](Session& self, int tally, std::optional<int> domain, Amount pods) {
                self.packing.topology().foresee(tally, domain.value_or(-1), pods);
            },
            "tally"_a, "domain"_a.none(), "pods"_a,
            "Let a tally look at a domain, or at a host, that only a later claim will make.")
        .def(
            "hold", [](Session& self, int shape) { self.packing.topology().hold(shape); },
            "shape"_a)
        .def("add_rules", &add_rules, "spread"_a, "affinity"_a, "apart"_a, "together"_a,
             "exclusive"_a, "pins"_a)
        .def("add_ask", &add_ask, "shape"_a, "site"_a, "places"_a, "anywhere"_a, "request"_a,
             "rules"_a)
        .def("set_arrivals", &set_arrivals, "by_pool"_a);
}

// How pods are placed, and what is given up for them.
void bind_placing(nb::class_<Session>& bound) {
    bound
        .def(
            "set_virtual",
            [](Session& self, bool is_virtual) { self.packing.topology().set_virtual(is_virtual); },
            "is_virtual"_a, "Say whether virtual pods have the turn: real ones rely on none.")
        .def("verdict", &verdict_on, "ask"_a, "pool"_a.none() = nb::none(), "arrivals"_a = 0,
             "Return where the next pods of an ask may go; None if nowhere.")
        .def("room", &room, "ask"_a, "where"_a,
             "Return standing bins that a pod may run on, and how many such pods fit on each.")
        .def(
            "take_standing",
            [](Session& self, int group, int ask, int bin, Amount pods) {
                self.packing.take_standing(group, ask, bin, pods);
            },
            "group"_a, "ask"_a, "bin"_a, "count"_a)
        .def(
            "keeps_values_as",
            [](const Session& self, int claim, int known) {
                return self.packing.keeps_values_as(claim, known);
            },
            "claim"_a, "known"_a,
            "Tell whether a claim that becomes another class keeps the minValues that it has to.")
        .def(
            "become",
            [](Session& self, int claim, int known) { self.packing.become(claim, known); },
            "claim"_a, "known"_a,
            "Let a claim be of another class, of fewer types, that has room for its pods.")
        .def(
            "settle", [](Session& self) { self.packing.topology().settle(); },
            "Look again at all claims: what one may become narrows as it fills.")
        .def(
            "give_up_unreachable",
            [](Session& self, int ask) { return self.packing.topology().give_up_unreachable(ask); },
            "ask"_a)
        .def(
            "held_open",
            [](Session& self, int ask) {
                Topology& topology = self.packing.topology();
                return topology.held_open(topology.ask(ask));
            },
            "ask"_a);
}

// Who is where, as constraints see it.
void bind_counts(nb::class_<Session>& bound) {
    bound
        .def(
            "is_held",
            [](const Session& self, int claim) { return self.packing.topology().is_held(claim); },
            "claim"_a)
        .def("eligible", &eligible, "ask"_a, "tally"_a)
        .def("surprises", &surprises_of, "hard"_a,
             "Return what came up after pods were placed whom it keeps from being bound: tally, "
             "domain or None for a host, pods, whether the domain may be avoided.")
        .def("least_on_hosts", &least_on_hosts, "ask"_a, "rule"_a)
        .def(
            "total",
            [](const Session& self, int tally) {
                return self.packing.topology().tally(tally).anywhere();
            },
            "tally"_a)
        .def(
            "counted",
            [](const Session& self, int tally) {
                return to_ints(Amounts(self.packing.topology().tally(tally).counts));
            },
            "tally"_a, "Return pods by domain, or by bin; numbers beyond have none.");
}

// How packing stands.
void bind_bins(nb::class_<Session>& bound) {
    bound
        .def(
            "is_deferred",
            [](Session& self, int group) { return self.packing.deferred().count(group) > 0; },
            "group"_a)
        .def("free", [](const Session& self) { return to_rows(self.packing.bins().free()); })
        .def("used", [](const Session& self) { return to_rows(self.packing.bins().used()); })
        .def("classes", &classes, "Return the class of each claim.")
        .def("pods", &pods, "Return how many pods each claim has.")
        .def(
            "placed", [](const Session& self) { return self.packing.placements().size(); },
            "Return how many placements there are.")
        .def("placements", &placements, "Return (group, bin, count) of all placements, in order.");
}

// What the limits of pools leave.
void bind_limits(nb::class_<Session>& bound) {
    bound
        .def(
            "limits_left", [](Session& self, int pool) { return self.packing.limits(pool).left(); },
            "pool"_a)
        .def(
            "nodes_left", [](Session& self, int pool) { return self.packing.limits(pool).nodes(); },
            "pool"_a)
        .def(
            "rows_left",
            [](Session& self, int pool) -> std::optional<FlagsOut> {
                const auto rows = self.packing.limits(pool).rows();
                if (!rows) return std::nullopt;
                return to_flags(*rows);
            },
            "pool"_a)
        .def(
            "charged", [](Session& self, int pool) { return self.packing.limits(pool).claims(); },
            "pool"_a);
}

}  // namespace

NB_MODULE(_kernel, module) {
    module.doc() = "The hot path of the solver.";
    // A thread may be in the middle of a solve as the process ends; that is no leak to tell of.
    nb::set_leak_warnings(false);
    nb::class_<Domains>(module, "Domains")
        .def(nb::init<>())
        .def("key", &Domains::key, "name"_a)
        .def("number", &Domains::number, "key"_a, "value"_a);
    nb::class_<Verdict>(module, "Verdict")
        .def_prop_ro("bounds", &bounds)
        .def_prop_ro("pins", [](const Verdict& self) { return self.pins; })
        .def_prop_ro(
            "caps",
            [](const Verdict& self) -> std::optional<IntsOut> {
                if (!self.caps) return std::nullopt;
                return to_ints(Amounts(*self.caps));
            },
            nb::rv_policy::move)
        .def_ro("new_cap", &Verdict::new_cap)
        .def_ro("batch", &Verdict::batch);
    nb::class_<Session> packing(module, "Packing");
    bind_making(packing);
    bind_placing(packing);
    bind_counts(packing);
    bind_bins(packing);
    bind_limits(packing);
    bind_rounds(packing);
    module.attr("PLACED") = kPlaced;
    module.attr("OPENED") = kOpened;
    module.attr("BECOME") = kBecome;
    module.attr("ROOM") = kRoom;
    bind_search(module);
}

}  // namespace joiner
