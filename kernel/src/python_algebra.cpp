#include "python_algebra.h"

#include <nanobind/stl/vector.h>

#include "python_lock.h"

namespace joiner {

// Needs Python's lock, as all do that hold what it returns.
template <typename... Given>
nb::object PythonAlgebra::ask(const char* method, Given&&... given) {
    const nb::object algebra = algebra_();
    if (algebra.is_none()) throw std::runtime_error("whoever packed has gone");
    return call_method(algebra, method, std::forward<Given>(given)...);
}

int PythonAlgebra::narrow(int known, int place, const Bounds& bounds) {
    const Locked held;
    nb::list given;
    for (const Bound& bound : bounds) {
        given.append(nb::make_tuple(bound.key, to_bits(bound.within)));
    }
    return nb::cast<int>(ask("narrow", known, place, given));
}

int PythonAlgebra::root(int pool, const Mask* rows) {
    const Locked held;
    const nb::object given = rows ? nb::cast(to_flags(*rows)) : nb::none();
    return nb::cast<int>(ask("root", pool, given));
}

int PythonAlgebra::reached(int known, int pool, const std::vector<int>& arrivals) {
    const Locked held;
    return nb::cast<int>(ask("reached", known, pool, arrivals));
}

int PythonAlgebra::restrict(int known, const Mask& offerings) {
    const Locked held;
    return nb::cast<int>(ask("restrict", known, to_flags(offerings)));
}

KeyView PythonAlgebra::view(int known, int key) {
    const Locked held;
    const auto answer = nb::cast<nb::tuple>(ask("view", known, key));
    KeyView found;
    found.group = to_numbers(nb::cast<Ints>(answer[0]));
    found.numbers = nb::cast<std::vector<std::vector<int>>>(answer[1]);
    found.open = nb::cast<bool>(answer[2]);
    found.closed = nb::cast<bool>(answer[3]);
    for (const auto& numbers : found.numbers) {
        for (const int number : numbers) found.domains.add(number);
    }
    return found;
}

std::vector<int> PythonAlgebra::new_nodes(int site) {
    const Locked held;
    return nb::cast<std::vector<int>>(ask("new_nodes", site));
}

std::vector<int> PythonAlgebra::admitted(int admission, int known) {
    const Locked held;
    return nb::cast<std::vector<int>>(ask("admitted", admission, known));
}

Mask PythonAlgebra::compatible(int site) {
    const Locked held;
    return to_mask(nb::cast<Flags>(ask("compatible", site)));
}

std::vector<int> PythonAlgebra::domain_of(int key) {
    const Locked held;
    return to_numbers(nb::cast<Ints>(ask("domain_of", key)));
}

Mask PythonAlgebra::within(int key, const DomainSet& domains) {
    const Locked held;
    return to_mask(nb::cast<Flags>(ask("within", key, to_bits(domains))));
}

void PythonAlgebra::limit(int shape, const std::vector<int>& bins, Amounts& counts) {
    const Locked held;
    counts = to_amounts(nb::cast<Ints>(ask("limit", shape, to_ints(bins), to_ints(counts))));
}

void PythonAlgebra::took(int shape, const std::vector<int>& bins, const Amounts& counts) {
    const Locked held;
    ask("took", shape, to_ints(bins), to_ints(counts));
}

bool PythonAlgebra::grant(int shape, int bin) {
    const Locked held;
    return nb::cast<bool>(ask("grant", shape, bin));
}

int PythonAlgebra::grant_planned(int shape, int claim, int known, const Amounts& total) {
    const Locked held;
    return nb::cast<int>(ask("grant_planned", shape, claim, known, to_ints(total)));
}

void PythonAlgebra::hand_over(int shape, int claim) {
    const Locked held;
    ask("hand_over", shape, claim);
}

void PythonAlgebra::became(int claim, int known, const Amounts& total) {
    const Locked held;
    ask("became", claim, known, to_ints(total));
}

}  // namespace joiner
