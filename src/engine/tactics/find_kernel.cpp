#include "engine/tactics/find_kernel.h"

#include <dnnl.hpp>
#include <iterator>

#include "assay/version.h"
#include "base/architecture.h"

namespace assay::engine {

#define ASSAY_NODE_TACTIC(name)
#define ASSAY_TACTIC(name)                                              \
  namespace tactic_##name {                                             \
    std::unique_ptr<Kernel> create(const Plan& plan, const Step& step); \
  }
#include "engine/tactics/tactics.def"
#undef ASSAY_TACTIC
#undef ASSAY_NODE_TACTIC

namespace {

struct Named {
  std::string_view name;
  KernelFactory factory;
};

#define ASSAY_NODE_TACTIC(name)
#define ASSAY_TACTIC(name) {#name, {.create = tactic_##name::create}},
constexpr Named kKernels[] = {
#include "engine/tactics/tactics.def"
};
#undef ASSAY_TACTIC
#undef ASSAY_NODE_TACTIC

}  // namespace

const KernelFactory* find_kernel(std::string_view tactic) {
  for (const Named& k : kKernels)
    if (k.name == tactic) return &k.factory;
  return nullptr;
}

std::string plan_environment() {
  const dnnl_version_t* dnnl = dnnl_version();
  return fmt::format("{} with oneDNN {}.{}.{} isa {}, assay {}", architecture_name(), dnnl->major,
                     dnnl->minor, dnnl->patch, static_cast<int>(dnnl::get_effective_cpu_isa()),
                     ASSAY_VERSION);
}

}  // namespace assay::engine
