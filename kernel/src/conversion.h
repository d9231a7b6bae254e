// Between Python's objects and the kernel's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "domain_set.h"
#include "numbers.h"

namespace joiner {

namespace nb = nanobind;

using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const Amount, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const Amount, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IntsOut = nb::ndarray<nb::numpy, Amount, nb::ndim<1>>;
using RowsOut = nb::ndarray<nb::numpy, Amount, nb::ndim<2>>;
using FlagsOut = nb::ndarray<nb::numpy, bool, nb::ndim<1>>;

// From Python.

inline Mask to_mask(const Flags& flags) { return {flags.data(), flags.data() + flags.size()}; }
inline Amounts to_amounts(const Ints& ints) { return {ints.data(), ints.data() + ints.size()}; }
inline std::vector<int> to_numbers(const Ints& ints) {
    return {ints.data(), ints.data() + ints.size()};
}
inline Matrix to_matrix(const Rows& rows) {
    return Matrix(rows.shape(1), {rows.data(), rows.data() + rows.size()});
}

// To Python.

IntsOut to_ints(Amounts amounts);
IntsOut to_ints(const std::vector<int>& numbers);
RowsOut to_rows(const Matrix& rows);
FlagsOut to_flags(const Mask& mask);
// A set of domains is an int whose bits say what is in it; a negative one holds all but a few.
nb::int_ to_bits(const DomainSet& domains);

}  // namespace joiner
