// A packing as Python holds it.
#pragma once

#include "conversion.h"
#include "packing.h"
#include "python_algebra.h"
#include "rounds.h"

namespace joiner {

// A packing with the algebra that it asks, and the domains that both speak of.
struct Session {
    Session(nb::handle asked, const Domains& domains, const Rows& standing, const Flags& named,
            int nodes, Amounts reservations, bool strict_min_values)
        : algebra(asked),
          packing(algebra, domains, to_matrix(standing), to_mask(named), nodes,
                  std::move(reservations), strict_min_values),
          rounds(packing) {}

    PythonAlgebra algebra;
    Packing packing;
    Rounds rounds;
};

// Lets Python pack groups in rounds.
void bind_rounds(nb::class_<Session>& bound);

// Lets Python search for better claims than those of a packing.
void bind_search(nb::module_& module);

}  // namespace joiner
