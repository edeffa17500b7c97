// Steps of the tactic max_pool: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/conv/window_kernel.h"
#include "kernels/pool/byte_max_pool.h"
#include "kernels/pool/max_pool.h"
#include "kernels/pool/window_rows.h"

namespace assay::engine::tactic_max_pool {

struct StepFields {
  WindowFields window;
  bool by_columns = false;

  void fields(FieldVisitor& visit) {
    window.fields(visit);
    visit("by_columns", by_columns);
  }
};

/// Whether vectors of 8-bit channels can be pooled.
inline bool pools_bytes(DType type, const kernels::Window& w, bool wants_places) {
  return (type == DType::kUInt8 || type == DType::kInt8) && w.rank() <= 3 && !wants_places &&
         w.taps() / w.kernel.back() <= kernels::kMaxByteRows;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_max_pool
