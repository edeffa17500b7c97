#include "engine/tactics/recurrent/recurrent_functions_kernel.h"

namespace assay::engine {

using kernels::RecurrentDirection;
using kernels::RecurrentKind;

namespace {

/// Of one direction.
size_t function_count(RecurrentKind kind) {
  return kind == RecurrentKind::kRnn ? 1 : kind == RecurrentKind::kGru ? 2 : 3;
}

}  // namespace

std::vector<RecurrentDirection> read_recurrent_directions(const StepReader& r, RecurrentKind kind,
                                                          int64_t count, bool backward) {
  const size_t functions = function_count(kind), all = static_cast<size_t>(count) * functions;
  const auto f = r.read(RecurrentFunctionFields{all});
  std::vector<RecurrentDirection> directions(static_cast<size_t>(count));
  for (size_t i = 0; i < all; ++i)
    directions[i / functions].activations[i % functions] = {
        static_cast<kernels::RecurrentFunction>(f.kinds[i]), static_cast<float>(f.alphas[i]),
        static_cast<float>(f.betas[i])};
  for (size_t i = 0; i < directions.size(); ++i) directions[i].backward = backward || i == 1;
  return directions;
}

}  // namespace assay::engine
