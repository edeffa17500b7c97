// A copy into other memory: for outputs that cannot lie where they are computed. The builder adds these steps
// itself.
#include <cstring>

#include "base/parallel.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine {
namespace {

class CopyKernel final : public Kernel {
 public:
  explicit CopyKernel(size_t bytes) : bytes_(static_cast<int64_t>(bytes)) {}
  Status run(const KernelArgs& args) noexcept override {
    parallel_for(bytes_, 1 << 18, [&](int64_t first, int64_t last) {
      std::memcpy(static_cast<char*>(args.outputs[0]) + first,
                  static_cast<const char*>(args.inputs[0]) + first, static_cast<size_t>(last - first));
    });
    return Status::kOk;
  }

 private:
  int64_t bytes_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<CopyKernel>(plan.values[static_cast<size_t>(step.outputs[0])].bytes());
}

}  // namespace

constinit const TacticDef tactic_copy = {
    .name = "copy",
    .factory = {.create = create},
};

}  // namespace assay::engine
