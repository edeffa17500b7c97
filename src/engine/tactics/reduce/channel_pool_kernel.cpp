#include "engine/tactics/reduce/channel_pool_kernel.h"

#include <limits>
#include <optional>

#include "base/parallel.h"
#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_channel_pool {
namespace {

class PoolKernel final : public Kernel {
 public:
  PoolKernel(const kernels::Window& w, int64_t images, int64_t channels, PoolKind kind, Layout layout)
      : window_(channel_window(w, channels, layout)),
        rows_(window_, images, w.out_size() / window_.out_columns),
        kind_(kind) {}

  Status run(const KernelArgs& args) noexcept override {
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    auto* const y = static_cast<float*>(args.outputs[0]);
    rows_.run([&](const ChannelRows::Part& part) {
      kernels::pool_row(window_, kind_, x + part.image, part.row, part.first, part.count, y + part.result);
    });
    return Status::kOk;
  }

 private:
  kernels::ChannelWindow window_;
  ChannelRows rows_;
  PoolKind kind_;
};

/// Images, their window, and the results' shape.
struct PoolProblem {
  kernels::Window window;
  int64_t images, channels;
  PoolKind kind;
  Layout layout;
};

bool lies(const PlanValue& v, Layout layout) { return same_memory(v.shape, v.layout, layout); }

/// Where axes are left out, those of one position are.
Shape with_all_axes(const Shape& out, size_t rank) {
  Shape shape = out;
  while (out.size() == 2 && shape.size() < rank) shape.push_back(1);
  return shape;
}

PoolProblem read_problem(const StepReader& r, const PlanValue& in, const PlanValue& out) {
  const Layout layout = in.layout == kChannelBlocks ? kChannelBlocks : Layout::channels_last();
  const Shape made = with_all_axes(out.shape, in.shape.size());
  StepReader::check(
      (in.shape.rank() == 3 || in.shape.rank() == 4) && made.size() == in.shape.size() &&
          in.shape[0] == made[0] && in.shape[1] == made[1] && in.shape.numel() > 0 && made.numel() > 0 &&
          lies(in, layout) && (out.shape == made ? lies(out, layout) : out.layout.is_row()) &&
          (out.shape == made || !layout.is_blocked() || made[1] % layout.block == 0),
      "it makes {} in {} of {} in {}", out.shape.str(), out.layout.str(), in.shape.str(), in.layout.str());
  const size_t axes = in.shape.size() - 2;
  const auto p = r.read(StepFields{.window = {axes}});
  PoolProblem problem{.window = {.in = {in.shape.begin() + 2, in.shape.end()},
                                 .out = {made.begin() + 2, made.end()},
                                 .kernel = p.window.kernel,
                                 .strides = p.window.strides,
                                 .dilations = p.window.dilations,
                                 .begin = p.window.begin,
                                 .end = std::vector<int64_t>(axes, 0)},
                      .images = in.shape[0],
                      .channels = in.shape[1],
                      .kind = p.kind,
                      .layout = layout};
  int64_t taps = 1;
  for (size_t a = 0; a < axes; ++a) {
    taps = r.product({taps, problem.window.kernel[a]});
    StepReader::check(all_see_pixels(problem.window, a), "a window lies beside {}", in.shape.str());
  }
  r.product({made.numel(), taps});
  return problem;
}

/// Averages of 8-bit integers.
class ByteAverageKernel final : public Kernel {
 public:
  explicit ByteAverageKernel(const StepReader& r)
      : problem_(read_problem(r, r.any_input(0), r.any_output(0))), quantized_(int8_quantized(r)) {
    const DType made = r.any_output(0).dtype;
    const bool is_signed = made == DType::kInt8, is_byte = is_signed || made == DType::kUInt8;
    StepReader::check(is_byte || made == DType::kFloat32, "it makes {}", dtype_name(made));
    StepReader::check(problem_.kind != PoolKind::kMax && problem_.layout.is_channels_last() &&
                          averages_bytes(problem_.window),
                      "it does not average images with channels last");
    scale_ = r.read(Int8Fields{.least_zero = -128, .most_zero = 255}).x_scale;
    if (!is_byte) return;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const auto end = r.read(ResultFields{.is_signed = is_signed});
    end_ = kernels::Requantization{.low = -kInfinity,
                                   .high = kInfinity,
                                   .scale = end.scale,
                                   .zero_point = static_cast<int>(end.zero_point),
                                   .is_signed = is_signed};
  }

  Status run(const KernelArgs& args) noexcept override {
    const int64_t channels = problem_.channels, positions = problem_.images * problem_.window.out_size(),
                  width = end_ ? 1 : static_cast<int64_t>(sizeof(float)),
                  taps = std::min<int64_t>(problem_.window.taps(), kGrain);
    const kernels::ByteAverages averages{
        .images = {&problem_.window, channels, 1, quantized_.is_signed, quantized_.zero_point},
        .scale = scale_,
        .counts_pads = problem_.kind == PoolKind::kAverageWithPads,
        .end = end_ ? &*end_ : nullptr};
    auto* const y = static_cast<char*>(args.outputs[0]);
    // Where there are few positions, threads share their channels.
    const int64_t together = positions < kFewPositions ? kChannels : channels,
                  parts = (channels + together - 1) / together;
    parallel_for(positions * parts, std::max<int64_t>(1, kGrain / (taps * std::min(together, channels))),
                 [&](int64_t first, int64_t last) {
                   while (first < last) {
                     const int64_t position = first / parts, part = first % parts,
                                   count = parts == 1 ? last - first : 1,
                                   some = parts == 1 ? 1 : std::min(last - first, parts - part),
                                   channel = part * together;
                     kernels::byte_average_pool(averages, args.inputs[0], position, count, channel,
                                                std::min(some * together, channels - channel),
                                                y + position * channels * width);
                     first += count * some;
                   }
                 });
    return Status::kOk;
  }

 private:
  static constexpr int64_t kGrain = 1 << 16, kFewPositions = 16, kChannels = 64;

  PoolProblem problem_;
  Int8Quantized quantized_;
  float scale_ = 1;
  std::optional<kernels::Requantization> end_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  if (r.any_input(0).dtype != DType::kFloat32) return std::make_unique<ByteAverageKernel>(r);
  PoolProblem p = read_problem(r, r.input(0), r.output(0));
  return std::make_unique<PoolKernel>(p.window, p.images, p.channels, p.kind, p.layout);
}

}  // namespace assay::engine::tactic_channel_pool
