// The activation functions of recurrent steps, in plans.
#pragma once

#include <vector>

#include "engine/runtime/step_reader.h"
#include "kernels/rnn/recurrence.h"

namespace assay::engine {

/// Of all directions, concatenated.
struct RecurrentFunctionFields {
  size_t count = 0;
  std::vector<int64_t> kinds = {};
  std::vector<double> alphas = {}, betas = {};

  void fields(FieldVisitor& visit) {
    visit("functions", kinds, count, {0, kernels::kRecurrentFunctions - 1});
    visit("alphas", alphas, count);
    visit("betas", betas, count);
  }
};

/// The directions with the functions of a step. Throws Error for invalid numbers.
std::vector<kernels::RecurrentDirection> read_recurrent_directions(const StepReader& r,
                                                                   kernels::RecurrentKind kind,
                                                                   int64_t directions, bool backward);

}  // namespace assay::engine
