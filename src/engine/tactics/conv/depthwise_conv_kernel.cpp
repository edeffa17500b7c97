#include "engine/tactics/conv/depthwise_conv_kernel.h"

#include "base/parallel.h"
#include "kernels/panel/bfloat16_rows.h"

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
    reads_narrow_ = r.any_input(0).dtype == DType::kBFloat16;
    stores_narrow_ = r.any_output(0).dtype == DType::kBFloat16;
    const bool is_simple = !layout.is_blocked() && end_.addend < 0 && fits_narrow_buffer(conv_);
    StepReader::check(is_simple || !(reads_narrow_ || stores_narrow_),
                      "its images in bfloat16 have another layout or epilogue");
  }

  Status run(const KernelArgs& args) noexcept override {
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    const auto* const packed = static_cast<const float*>(args.inputs[1]);
    const auto* const bias = static_cast<const float*>(args.inputs[2]);
    auto* const y = static_cast<float*>(args.outputs[0]);
    if (reads_narrow_ || stores_narrow_) {
      rows_.run([&](const ChannelRows::Part& part) { run_narrow(args, part); });
      return Status::kOk;
    }
    rows_.run([&](const ChannelRows::Part& part) {
      kernels::depthwise_rows(conv_, x + part.image, packed, bias, part.row, part.rows, part.first,
                              part.count, end_.finish, end_.operands(args, part.result, conv_.out_pixel, 0),
                              y + part.result);
    });
    return Status::kOk;
  }

 private:
  /// A part whose image or result is in bfloat16.
  void run_narrow(const KernelArgs& args, const ChannelRows::Part& part) const {
    alignas(64) float buffer[kNarrowBuffer];
    // The part's channels alone, and their results side by side in the buffer.
    const int64_t channel = part.first * kernels::kChannelBlock;
    ChannelWindow some = conv_;
    some.channels -= channel;
    kernels::EpilogueOperands operands = end_.operands(args, 0, 0, channel);
    const auto* const packed = static_cast<const float*>(args.inputs[1]) + channel * conv_.taps();
    const auto* bias = static_cast<const float*>(args.inputs[2]);
    if (bias != nullptr) bias += channel;
    float* y = stores_narrow_ ? buffer : static_cast<float*>(args.outputs[0]) + part.result + channel;
    if (stores_narrow_) some.out_pixel = part.count * kernels::kChannelBlock;
    const int64_t image = part.image + channel;
    if (reads_narrow_)
      kernels::depthwise_rows(some, static_cast<const uint16_t*>(args.inputs[0]) + image, packed, bias,
                              part.row, part.rows, 0, part.count, end_.finish, operands, y);
    else
      kernels::depthwise_rows(some, static_cast<const float*>(args.inputs[0]) + image, packed, bias, part.row,
                              part.rows, 0, part.count, end_.finish, operands, y);
    if (!stores_narrow_) return;
    auto* to = static_cast<uint16_t*>(args.outputs[0]) + part.result + channel;
    const int64_t count = std::min(some.out_pixel, some.channels), pixels = part.rows * conv_.out_columns;
    if (count == conv_.channels && count == some.out_pixel)
      return kernels::round_to_bfloat16(buffer, to, static_cast<size_t>(pixels * count));
    for (int64_t p = 0; p < pixels; ++p, to += conv_.channels)
      kernels::round_to_bfloat16(buffer + p * some.out_pixel, to, static_cast<size_t>(count));
  }

  ChannelWindow conv_;
  ChannelRows rows_;
  CommonEnd end_;
  bool reads_narrow_ = false, stores_narrow_ = false;
};

/// Float32, or rounded to bfloat16.
DType image_type(const PlanValue& v) {
  return v.dtype == DType::kBFloat16 ? DType::kBFloat16 : DType::kFloat32;
}

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, kMaxEndInputs);
  r.input(0, image_type(r.any_input(0)));
  const Layout layout = r.output(0, image_type(r.any_output(0))).layout == kChannelBlocks
                            ? kChannelBlocks
                            : Layout::channels_last();
  const ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, layout);
  StepReader::check(conv.is_depthwise && conv.window.rank() <= 2, "it has no windows of single channels");
  return std::make_unique<DepthwiseKernel>(r, conv, layout);
}

}  // namespace assay::engine::tactic_depthwise_conv
