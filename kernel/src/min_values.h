// minValues: how many distinct values of a key the types of a claim leave to choose from.
#pragma once

#include "claim_class.h"

namespace joiner {

// Returns how many values of each wanted key a claim has to keep as it fills.
//
// Where less will do (best effort), those that it can have anyhow: what is lowered for a first pod
// is not lowered further for others. `used`: what its pods ask for; of a new one, what the first
// does.
Amounts values_to_keep(const ClaimClass& known, const Amount* used, bool strict);

// Tells whether the types with room for `used` offer values enough.
bool keeps_values(const ClaimClass& known, const Amount* used, const Amounts& least);

// Returns how many more pods, up to `most`, leave values enough to choose from.
Amount most_that_keep(const ClaimClass& known, const Amount* used, const Request& request,
                      Amount most, const Amounts& least);

}  // namespace joiner
