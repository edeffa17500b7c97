// What `assay check lint` looks for: every rule with its name, its weight and the sentence that it says.
#pragma once

#include <span>
#include <string_view>

#include "assay/lint.h"

namespace assay::lint {

/// Who complains, in the words of upstream's report.
inline constexpr std::string_view kLoader = "onnx_loader", kChecker = "onnx_checker",
                                  kSurgeon = "onnx_graphsurgeon", kRuntime = "onnxruntime";
/// Ours: what upstream has no word for.
inline constexpr std::string_view kAssay = "assay";

struct Rule {
  std::string_view name;  ///< in the report's field `rule`
  Level level;
  std::string_view source;
  /// fmt's format of the message.
  std::string_view sentence;
  /// Upstream finds it too, so it also counts where only upstream's findings are asked for.
  bool is_upstream = false;
};

#define ASSAY_LINT_RULE(constant, ...) extern const Rule constant;
#include "lint/rules.def"
#undef ASSAY_LINT_RULE

/// All rules, in the order of rules.def.
std::span<const Rule* const> all_rules();

}  // namespace assay::lint
