#include "python_packer.h"

#include <nanobind/stl/vector.h>

namespace joiner {

bool PythonPacker::cancelled() {
    const nb::gil_scoped_acquire held;
    return nb::cast<bool>(packer_.attr("cancelled")());
}

int PythonPacker::ask(int group, int position) {
    const nb::gil_scoped_acquire held;
    return nb::cast<int>(packer_.attr("ask")(group, position));
}

void PythonPacker::keep(int group) {
    const nb::gil_scoped_acquire held;
    packer_.attr("keep")(group);
}

std::vector<Cause> PythonPacker::causes(int group) {
    const nb::gil_scoped_acquire held;
    return nb::cast<std::vector<Cause>>(packer_.attr("causes")(group));
}

}  // namespace joiner
