// Convolution of row-major images of few channels, a network's first layer: each number of the image meets
// vectors of the result's channels.
#include "kernels/channel_window/image_conv.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/tactics/conv/channel_window.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_image_conv {
namespace {

using kernels::ImageConv;

constexpr std::string_view kOperators[] = {"Conv"};

struct StepFields {
  int64_t threads = 1;  ///< that the step is cut for

  void fields(FieldVisitor& visit) { visit("threads", threads, {1, kMaxThreads}); }
};

/// Channels of an image beyond which the other layouts fill vectors with them.
constexpr int64_t kMaxPlanes = 4;

ImageConv image_conv(const ConvProduct& conv, Layout layout) {
  ImageConv image{.window = channel_window(conv.window, conv.size.n, layout), .planes = conv.in_channels};
  image.window.pixel = 1;
  image.window.row = image.window.in_columns;
  image.window.block = image.window.in_rows * image.window.in_columns;
  return image;
}

Tensor pack(const UnalignedTensor& weights, const ImageConv& conv) {
  const Tensor all = weights.aligned();
  Tensor packed = Tensor::allocate(DType::kFloat32, Shape{conv.packed_floats()});
  kernels::pack_channel_blocks(conv.window.channels, conv.taps(), all.data<float>(),
                               packed.mutable_data<float>());
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32 || p.output_dtype(0) != DType::kFloat32)
    return "the input or the result is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  if (conv.is_depthwise || conv.in_channels > kMaxPlanes) return "the image has more than a few channels";
  if (conv.window.rank() > 2) return "it has three spatial axes";
  if (!all_finite(p, *p.input_constant(1))) return "a weight is infinite or NaN, and would meet padding";
  if (std::string reason = common_epilogue_refusal(p, conv); !reason.empty()) return reason;
  for (const Layout layout : window_layouts(p, *p.output_shape(0))) {
    const ImageConv size = image_conv(conv, layout);
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0));
    const UnalignedTensor& weights = *p.input_constant(1);
    b.add_constant(p.node().input(1)->name(), weights, fmt::format("image of {} taps", size.taps()),
                   [weights, size] { return pack(weights, size); });
    add_padded_bias(p.node().input(2), 1, size.window.bias_floats(), b);
    b.add_output(p.region().output(), layout);
    b.write(conv_fields(conv));
    b.write(StepFields{.threads = p.config().threads});
    b.step.scratch_bytes = p.config().threads * size.scratch_floats() * int64_t{sizeof(float)};
    write_common_end(p, layout, b);
    const auto results =
        static_cast<double>(conv.size.m) * static_cast<double>(size.window.blocks() * kernels::kChannelBlock);
    b.estimate = estimate_seconds(2 * results * static_cast<double>(conv.size.k), 0, 0.9);
  }
  return {};
}

class ImageKernel final : public Kernel {
 public:
  ImageKernel(const StepReader& r, const ConvProduct& conv, Layout layout)
      : conv_(image_conv(conv, layout)),
        images_(conv.size.m / conv.window.out_size()),
        rows_(conv.window.out_size() / conv_.window.out_columns),
        threads_(r.read<StepFields>().threads),
        end_(read_common_end(r, conv.size)) {
    r.product({conv_.window.blocks(), kernels::kChannelBlock, conv_.taps(), int64_t{sizeof(float)}});
    r.check_elements(r.row_input(1), {conv_.packed_floats()});
    r.optional_elements(2, {conv_.window.bias_floats()});
    const int64_t line = conv_.line();
    r.check_scratch(
        r.product({threads_, conv_.planes, conv_.window.kernel_rows, line, int64_t{sizeof(float)}}));
  }

  Status run(const KernelArgs& args) noexcept override {
    const kernels::ChannelWindow& w = conv_.window;
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    auto* const y = static_cast<float*>(args.outputs[0]);
    const int64_t stored = w.fills_blocks ? w.blocks() * kernels::kChannelBlock : w.channels;
    parallel_for(threads_, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        float* const scratch = static_cast<float*>(args.scratch) + part * conv_.scratch_floats();
        const int64_t end = images_ * rows_ * (part + 1) / threads_;
        for (int64_t i = images_ * rows_ * part / threads_; i < end; ++i) {
          const int64_t image = i / rows_, row = i % rows_;
          const int64_t result = image * stored * rows_ * w.out_columns + row * w.out_columns * w.out_pixel;
          kernels::image_conv_row(conv_, x + image * conv_.planes * w.block,
                                  static_cast<const float*>(args.inputs[1]),
                                  static_cast<const float*>(args.inputs[2]), row, end_.finish,
                                  end_.operands(args, result, w.out_pixel, 0), scratch, y + result);
        }
      }
    });
    return Status::kOk;
  }

 private:
  ImageConv conv_;
  int64_t images_, rows_, threads_;
  CommonEnd end_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, kMaxEndInputs);
  r.row_input(0);
  const Layout layout = r.output(0).layout == kChannelBlocks ? kChannelBlocks : Layout::channels_last();
  const ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, {}, layout);
  StepReader::check(!conv.is_depthwise && conv.window.rank() <= 2, "it has no windows of two axes at most");
  return std::make_unique<ImageKernel>(r, conv, layout);
}

}  // namespace

constinit const TacticDef def = {
    .name = "image_conv",
    .summary = "convolution of row-major images of up to four channels, to channels last or in blocks of 16",
    .version = 2,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_image_conv
