#include "ops/contrib/hidden_vector.h"

namespace assay {

void check_hidden_vector(const InferContext& c, size_t i) {
  const Dims *data = c.input_dims(0),
             *vector = i < c.input_count() && c.has_input(i) ? c.input_dims(i) : nullptr;
  if (vector == nullptr) return;
  c.check(vector->size() == 1, "input {} has {} dimensions where 1 is needed", i, vector->size());
  if (data == nullptr) return;
  c.check(!data->empty(), "the input needs at least one dimension");
  const Dim &given = (*vector)[0], &needed = data->back();
  c.check(!given.is_known() || !needed.is_known() || given.value() == needed.value(),
          "input {} has {} elements for a last extent of {}", i, given.str(), needed.str());
}

const Tensor& hidden_vector(const EvalContext& c, size_t i, int64_t size) {
  c.check(c.shape(i) == Shape{size}, "input {} has shape {} where ({},) is needed", i, c.shape(i).str(),
          size);
  return c.input(i);
}

}  // namespace assay
