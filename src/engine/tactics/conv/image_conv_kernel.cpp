#include "engine/tactics/conv/image_conv_kernel.h"

#include "base/parallel.h"

namespace assay::engine::tactic_image_conv {
namespace {

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

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, kMaxEndInputs);
  r.row_input(0);
  const Layout layout = r.output(0).layout == kChannelBlocks ? kChannelBlocks : Layout::channels_last();
  const ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, {}, layout);
  StepReader::check(!conv.is_depthwise && conv.window.rank() <= 2, "it has no windows of two axes at most");
  return std::make_unique<ImageKernel>(r, conv, layout);
}

}  // namespace assay::engine::tactic_image_conv
