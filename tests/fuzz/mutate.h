// Conformance cases made wrong in one or a few places.
#pragma once

#include <string>

#include "fuzz/random_case.h"

namespace assay::fuzz {

/// The model and the first data set of a case folder.
Case load_case(const std::string& folder);

/// Changes one thing: an attribute, a constant, the type, shape or values of an input, or the arity of a
/// node.
void mutate(Case& c, Random& random);

bool has_loop(const Case& c);

/// Numbers that may become a Loop's count of iterations become small: thousands of millions would be right,
/// but slow.
void tame_loops(Case& c);

/// Forgets what the model declares of all values, or of those that nodes produce.
void forget_types(Case& c, bool inputs_too);

}  // namespace assay::fuzz
