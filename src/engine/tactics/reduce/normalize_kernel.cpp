#include "engine/tactics/reduce/normalize_kernel.h"

#include "base/parallel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/convert/convert.h"
#include "kernels/panel/bfloat16_rows.h"

namespace assay::engine::tactic_normalize {
namespace {

class NormalizeKernel final : public Kernel {
 public:
  explicit NormalizeKernel(const StepReader& r) {
    const auto p = r.read<StepFields>();
    n_.rows = p.rows;
    n_.columns = p.columns;
    n_.epsilon = p.epsilon;
    n_.subtract_mean = p.subtract_mean;
    reads_narrow_ = r.any_input(0).dtype == DType::kBFloat16;
    stores_narrow_ = r.any_output(0).dtype == DType::kBFloat16;
    r.check_elements(r.row_input(0, type_of(reads_narrow_)), {n_.rows, n_.columns});
    r.check_elements(r.row_output(0, type_of(stores_narrow_)), {n_.rows, n_.columns});
    r.check_in_place(0);
    const bool is_narrow = reads_narrow_ || stores_narrow_;
    StepReader::check(!is_narrow || (p.period == 0 && n_.columns <= kMostNarrowColumns && step_is_apart(r)),
                      "its rows of {} in bfloat16 are normalised in another way", n_.columns);
    for (const size_t i : {1, 2}) r.optional_elements(i, {p.period > 0 ? p.period : n_.columns});
    if (p.period > 0) {
      n_.per = Normalization::Per::kRow;
      n_.period = p.period;
    }
  }
  Status run(const KernelArgs& args) noexcept override {
    if (reads_narrow_ || stores_narrow_) {
      parallel_for(n_.rows, std::max<int64_t>(1, kGrain / n_.columns),
                   [&](int64_t first, int64_t last) { run_narrow(args, first, last); });
      return Status::kOk;
    }
    kernels::normalize_rows(
        n_, static_cast<const float*>(args.inputs[0]), nullptr, static_cast<const float*>(args.inputs[1]),
        static_cast<const float*>(args.inputs[2]), static_cast<float*>(args.outputs[0]), nullptr);
    return Status::kOk;
  }

 private:
  /// Numbers that a thread should normalise at least.
  static constexpr int64_t kGrain = 8192;

  static DType type_of(bool is_narrow) { return is_narrow ? DType::kBFloat16 : DType::kFloat32; }
  /// Numbers of other widths do not share their memory.
  static bool step_is_apart(const StepReader& r) { return r.step().in_place.empty(); }

  /// Some rows at a time, as many as the buffer holds.
  void run_narrow(const KernelArgs& args, int64_t first, int64_t last) const {
    alignas(64) float buffer[kMostNarrowColumns];
    Normalization some = n_;
    const int64_t together = kMostNarrowColumns / n_.columns;
    for (int64_t row = first; row < last; row += some.rows) {
      some.rows = std::min(together, last - row);
      const int64_t at = row * n_.columns;
      const auto count = static_cast<size_t>(some.rows * n_.columns);
      const float* from = buffer;
      if (reads_narrow_)
        kernels::widen_row(DType::kBFloat16, static_cast<const uint16_t*>(args.inputs[0]) + at, buffer,
                           count);
      else
        from = static_cast<const float*>(args.inputs[0]) + at;
      float* const to = stores_narrow_ ? buffer : static_cast<float*>(args.outputs[0]) + at;
      kernels::normalize_rows(some, from, nullptr, static_cast<const float*>(args.inputs[1]),
                              static_cast<const float*>(args.inputs[2]), to, nullptr);
      if (stores_narrow_)
        kernels::round_to_bfloat16(buffer, static_cast<uint16_t*>(args.outputs[0]) + at, count);
    }
  }

  Normalization n_;
  bool reads_narrow_ = false, stores_narrow_ = false;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<NormalizeKernel>(StepReader(plan, step, 3, 3, 1, StepReader::May::kComputeInPlace));
}

}  // namespace assay::engine::tactic_normalize
