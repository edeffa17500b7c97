// Convolution to few channels, as dot products along those of the image: from channels last or blocks of 16
// to row-major planes.
#include "kernels/channel_window/few_output_conv.h"

#include "base/parallel.h"
#include "engine/tactics/conv/channel_window.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_few_output_conv {
namespace {

using kernels::FewOutputConv;

constexpr std::string_view kOperators[] = {"Conv"};
/// Of an image: fewer fill no vector.
constexpr int64_t kMinChannels = 8;
/// Operations that a thread is worth waking for.
constexpr int64_t kGrain = 64 << 10;

FewOutputConv few_output_conv(const ConvProduct& conv, Layout layout) {
  return {channel_window(conv.window, conv.in_channels, layout), conv.size.n};
}

Tensor pack(const UnalignedTensor& weights, const FewOutputConv& conv) {
  const Tensor all = weights.aligned();
  Tensor packed = Tensor::allocate(DType::kFloat32, Shape{conv.packed_floats()});
  kernels::pack_few_output_conv(conv, all.data<float>(), packed.mutable_data<float>());
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32 || p.output_dtype(0) != DType::kFloat32)
    return "the input or the result is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  if (conv.is_depthwise) return "every channel has a group of its own";
  if (conv.size.n > kernels::kMaxFewOutputs) return "the result has more than a few channels";
  if (conv.in_channels < kMinChannels) return "the image has too few channels";
  if (conv.window.rank() > 2) return "it has three spatial axes";
  if (std::string reason = common_epilogue_refusal(p, conv); !reason.empty()) return reason;
  for (const Layout layout : window_layouts(p, *p.input_shape(0))) {
    const FewOutputConv size = few_output_conv(conv, layout);
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0), layout);
    const UnalignedTensor& weights = *p.input_constant(1);
    b.add_constant(p.node().input(1)->name(), weights, fmt::format("dots of {} taps", size.window.taps()),
                   [weights, size] { return pack(weights, size); });
    add_padded_bias(p.node().input(2), 1, size.outputs, b);
    b.add_output(p.region().output());
    b.write(conv_fields(conv));
    write_common_end(p, {}, b);
    const auto results = static_cast<double>(conv.size.m) * static_cast<double>(conv.size.n);
    b.estimate = estimate_seconds(2 * results * static_cast<double>(conv.size.k),
                                  4 * static_cast<double>(p.input_shape(0)->numel()), 0.3);
  }
  return {};
}

class DotKernel final : public Kernel {
 public:
  DotKernel(const StepReader& r, const ConvProduct& conv, Layout layout)
      : conv_(few_output_conv(conv, layout)),
        images_(conv.size.m / conv.window.out_size()),
        rows_(conv.window.out_size() / conv_.window.out_columns),
        image_(layout_bytes(DType::kFloat32, r.input(0).shape, layout) / sizeof(float) /
               static_cast<size_t>(images_)),
        end_(read_common_end(r, conv.size)) {
    r.product({conv_.outputs, conv_.window.blocks(), kernels::kChannelBlock, conv_.window.taps(),
               int64_t{sizeof(float)}});
    r.check_elements(r.row_input(1), {conv_.packed_floats()});
    r.optional_elements(2, {conv_.outputs});
    const double work =
        static_cast<double>(conv_.packed_floats()) * static_cast<double>(conv_.window.out_columns);
    grain_ = std::max<int64_t>(1, static_cast<int64_t>(kGrain / work));
  }

  Status run(const KernelArgs& args) noexcept override {
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    auto* const y = static_cast<float*>(args.outputs[0]);
    const int64_t columns = conv_.window.out_columns, plane = rows_ * columns;
    parallel_for(images_ * rows_, grain_, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t image = i / rows_, row = i % rows_,
                      place = image * conv_.outputs * plane + row * columns;
        kernels::few_output_conv_row(conv_, x + image * static_cast<int64_t>(image_),
                                     static_cast<const float*>(args.inputs[1]),
                                     static_cast<const float*>(args.inputs[2]), row, y + place, plane);
        for (int64_t o = 0; o < conv_.outputs; ++o) finish(args, o, place + o * plane, y + place + o * plane);
      }
    });
    return Status::kOk;
  }

 private:
  /// A row of one channel's plane.
  void finish(const KernelArgs& args, int64_t output, int64_t place, float* y) const {
    kernels::EpilogueOperands operands = end_.operands(args, place, 0, output);
    kernels::EpilogueParameters end = end_.finish;
    if (operands.factors != nullptr) end.scale = *operands.factors;
    if (operands.shifts != nullptr) end.shift = *operands.shifts;
    operands.factors = operands.shifts = nullptr;
    kernels::row_epilogue(end, 1, conv_.window.out_columns, y, 0, operands, y, 0);
  }

  FewOutputConv conv_;
  int64_t images_, rows_;
  size_t image_;  ///< numbers of an image
  CommonEnd end_;
  int64_t grain_ = 1;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, kMaxEndInputs);
  r.row_output(0);
  const Layout layout = r.input(0).layout == kChannelBlocks ? kChannelBlocks : Layout::channels_last();
  const ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, layout, {});
  StepReader::check(!conv.is_depthwise && conv.window.rank() <= 2, "it has no windows of two axes at most");
  return std::make_unique<DotKernel>(r, conv, layout);
}

}  // namespace

constinit const TacticDef def = {
    .name = "few_output_conv",
    .summary =
        "convolution to up to 8 channels as dot products, from channels last or blocks of 16 to row-major",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_few_output_conv
