#include "engine/tactics/move/reorder_kernel.h"

namespace assay::engine::tactic_reorder {
namespace {

/// Strides of a row-major walk through memory in a layout without blocks.
std::vector<int64_t> row_walk(const Shape& shape, Layout layout) {
  if (!layout.is_channels_last()) return shape.strides();
  const int64_t channels = shape[1];
  std::vector<int64_t> strides(shape.size());
  int64_t step = channels;
  for (size_t d = shape.size(); d-- > 2; step *= shape[d]) strides[d] = step;
  strides[1] = 1;
  strides[0] = step;
  return strides;
}

class WalkKernel final : public Kernel {
 public:
  explicit WalkKernel(kernels::StridedCopy copy) : copy_(std::move(copy)) {}
  Status run(const KernelArgs& args) noexcept override {
    copy_.run(args.inputs[0], args.outputs[0]);
    return Status::kOk;
  }

 private:
  kernels::StridedCopy copy_;
};

/// Between channels last and blocks of channels.
class BlocksKernel final : public Kernel {
 public:
  BlocksKernel(const Shape& shape, int64_t block, bool into)
      : size_{shape[0], shape[1], shape.numel(2, shape.size()), block}, into_(into) {}
  Status run(const KernelArgs& args) noexcept override {
    (into_ ? kernels::into_blocks : kernels::out_of_blocks)(size_, static_cast<const float*>(args.inputs[0]),
                                                            static_cast<float*>(args.outputs[0]));
    return Status::kOk;
  }

 private:
  kernels::ChannelBlocks size_;
  bool into_;
};

std::unique_ptr<Kernel> make_kernel(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  const PlanValue &in = r.any_input(0), &out = r.any_output(0);
  StepReader::check(
      in.shape == out.shape && in.dtype == out.dtype && bit_width(in.dtype) >= 8 && in.shape.rank() >= 2,
      "it brings {} {} into {} {}", dtype_name(in.dtype), in.shape.str(), dtype_name(out.dtype),
      out.shape.str());
  if (!in.layout.is_blocked() && !out.layout.is_blocked())
    return std::make_unique<WalkKernel>(kernels::StridedCopy(
        in.shape, row_walk(in.shape, in.layout), row_walk(in.shape, out.layout), storage_bytes(in.dtype, 1)));
  // What lies the same way with channels last is row-major, too.
  const auto plain = [&](Layout layout) { return same_memory(in.shape, layout, {}) ? Layout() : layout; };
  const Layout from_layout = plain(in.layout), to_layout = plain(out.layout);
  if (in.dtype == DType::kFloat32 && from_layout.is_blocked() != to_layout.is_blocked() &&
      (from_layout.is_channels_last() || to_layout.is_channels_last()))
    return std::make_unique<BlocksKernel>(in.shape, std::max(from_layout.block, to_layout.block),
                                          to_layout.is_blocked());
  StepReader::check(in.dtype == DType::kFloat32 && from_layout.is_row() != to_layout.is_row(),
                    "it brings {} in {} into {}", dtype_name(in.dtype), in.layout.str(), out.layout.str());
  const Layout blocked = from_layout.is_blocked() ? from_layout : to_layout;
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  auto kernel = std::make_unique<DnnlKernel>();
  const OneThread alone;
  for (const Box& part : channel_parts(out.shape, blocked, plan.threads)) {
    const dnnl::memory::desc from = part_desc(in.shape, from_layout, part),
                             to = part_desc(out.shape, to_layout, part);
    kernel->add_primitive(
        dnnl::reorder(dnnl::reorder::primitive_desc(dnnl_engine(), from, dnnl_engine(), to)));
    kernel->add_input(DNNL_ARG_FROM, from, 0, part_offset(in.shape, from_layout, part) * kWidth);
    kernel->add_output(DNNL_ARG_TO, to, 0, part_offset(out.shape, to_layout, part) * kWidth);
  }
  return kernel;
}

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return dnnl_kernel<make_kernel>(plan, step);
}

}  // namespace assay::engine::tactic_reorder
