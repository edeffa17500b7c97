#include "arbiter/excuse_list.h"

#include <algorithm>

#include "assay/error.h"

namespace assay {
namespace {

constexpr ExcuseRule kRules[] = {
#define ASSAY_EXCUSE(constant, name, sentence) {name, sentence},
#include "arbiter/excuses.def"
#undef ASSAY_EXCUSE
};

}  // namespace

std::span<const ExcuseRule> excuse_rules() { return kRules; }

std::string_view excuse_name(Excuse e) { return kRules[static_cast<size_t>(e)].name; }

ExcuseSet::ExcuseSet(std::span<const std::string> switched_off) {
  for (const std::string& name : switched_off) {
    const auto* rule = std::ranges::find(kRules, name, &ExcuseRule::name);
    if (rule == std::end(kRules)) {
      std::string names;
      for (const ExcuseRule& r : kRules) names += (names.empty() ? "" : ", ") + std::string(r.name);
      fail(ErrorCode::kInvalidArgument, "the verdict has no excuse '{}'; there are {}", name, names);
    }
    off_.set(static_cast<size_t>(rule - kRules));
  }
}

void require_excuses(std::span<const std::string> names) { const ExcuseSet checked(names); }

void excused_by(Excuse e, ArbiterVerdict& out) { out.excuses = {std::string(excuse_name(e))}; }

}  // namespace assay
