#include "engine/tactics/conv/few_output_conv_kernel.h"

#include "base/parallel.h"

namespace assay::engine::tactic_few_output_conv {
namespace {

/// Operations that a thread is worth waking for.
constexpr int64_t kGrain = 64 << 10;

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

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, kMaxEndInputs);
  r.row_output(0);
  const Layout layout = r.input(0).layout == kChannelBlocks ? kChannelBlocks : Layout::channels_last();
  const ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, layout, {});
  StepReader::check(!conv.is_depthwise && conv.window.rank() <= 2, "it has no windows of two axes at most");
  return std::make_unique<DotKernel>(r, conv, layout);
}

}  // namespace assay::engine::tactic_few_output_conv
