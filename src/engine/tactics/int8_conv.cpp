// Convolution of 8-bit integers, from DequantizeLinear to QuantizeLinear, channels last: a product of
// gathered rows, or every channel on its own.
#include "kernels/int8/int8_conv.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/tactics/int8_product.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};
/// Longest sum of products of 255 * 255 that float32 holds exactly.
constexpr int64_t kMaxFloatSum = (int64_t{1} << 24) / (255 * 255);

std::string supports(const Problem& p) {
  if (p.region().result_transposed != nullptr) return "the result is transposed";
  const Shape* in = p.input_shape(0);
  if (in == nullptr || p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_constant(1) == nullptr) return "the weights are not constant";
  if (p.has_input(2) && p.input_constant(2) == nullptr) return "the bias is not constant";
  if (in->rank() < 3 || in->rank() > 5) return "only one to three spatial axes are supported";
  if (p.output_shape(0)->numel() == 0) return "the result is empty";
  return int8_epilogue_refusal(p, p.region().epilogue);
}

/// Weights [outputs, inputs, taps...] with the taps before the inputs.
std::vector<int16_t> taps_first(const std::vector<int16_t>& w, int64_t outputs, int64_t inputs,
                                int64_t taps) {
  std::vector<int16_t> moved(w.size());
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t t = 0; t < taps; ++t)
        moved[static_cast<size_t>((o * taps + t) * inputs + i)] =
            w[static_cast<size_t>((o * inputs + i) * taps + t)];
  return moved;
}

Tensor pack_products(const QuantizedConstant& source, const kernels::Int8Weights& weights, int64_t inputs,
                     int64_t taps) {
  Tensor packed = Tensor::allocate(DType::kUInt8, Shape{weights.bytes()});
  const std::vector<int16_t> numbers = taps_first(int8_numbers(source), weights.n, inputs, taps);
  kernels::pack_int8_weights(weights, numbers.data(), 1, weights.k, packed.mutable_data());
  return packed;
}

Tensor pack_channels(const QuantizedConstant& source, int64_t channels, int64_t taps) {
  Tensor packed = Tensor::allocate(DType::kFloat32, Shape{taps * channels});
  const std::vector<int16_t> numbers = int8_numbers(source);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t)
      packed.mutable_data<float>()[t * channels + c] = numbers[static_cast<size_t>(c * taps + t)];
  return packed;
}

/// Whole rows of channels, each channel on its own.
Int8Tiles depthwise_tiles(const Int8Size& size, int threads) {
  Int8Tiles t;
  t.columns = size.n;
  t.column_blocks = 1;
  t.rows = std::clamp<int64_t>((int64_t{48} << 10) / (4 * size.n), 1,
                               std::max<int64_t>(1, (size.m + threads - 1) / threads));
  t.row_tiles = (size.m + t.rows - 1) / t.rows;
  t.chunks = std::min<int64_t>(threads, t.row_tiles);
  t.sum_bytes = (t.rows * size.n * 4 + 63) / 64 * 64;
  return t;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const ConvPlan conv = plan_conv(p.attributes(), *p.input_shape(0), p.input_constant(1)->shape());
  const kernels::ConvSize& size = conv.size;
  const bool depthwise =
      size.groups > 1 && size.groups == size.in_channels && size.out_channels == size.in_channels;
  if (size.groups > 1 && !depthwise) return "it has groups of several channels";
  const int64_t taps = conv.window.taps(), inputs = size.in_channels / size.groups;
  const Int8Size product{size.batch * conv.window.out_size(), size.out_channels, inputs * taps};
  Int8Operands operands;
  if (std::string reason = read_int8(p, p.node().input(0), p.node().input(1), 0, product.k, operands);
      !reason.empty())
    return reason;
  if (depthwise && taps > kMaxFloatSum) return "its sums may exceed what float32 holds";
  Candidate& b = proposals.add(depthwise ? "depthwise" : "products", NumericsClass::kReassociated);
  const kernels::Int8Weights weights{product.n, product.k, operands.wide};
  const std::string packing = depthwise ? fmt::format("int8 {} taps first", taps)
                                        : fmt::format("int8 {} x {} taps of {} in panels of {}", inputs, taps,
                                                      weights.wide ? 16 : 8, kernels::kInt8Columns);
  write_int8(
      p, operands, p.node().input(0), p.node().input(1), p.node().input(2), 1, p.region().epilogue, product.n,
      Layout::channels_last(), packing,
      [=, source = *operands.weights] {
        return depthwise ? pack_channels(source, product.n, taps)
                         : pack_products(source, weights, inputs, taps);
      },
      b);
  Parameters& parameters = b.step.parameters;
  parameters.set("kernel", conv.window.kernel);
  parameters.set("strides", conv.window.strides);
  parameters.set("dilations", conv.window.dilations);
  parameters.set("pads_begin", conv.window.begin);
  parameters.set("pads_end", conv.window.end);
  parameters.set("depthwise", int64_t{depthwise});
  const int threads = p.config().threads;
  b.step.scratch_bytes =
      (depthwise ? depthwise_tiles(product, threads) : int8_tiles(product, threads)).scratch_bytes();
  b.estimate = estimate_seconds(
      2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k),
      static_cast<double>(weights.bytes()), depthwise ? 0.2 : 1.2);
  return {};
}

