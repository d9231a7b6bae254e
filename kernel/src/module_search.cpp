// What Python sees of the search for better claims.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "python_lock.h"
#include "search.h"
#include "session.h"

namespace joiner {
namespace {

using namespace nb::literals;

void begin(Search* self, Session& session, const std::vector<Rows>& room, std::vector<int> weights,
           std::vector<int> classes, std::vector<int> allowance,
           const std::vector<std::pair<int, Flags>>& allowances, std::vector<double> worth,
           std::vector<double> weight, std::uint64_t seed) {
    Start start;
    for (const Rows& one : room) start.room.push_back(to_matrix(one));
    for (const auto& [pool, rows] : allowances) start.allowances.push_back({pool, to_mask(rows)});
    start.weights = std::move(weights);
    start.classes = std::move(classes);
    start.allowance = std::move(allowance);
    start.worth = std::move(worth);
    start.weight = std::move(weight);
    start.seed = seed;
    const Unlocked unlocked;
    new (self) Search(session.packing, std::move(start));
}

std::vector<std::tuple<int, int, int>> claims(const Search& self) {
    std::vector<std::tuple<int, int, int>> found;
    for (const Load& load : self.loads()) {
        found.emplace_back(load.origin, load.known, load.allowance);
    }
    return found;
}

std::vector<std::tuple<int, int, Amount>> placements(const Search& self) {
    std::vector<std::tuple<int, int, Amount>> found;
    for (std::size_t claim = 0; claim < self.loads().size(); ++claim) {
        for (const auto& [lot, pods] : self.loads()[claim].pods) {
            found.emplace_back(self.lots()[lot].group, static_cast<int>(claim), pods);
        }
    }
    return found;
}

}  // namespace

void bind_search(nb::module_& module) {
    nb::class_<Search>(module, "Search")
        .def("__init__", &begin, "packing"_a, "room"_a, "weights"_a, "classes"_a, "allowance"_a,
             "allowances"_a, "worth"_a, "weight"_a, "seed"_a, nb::keep_alive<1, 2>())
        .def("any", &Search::any, "Tell whether there is anything to search through.")
        .def("advance", &Search::advance, "iterations"_a, nb::call_guard<Unlocked>(),
             "Try so many changes.")
        .def("changed", &Search::changed, "Tell whether any claim has changed.")
        .def("price", &Search::price, "Return what the claims cost that may change.")
        .def("claims", &claims,
             "Return of each claim which one it still is (-1 if none), its class, its allowance.")
        .def("placements", &placements, "Return (group, claim, count) of all pods on claims.");
}

}  // namespace joiner
