#include "lint/rules.h"

namespace assay::lint {

#define ASSAY_LINT_RULE(constant, ...) extern constinit const Rule constant = {__VA_ARGS__};
#include "lint/rules.def"
#undef ASSAY_LINT_RULE

std::span<const Rule* const> all_rules() {
  static constexpr const Rule* kRules[] = {
#define ASSAY_LINT_RULE(constant, ...) &constant,
#include "lint/rules.def"
#undef ASSAY_LINT_RULE
  };
  return kRules;
}

std::string_view level_name(Level level) {
  switch (level) {
    case Level::kException:
      return "exception";
    case Level::kWarning:
      return "warning";
    default:
      return "info";
  }
}

}  // namespace assay::lint
