// Inputs of the operators on strings.
#pragma once

#include <span>
#include <string>

#include "ops/op_context.h"

namespace assay {

/// The strings of input i. Throws Error when it is of another type.
inline std::span<const std::string> string_input(const EvalContext& c, size_t i) {
  c.check(c.input(i).dtype() == DType::kString, "input {} is {}; it must be strings", i,
          dtype_name(c.input(i).dtype()));
  return c.input(i).span<std::string>();
}

}  // namespace assay
