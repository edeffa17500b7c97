#include "engine/tactics/pointwise/lookup_kernel.h"

#include <algorithm>

#include "base/parallel.h"

namespace assay::engine {

TableEntries entries_of(const kernels::ByteTable& table) {
  TableEntries entries;
  std::copy(table.begin(), table.end(), entries.begin());
  return entries;
}

kernels::ByteTable bytes_of(const TableEntries& entries) {
  kernels::ByteTable table;
  std::transform(entries.begin(), entries.end(), table.begin(),
                 [](int64_t entry) { return static_cast<uint8_t>(entry); });
  return table;
}

}  // namespace assay::engine

namespace assay::engine::tactic_lookup {
namespace {

bool is_byte(DType type) { return type == DType::kUInt8 || type == DType::kInt8; }

class LookupKernel final : public Kernel {
 public:
  explicit LookupKernel(const StepReader& r) : table_(bytes_of(r.read<StepFields>().table)) {
    const PlanValue &x = r.any_input(0), &y = r.any_output(0);
    StepReader::check(is_byte(x.dtype) && is_byte(y.dtype), "it makes {} of {}", dtype_name(y.dtype),
                      dtype_name(x.dtype));
    StepReader::check(x.shape == y.shape && x.layout == y.layout && !x.layout.is_blocked(),
                      "it makes {} in {} of {} in {}", y.shape.str(), y.layout.str(), x.shape.str(),
                      x.layout.str());
    for (const auto& [_, in] : r.step().in_place) r.check_in_place(static_cast<size_t>(in));
    count_ = x.shape.numel();
  }

  Status run(const KernelArgs& args) noexcept override {
    /// Bytes that a thread should handle at least.
    constexpr int64_t kGrain = 32768;
    parallel_for(count_, kGrain, [&](int64_t first, int64_t last) {
      kernels::look_up(table_, static_cast<const uint8_t*>(args.inputs[0]) + first, last - first,
                       static_cast<uint8_t*>(args.outputs[0]) + first);
    });
    return Status::kOk;
  }

 private:
  kernels::ByteTable table_;
  int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<LookupKernel>(StepReader(plan, step, 1, 1, 1, StepReader::May::kComputeInPlace));
}

}  // namespace assay::engine::tactic_lookup
