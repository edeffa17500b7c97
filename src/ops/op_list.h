// The operators of this build: ops.def read as declarations, and the look-up.
#pragma once

#include <span>
#include <string_view>

#include "ops/op_def.h"

namespace assay {

#define ASSAY_OP(domain, name)     \
  namespace op_##domain##_##name { \
    extern const OpDef def;        \
  }
#include "ops/ops.def"
#undef ASSAY_OP

/// All operators, in the order of ops.def.
std::span<const OpDef* const> all_ops();

/// Null when there is none of that name. "ai.onnx" and "" are one domain.
const OpDef* find_op(std::string_view domain, std::string_view name);

/// The newest version of a domain in which one of its operators here was defined or changed; what later
/// versions changed is not known. 0 for a domain without operators.
int64_t newest_opset(std::string_view domain);

/// The version that holds in an opset; null when the operator is newer than that, or opset is 0.
const OpVersion* version_for(const OpDef& op, int64_t opset);

}  // namespace assay
