#include "passes/pass_list.h"

namespace assay {
namespace {

constexpr const PassDef* kPasses[] = {
#define ASSAY_PASS(name) &pass_##name::def,
#include "passes/passes.def"
#undef ASSAY_PASS
};

}  // namespace

std::span<const PassDef* const> all_passes() { return kPasses; }

const PassDef* find_pass(std::string_view name) {
  for (const PassDef* p : kPasses)
    if (p->name == name) return p;
  return nullptr;
}

}  // namespace assay
