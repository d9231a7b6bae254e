// What Python sees of the groups of a packing, and of the rounds in which they get places.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "python_lock.h"
#include "python_packer.h"
#include "session.h"

namespace joiner {
namespace {

using namespace nb::literals;

using Wish = std::pair<int, bool>;

void add_group(Session& self, bool buys, bool waits, Amount pods, int turn, bool is_virtual,
               bool devices, bool ignored, bool expected, std::vector<std::vector<int>> awaited,
               std::vector<int> more_tied, const std::vector<Wish>& wishes) {
    Packing::Group group;
    group.buys = buys;
    group.waits = waits;
    group.left = pods;
    group.turn = turn;
    group.is_virtual = is_virtual;
    group.devices = devices;
    group.ignored = ignored;
    group.expected = expected;
    group.awaited = std::move(awaited);
    group.more_tied = std::move(more_tied);
    for (const auto& [leads, near_companions] : wishes) {
        group.wishes.push_back({leads, near_companions});
    }
    self.packing.add_group(std::move(group));
}

bool take_turns(Session& self, const std::vector<int>& groups, nb::handle packer) {
    PythonPacker asked(packer);
    return self.rounds.run(groups, asked);
}

bool part_from_companions(Session& self, int id) {
    Packing::Group& group = self.packing.group(id);
    const auto is_near = [](const Packing::Wish& one) { return one.near_companions; };
    if (group.alone || std::none_of(group.wishes.begin(), group.wishes.end(), is_near)) {
        return false;
    }
    return group.alone = true;
}

std::vector<Amount> left(const Session& self) {
    std::vector<Amount> found;
    for (const Packing::Group& group : self.packing.groups()) found.push_back(group.left);
    return found;
}

}  // namespace

void bind_rounds(nb::class_<Session>& bound) {
    bound
        .def("add_group", &add_group, "buys"_a, "waits"_a, "pods"_a, "turn"_a, "is_virtual"_a,
             "devices"_a, "ignored"_a, "expected"_a, "awaited"_a, "more_tied"_a, "wishes"_a)
        .def(
            "keep_apart",
            [](Session& self, int group, Amount most) {
                self.packing.group(group).most_on_claim = most;
            },
            "group"_a, "most"_a, "Let no claim have more than so many pods of a group.")
        .def(
            "set_ask",
            [](Session& self, int group, int position, int number) {
                self.packing.group(group).wishes.at(position).ask = number;
            },
            "group"_a, "position"_a, "number"_a,
            "Tell the number of an ask of a group, by its position among them.")
        .def("take_turns", &take_turns, "groups"_a, "packer"_a, nb::call_guard<Unlocked>(),
             "Place pods of these groups, and of those whom that helps, until it helps nobody;\n"
             "return False if the packer says that this is cancelled.")
        .def("part_from_companions", &part_from_companions, "group"_a,
             "Let a group no longer keep to where its companions may run; False if it does not.")
        .def(
            "positions",
            [](const Session& self, int group) { return self.rounds.positions(group); }, "group"_a,
            "Return the positions of the asks by which a group looks for places now.")
        .def("left", &left, "Return how many pods of each group have no place.");
}

}  // namespace joiner
