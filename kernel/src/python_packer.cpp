#include "python_packer.h"

#include <nanobind/stl/vector.h>

#include "python_lock.h"

namespace joiner {

bool PythonPacker::cancelled() {
    const Locked held;
    return nb::cast<bool>(call_method(packer_, "cancelled"));
}

int PythonPacker::ask(int group, int position) {
    const Locked held;
    return nb::cast<int>(call_method(packer_, "ask", group, position));
}

void PythonPacker::keep(int group) {
    const Locked held;
    call_method(packer_, "keep", group);
}

std::vector<Cause> PythonPacker::causes(int group) {
    const Locked held;
    return nb::cast<std::vector<Cause>>(call_method(packer_, "causes", group));
}

}  // namespace joiner
