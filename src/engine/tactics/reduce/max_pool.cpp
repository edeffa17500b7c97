// MaxPool of any element type, and with the places of the maxima.
#include "kernels/pool/max_pool.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/tactics/conv/window_parameters.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "kernels/pool/byte_max_pool.h"
#include "kernels/pool/window_rows.h"
#include "ops/nn/window.h"

namespace assay::engine::tactic_max_pool {
namespace {

constexpr std::string_view kOperators[] = {"MaxPool"};

struct StepFields {
  WindowFields window;
  bool by_columns = false;

  void fields(FieldVisitor& visit) {
    window.fields(visit);
    visit("by_columns", by_columns);
  }
};

/// Whether vectors of 8-bit channels can be pooled.
bool pools_bytes(DType type, const kernels::Window& w, bool wants_places) {
  return (type == DType::kUInt8 || type == DType::kInt8) && w.rank() <= 3 && !wants_places &&
         w.taps() / w.kernel.back() <= kernels::kMaxByteRows;
}

std::string propose(const Problem& p, Proposals& proposals) {
  const Node& n = p.node();
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (!kernels::is_number(p.input_dtype(0)))
    return fmt::format("{} is not pooled", dtype_name(p.input_dtype(0)));
  if (in->rank() < 3 || in->size() > 2 + kernels::kMaxWindowAxes)
    return "it has no spatial axes, or too many";
  if (p.input_dtype(0) == DType::kFloat32 && n.output(1) == nullptr && in->rank() <= 5)
    return "oneDNN pools float32 where only the maxima are wanted";
  const Shape spatial = spatial_shape(*in);
  if (in->numel() == 0 || out->numel() == 0 || spatial.numel() > kMaxOfWindow)
    return "the planes are empty or too large";
  const kernels::Window window = read_window(p.attributes(), spatial.size()).over(spatial);
  const auto propose_in = [&](Layout layout, double rate) {
    Candidate& b = proposals.add(layout.str(), NumericsClass::kExact);
    b.add_input(n.input(0), layout);
    for (size_t i = 0; i < 2; ++i)
      n.output(i) != nullptr ? b.add_output(n.output(i), layout) : b.skip_output();
    b.write(
        StepFields{.window = window_fields(window), .by_columns = int_attribute(n, "storage_order", 0) != 0});
    b.estimate = estimate_seconds(2.0 * static_cast<double>(out->numel() * window.taps()),
                                  static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), rate);
  };
  propose_in({}, 0.05);
  if (pools_bytes(p.input_dtype(0), window, n.output(1) != nullptr)) propose_in(Layout::channels_last(), 0.5);
  return {};
}

class MaxPoolKernel final : public Kernel {
 public:
  explicit MaxPoolKernel(const StepReader& r) {
    const PlanValue& in = r.raw_input(0);
    type_ = in.dtype;
    const PlanValue& out = r.row_output(0, type_);
    const auto p = r.read(StepFields{.window = window_fields(in.shape, out.shape, kernels::kMaxWindowAxes)});
    window_ = window_over(r, p.window, in.shape, out.shape);
    StepReader::check(kernels::is_number(type_) && in.shape[0] == out.shape[0] &&
                          in.shape[1] == out.shape[1] && in.shape.numel() > 0 && out.shape.numel() > 0,
                      "it makes {} of {}", out.shape.str(), in.shape.str());
    StepReader::check(!r.has_output(1) || r.row_output(1, DType::kInt64).shape == out.shape,
                      "it gives places of another shape than {}", out.shape.str());
    by_columns_ = p.by_columns;
    planes_ = in.shape.numel(0, 2);
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::max_pool(window_, type_, planes_, args.inputs[0], args.outputs[0],
                      static_cast<int64_t*>(args.outputs[1]), by_columns_);
    return Status::kOk;
  }

 private:
  kernels::Window window_;
  DType type_ = DType::kFloat32;
  int64_t planes_ = 0;
  bool by_columns_ = false;
};

class BytePoolKernel final : public Kernel {
 public:
  explicit BytePoolKernel(const StepReader& r) {
    const PlanValue &in = r.any_input(0), &out = r.any_output(0);
    const auto p = r.read(StepFields{.window = window_fields(in.shape, out.shape, 3)});
    window_ = window_over(r, p.window, in.shape, out.shape);
    StepReader::check(pools_bytes(in.dtype, window_, r.has_output(1)) && out.dtype == in.dtype &&
                          in.shape[0] == out.shape[0] && in.shape[1] == out.shape[1] &&
                          in.shape.numel() > 0 && out.shape.numel() > 0 &&
                          same_memory(in.shape, in.layout, Layout::channels_last()) &&
                          same_memory(out.shape, out.layout, Layout::channels_last()),
                      "it makes {} {} in {} of {} {} in {}", dtype_name(out.dtype), out.shape.str(),
                      out.layout.str(), dtype_name(in.dtype), in.shape.str(), in.layout.str());
    is_signed_ = in.dtype == DType::kInt8;
    images_ = in.shape[0];
    channels_ = in.shape[1];
  }
  Status run(const KernelArgs& args) noexcept override {
    constexpr int64_t kGrain = 1 << 16;
    const int64_t bytes = channels_ * std::min<int64_t>(window_.taps(), 64);
    auto* const y = static_cast<uint8_t*>(args.outputs[0]);
    parallel_for(images_ * window_.out_size(), std::max<int64_t>(1, kGrain / bytes),
                 [&](int64_t first, int64_t last) {
                   kernels::byte_max_pool(window_, is_signed_, channels_, first, last - first, args.inputs[0],
                                          y + first * channels_);
                 });
    return Status::kOk;
  }

 private:
  kernels::Window window_;
  int64_t images_ = 0, channels_ = 0;
  bool is_signed_ = false;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1, 1, 2);
  if (r.any_input(0).layout == Layout::channels_last()) return std::make_unique<BytePoolKernel>(r);
  return std::make_unique<MaxPoolKernel>(r);
}

}  // namespace

constinit const TacticDef def = {
    .name = "max_pool",
    .summary = "largest elements of windows, of any type, and where they lie",
    .version = 3,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_max_pool
