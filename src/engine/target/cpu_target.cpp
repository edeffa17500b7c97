#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <dnnl.hpp>

#include "assay/version.h"
#include "base/architecture.h"
#include "engine/runtime/arena.h"
#include "engine/tactics/find_kernel.h"
#include "engine/tactics/tactic_set.h"
#include "engine/target/cpu_layouts.h"
#include "engine/target/target.h"

namespace assay::engine {
namespace {

std::string dnnl_text() {
  const dnnl_version_t* dnnl = dnnl_version();
  return fmt::format("oneDNN {}.{}.{} isa {}", dnnl->major, dnnl->minor, dnnl->patch,
                     static_cast<int>(dnnl::get_effective_cpu_isa()));
}

class CpuTarget final : public Target {
 public:
  std::string name() const override { return architecture_name(); }
  std::string fingerprint() const override { return plan_environment(); }
  std::string timing_fingerprint() const override {
    return fmt::format("{}, {}, L2 {} L3 {}, assay {}", processor_model(), dnnl_text(),
                       ::sysconf(_SC_LEVEL2_CACHE_SIZE), ::sysconf(_SC_LEVEL3_CACHE_SIZE), ASSAY_VERSION);
  }
  std::vector<Layout> layouts() const override { return cpu_layouts(); }
  const TacticSet& tactics() const override {
    // tactics.def is this target's list.
    return built_in_tactics();
  }

  std::unique_ptr<MemoryBlock> allocate(size_t bytes) const override {
    return std::make_unique<Arena>(bytes);
  }
  double seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void flush(const void* data, size_t bytes) const override { flush_from_caches(data, bytes); }
};

}  // namespace

const std::shared_ptr<const Target>& cpu_target() {
  static const std::shared_ptr<const Target> kTarget = std::make_shared<CpuTarget>();
  return kTarget;
}

}  // namespace assay::engine
