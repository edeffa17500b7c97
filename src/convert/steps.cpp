#include "convert/steps.h"

#include <map>
#include <utility>

#include "assay/error.h"

namespace assay {
namespace {

namespace domains {
constexpr std::string_view onnx = "", ml = "ai.onnx.ml";
}  // namespace domains

constexpr const Adapter* same = nullptr;

#define ASSAY_ADAPTER(name) constexpr const Adapter* name = &adapter_##name;
#include "convert/adapters.def"
#undef ASSAY_ADAPTER

#define ASSAY_STEPS(domain, name, ...) constexpr Step steps_##domain##_##name[] = {__VA_ARGS__};
#include "convert/steps.def"
#undef ASSAY_STEPS

constexpr OpSteps kSteps[] = {
#define ASSAY_STEPS(domain, name, ...) {domains::domain, #name, steps_##domain##_##name},
#include "convert/steps.def"
#undef ASSAY_STEPS
};

using Key = std::pair<std::string_view, std::string_view>;

constexpr const Expansion* kExpansions[] = {
#define ASSAY_EXPANSION(domain, name) &expansion_##domain##_##name,
#include "convert/expansions.def"
#undef ASSAY_EXPANSION
};

}  // namespace

std::span<const OpSteps> all_steps() { return kSteps; }
std::span<const Expansion* const> all_expansions() { return kExpansions; }

const Step& step_to(const OpDef& op, int since) {
  static const auto* const kIndex = [] {
    auto* index = new std::map<Key, const OpSteps*>;
    for (const OpSteps& s : kSteps) index->emplace(Key(s.domain, s.name), &s);
    return index;
  }();
  if (const auto it = kIndex->find({op.domain, op.name}); it != kIndex->end())
    for (const Step& s : it->second->steps)
      if (s.since == since) return s;
  fail(ErrorCode::kInternal, "steps.def does not say what changed in {}-{}", op.name, since);
}

const Expansion* find_expansion(const OpDef& op) {
  for (const Expansion* e : kExpansions)
    if (e->domain == op.domain && e->name == op.name) return e;
  return nullptr;
}

}  // namespace assay
