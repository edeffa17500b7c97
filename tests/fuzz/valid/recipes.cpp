#include "fuzz/valid/recipes.h"

#include "ops/op_list.h"

namespace assay::fuzz {
namespace {

using Recipe = void (*)(Draft&);

Recipe recipe_of(const OpDef& op) {
#define FUZZ_RECIPE(set, operator_name, recipe) \
  if (&op == &op_##set##_##operator_name::def) return recipe;
#include "fuzz/valid/recipes.def"
#undef FUZZ_RECIPE
  return make_pointwise;
}

}  // namespace

Case valid_case(const OpDef& op, const OpVersion& version, Random& random) {
  Draft draft(op, version, random);
  const Shape base = draft.shape(0, 4);
  recipe_of(op)(draft);
  return draft.finish(base);
}

}  // namespace assay::fuzz
