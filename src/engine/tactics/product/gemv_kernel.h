// Steps of the tactic gemv: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/product/matrix_kernel.h"
#include "engine/tactics/stored_form_kernel.h"
#include "kernels/gemv/gemv.h"

namespace assay::engine::tactic_gemv {

struct StepFields {
  int64_t m = 1, n = 1, k = 1;
  bool transposed = false;  ///< the matrix is stored so
  int64_t parts = 1;        ///< of a matrix that is not: ranges of its rows

  void fields(FieldVisitor& visit) {
    visit("m", m, {1, kernels::kMaxGemvRows});
    visit("n", n, kPositive);
    visit("k", k, kPositive);
    visit("transposed", transposed);
    if (!transposed) visit("parts", parts, {1, k});
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_gemv
