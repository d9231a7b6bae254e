// What Python sees of the kernel.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "frontier.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace joiner {
namespace {

using Points = nb::ndarray<const Amount, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Answer = nb::ndarray<nb::numpy, Amount, nb::ndim<2>>;

Answer answer(const Matrix& found) {
    auto* cells = new std::vector<Amount>(found.cells());
    nb::capsule owner(cells,
                      [](void* held) noexcept { delete static_cast<std::vector<Amount>*>(held); });
    return Answer(cells->data(), {found.rows(), found.columns()}, owner);
}

Answer frontier_of(const Points& points) {
    const Amount* first = points.data();
    return answer(frontier(Matrix(points.shape(1), {first, first + points.size()})));
}

}  // namespace

NB_MODULE(_kernel, module) {
    module.doc() = "The hot path of the solver.";
    module.def("frontier", &frontier_of, "points"_a,
               "Return the rows that no other row reaches in every column, largest first.");
}

}  // namespace joiner