/// The window of a step, whose extents fit its input and result.
kernels::Window window_of(const Step& step, const PlanValue& in, const PlanValue& out) {
  kernels::Window w{.in = {in.shape.begin() + 2, in.shape.end()},
                    .out = {out.shape.begin() + 2, out.shape.end()},
                    .kernel = step.parameters.numbers("kernel"),
                    .strides = step.parameters.numbers("strides"),
                    .dilations = step.parameters.numbers("dilations"),
                    .begin = step.parameters.numbers("pads_begin"),
                    .end = step.parameters.numbers("pads_end")};
  const size_t rank = w.in.size();
  bool fits = w.kernel.size() == rank && w.strides.size() == rank && w.dilations.size() == rank &&
              w.begin.size() == rank && w.end.size() == rank;
  constexpr int64_t kMost = int64_t{1} << 31;
  for (size_t a = 0; fits && a < rank; ++a)
    fits = w.in[a] > 0 && w.out[a] > 0 && w.kernel[a] > 0 && w.kernel[a] < kMost && w.strides[a] > 0 &&
           w.strides[a] < kMost && w.dilations[a] > 0 && w.dilations[a] < kMost && w.begin[a] >= 0 &&
           w.begin[a] < kMost;
  require(fits, ErrorCode::kInvalidModel, "the step {} ({}): its window does not fit its input",
          step_name(step), step.tactic);
  return w;
}

/// Every channel on its own, position by position.
class DepthwiseKernel final : public Kernel {
 public:
  DepthwiseKernel(const Plan& plan, const Step& step, const Int8Size& size, kernels::Window window,
                  Quantization q)
      : window_(std::move(window)),
        images_{&window_, size.n, q.dtype == DType::kInt8, q.zero_point},
        size_(size),
        tiles_(depthwise_tiles(size, plan.threads)),
        finish_(plan, step, size, tiles_) {
    const PlanValue& packed = plan.values[static_cast<size_t>(step.inputs[1])];
    require(packed.dtype == DType::kFloat32 && packed.shape.numel() == size.k * size.n &&
                step.scratch_bytes >= tiles_.scratch_bytes(),
            ErrorCode::kInvalidModel,
            "the step {} ({}): its weights or scratch memory are for another convolution", step_name(step),
            step.tactic);
  }

  Status run(const KernelArgs& args) noexcept override {
    parallel_for(tiles_.chunks, 1, [&](int64_t first, int64_t last) {
      for (int64_t chunk = first; chunk < last; ++chunk) run_chunk(args, chunk);
    });
    return Status::kOk;
  }

 private:
  void run_chunk(const KernelArgs& args, int64_t chunk) const {
    char* const scratch = static_cast<char*>(args.scratch) + chunk * 2 * tiles_.sum_bytes;
    auto* const sums = reinterpret_cast<int32_t*>(scratch);
    for (int64_t tile = tiles_.row_tiles * chunk / tiles_.chunks;
         tile < tiles_.row_tiles * (chunk + 1) / tiles_.chunks; ++tile) {
      const int64_t row = tile * tiles_.rows, rows = std::min(tiles_.rows, size_.m - row);
      kernels::depthwise_int8(images_, args.inputs[0], static_cast<const float*>(args.inputs[1]), row, rows,
                              sums);
      finish_.run(args, row, rows, 0, size_.n, sums, size_.n, scratch + tiles_.sum_bytes);
    }
  }

  kernels::Window window_;
  kernels::Int8Images images_;
  Int8Size size_;
  Int8Tiles tiles_;
  Int8Finish finish_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const Quantization q = int8_input(plan, step);
  const PlanValue &in = plan.values[static_cast<size_t>(step.inputs[0])],
                  &out = plan.values[static_cast<size_t>(step.outputs[0])];
  require(in.shape.rank() >= 3 && in.shape.rank() <= 5 && out.shape.rank() == in.shape.rank() &&
              in.shape[0] == out.shape[0] && same_memory(in.shape, in.layout, Layout::channels_last()) &&
              same_memory(out.shape, out.layout, Layout::channels_last()),
          ErrorCode::kInvalidModel, "the step {} ({}): its input does not fit its result", step_name(step),
          step.tactic);
  auto window = window_of(step, in, out);
  const bool depthwise = step.parameters.number("depthwise") != 0;
  const int64_t taps = window.taps(), inputs = depthwise ? 1 : in.shape[1];
  require(taps <= kernels::kMaxInt8Sum / inputs &&
              (!depthwise || (in.shape[1] == out.shape[1] && taps <= kMaxFloatSum)),
          ErrorCode::kInvalidModel, "the step {} ({}): its sums are too long", step_name(step), step.tactic);
  const Int8Size size{out.shape[0] * window.out_size(), out.shape[1], inputs * taps};
  if (depthwise) return std::make_unique<DepthwiseKernel>(plan, step, size, std::move(window), q);
  const auto shared = std::make_shared<const kernels::Window>(std::move(window));
  return std::make_unique<Int8Kernel>(
      plan, step, size,
      [shared,
       images = kernels::Int8Images{shared.get(), in.shape[1], q.dtype == DType::kInt8, q.zero_point}](
          const void* x, int64_t first, int64_t count, int16_t* rows) {
        kernels::gather_int8_rows(images, x, first, count, rows);
      });
}

}  // namespace

constinit const TacticDef tactic_int8_conv = {
    .name = "int8_conv",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine
