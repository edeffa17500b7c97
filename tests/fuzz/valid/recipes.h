// How to make valid nodes, operator by operator: recipes.def says which recipe an operator has.
#pragma once

#include "fuzz/valid/draft.h"

namespace assay::fuzz {

#define FUZZ_RECIPE(set, operator_name, recipe) void recipe(Draft& draft);
#include "fuzz/valid/recipes.def"
#undef FUZZ_RECIPE

/// All inputs are of shapes that broadcast to one; attributes are small numbers: for operators without a
/// recipe.
void make_pointwise(Draft& d);

}  // namespace assay::fuzz
