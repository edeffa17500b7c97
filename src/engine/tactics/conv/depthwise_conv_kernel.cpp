#include "engine/tactics/conv/depthwise_conv_kernel.h"

#include "base/parallel.h"

namespace assay::engine::tactic_depthwise_conv {
namespace {

class DepthwiseKernel final : public Kernel {
 public:
  DepthwiseKernel(const StepReader& r, const ConvProduct& conv, Layout layout)
      : conv_(channel_window(conv.window, conv.size.n, layout)),
        rows_(conv_, conv.size.m / conv.window.out_size(), conv.window.out_size() / conv_.out_columns,
              kernels::kDepthwiseRows),
        end_(read_common_end(r, conv.size)) {
    r.product({conv_.blocks(), kernels::kChannelBlock, conv_.taps(), int64_t{sizeof(float)}});
    r.check_elements(r.row_input(1), {conv_.packed_floats()});
    r.optional_elements(2, {conv_.bias_floats()});
  }

  Status run(const KernelArgs& args) noexcept override {
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    const auto* const packed = static_cast<const float*>(args.inputs[1]);
    const auto* const bias = static_cast<const float*>(args.inputs[2]);
    auto* const y = static_cast<float*>(args.outputs[0]);
    rows_.run([&](const ChannelRows::Part& part) {
      kernels::depthwise_rows(conv_, x + part.image, packed, bias, part.row, part.rows, part.first,
                              part.count, end_.finish, end_.operands(args, part.result, conv_.out_pixel, 0),
                              y + part.result);
    });
    return Status::kOk;
  }

 private:
  ChannelWindow conv_;
  ChannelRows rows_;
  CommonEnd end_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, kMaxEndInputs);
  r.input(0);
  const Layout layout = r.output(0).layout == kChannelBlocks ? kChannelBlocks : Layout::channels_last();
  const ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, layout);
  StepReader::check(conv.is_depthwise && conv.window.rank() <= 2, "it has no windows of single channels");
  return std::make_unique<DepthwiseKernel>(r, conv, layout);
}

}  // namespace assay::engine::tactic_depthwise_conv
