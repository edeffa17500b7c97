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

/// The window of a step, whose extents are those of its input and result.
kernels::Window window_of(const StepReader& r, const PlanValue& in, const PlanValue& out) {
  const size_t rank = in.shape.size() - 2;
  return {.in = {in.shape.begin() + 2, in.shape.end()},
          .out = {out.shape.begin() + 2, out.shape.end()},
          .kernel = r.window("kernel", rank, 1),
          .strides = r.window("strides", rank, 1),
          .dilations = r.window("dilations", rank, 1),
          .begin = r.window("pads_begin", rank, 0),
          .end = r.window("pads_end", rank, 0)};
}

/// Every channel on its own, position by position.
class DepthwiseKernel final : public Kernel {
 public:
  DepthwiseKernel(const StepReader& r, const Int8Size& size, kernels::Window window, Quantization q)
      : window_(std::move(window)),
        images_{&window_, size.n, q.dtype == DType::kInt8, q.zero_point},
        size_(size),
        tiles_(depthwise_tiles(size, r.plan().threads)),
        finish_(r, size, tiles_) {
    r.check_elements(r.row_input(1), {size.k, size.n});
    r.check_scratch(tiles_.scratch_bytes());
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
  const StepReader r = read_int8_step(plan, step);
  const Quantization q = int8_input(r);
  const PlanValue &in = r.any_input(0), &out = r.any_output(0);
  StepReader::check(in.shape.rank() >= 3 && in.shape.rank() <= 5 && out.shape.rank() == in.shape.rank() &&
                        in.shape[0] == out.shape[0] && in.shape.numel() > 0 && out.shape.numel() > 0 &&
                        same_memory(in.shape, in.layout, Layout::channels_last()) &&
                        same_memory(out.shape, out.layout, Layout::channels_last()),
                    "it makes {} in {} of {} in {}", out.shape.str(), out.layout.str(), in.shape.str(),
                    in.layout.str());
  auto window = window_of(r, in, out);
  const bool depthwise = r.flag("depthwise");
  int64_t taps = 1;
  for (const int64_t k : window.kernel) taps = r.product({taps, k});
  const int64_t inputs = depthwise ? 1 : in.shape[1];
  StepReader::check(taps <= kernels::kMaxInt8Sum / inputs &&
                        (!depthwise || (in.shape[1] == out.shape[1] && taps <= kMaxFloatSum)),
                    "its sums are too long");
  const Int8Size size{out.shape[0] * window.out_size(), out.shape[1], inputs * taps};
  r.product({size.m, size.n, size.k});
  if (depthwise) return std::make_unique<DepthwiseKernel>(r, size, std::move(window), q);
  const auto shared = std::make_shared<const kernels::Window>(std::move(window));
  return std::make_unique<Int8Kernel>(
      r, size,
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
