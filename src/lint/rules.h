// The rules of `assay check lint`, each with its name, severity and sentence.
#pragma once

#include <span>
#include <string_view>

#include "assay/lint.h"

namespace assay::lint {

/// The origin of a message, in the words of upstream's report.
inline constexpr std::string_view kLoader = "onnx_loader", kChecker = "onnx_checker",
                                  kSurgeon = "onnx_graphsurgeon", kRuntime = "onnxruntime";
/// Our own rules, without a counterpart in upstream.
inline constexpr std::string_view kAssay = "assay";

struct Rule {
  std::string_view name;  ///< in the report's field `rule`
  Level level;
  std::string_view source;
  /// fmt's format of the message.
  std::string_view sentence;
  /// Upstream has it, too, so it also applies if only upstream's findings are requested.
  bool is_upstream = false;
};

#define ASSAY_LINT_RULE(constant, ...) extern const Rule constant;
#include "lint/rules.def"
#undef ASSAY_LINT_RULE

/// All rules, in the order of rules.def.
std::span<const Rule* const> all_rules();

}  // namespace assay::lint
