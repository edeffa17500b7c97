// Steps of the tactic channel_response: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/normalize/channel_response.h"

namespace assay::engine::tactic_channel_response {

struct StepFields {
  int64_t size = 1;
  double alpha = 0, beta = 0, bias = 0;

  void fields(FieldVisitor& visit) {
    visit("size", size, {1, kernels::kMaxResponseSize});
    visit("alpha", alpha);
    visit("beta", beta);
    visit("bias", bias);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_channel_response
