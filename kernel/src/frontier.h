// The Pareto frontier of rooms: what fits under any row of it fits on some instance type.
#pragma once

#include "numbers.h"

namespace joiner {

// The rows that no other row reaches in every column, lexicographically largest first, each once.
Matrix frontier(const Matrix& points);

}  // namespace joiner
