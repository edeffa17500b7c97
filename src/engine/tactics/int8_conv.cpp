// Convolution of 8-bit integers, from DequantizeLinear to QuantizeLinear, channels last: a product of
// gathered rows, or every channel on its own.
#include "kernels/int8/int8_conv.h"

#include <algorithm>

#include "engine/tactics/int8_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_int8_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};
/// Longest sum of products of 255 * 255 that float32 holds exactly.
constexpr int64_t kMaxFloatSum = (int64_t{1} << 24) / (255 * 255);

Tensor pack_products(const QuantizedConstant& source, const kernels::Int8Weights& weights, int64_t inputs,
                     int64_t taps) {
  Tensor packed = Tensor::allocate(DType::kUInt8, Shape{weights.bytes()});
  const std::vector<int16_t> numbers = taps_first(int8_numbers(source).data(), weights.n, inputs, taps);
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

/// Whole rows of channels, each channel on its own; nothing is gathered.
ProductTiles depthwise_tiles(const ProductSize& size, int threads) {
  ProductTiles t;
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
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  const ProductSize& size = conv.size;
  Int8Operands operands;
  if (std::string reason = read_int8(p, p.node().input(0), p.node().input(1), 0, size.k, operands);
      !reason.empty())
    return reason;
  const bool depthwise = conv.is_depthwise;
  const int64_t taps = conv.window.taps(), inputs = depthwise ? 1 : conv.in_channels;
  if (depthwise && taps > kMaxFloatSum) return "its sums may exceed what float32 holds";
  Candidate& b = proposals.add(depthwise ? "depthwise" : "products", NumericsClass::kReassociated);
  const kernels::Int8Weights weights{size.n, size.k, operands.wide};
  const std::string packing = depthwise ? fmt::format("int8 {} taps first", taps)
                                        : fmt::format("int8 {} x {} taps of {} in panels of {}", inputs, taps,
                                                      weights.wide ? 16 : 8, kernels::kInt8Columns);
  write_int8(
      p, operands, p.node().input(0), p.node().input(1), p.node().input(2), 1, p.region().epilogue, size.n,
      Layout::channels_last(), packing,
      [=, source = *operands.weights] {
        return depthwise ? pack_channels(source, weights.n, taps)
                         : pack_products(source, weights, inputs, taps);
      },
      b);
  write_conv_product(conv, b.step.parameters);
  const int threads = p.config().threads;
  b.step.scratch_bytes =
      (depthwise ? depthwise_tiles(size, threads) : int8_tiles(size, threads)).scratch_bytes();
  b.estimate = estimate_seconds(
      2.0 * static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k),
      static_cast<double>(weights.bytes()), depthwise ? 0.2 : 1.2);
  return {};
}

/// Every channel on its own, position by position.
class DepthwiseKernel final : public Int8Sums {
 public:
  DepthwiseKernel(const StepReader& r, ConvProduct conv, Quantization q)
      : Int8Sums(r, conv.size, depthwise_tiles(conv.size, r.plan().threads)),
        window_(std::move(conv.window)),
        images_{&window_, conv.size.n, q.dtype == DType::kInt8, q.zero_point} {
    r.check_elements(r.row_input(1), {conv.size.k, conv.size.n});
  }

 private:
  const void* gather(const KernelArgs& args, int64_t, int64_t, void*) const noexcept override {
    return args.inputs[0];
  }
  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    kernels::depthwise_int8(images_, tile.left, static_cast<const float*>(args.inputs[1]), tile.row,
                            tile.rows, static_cast<int32_t*>(tile.sums));
    finish_sums(args, tile);
  }

  kernels::Window window_;
  kernels::Int8Images images_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_int8_step(plan, step);
  const Quantization q = int8_input(r);
  ConvProduct conv = read_conv_product(r);
  StepReader::check(conv.size.k <= (conv.is_depthwise ? kMaxFloatSum : kernels::kMaxInt8Sum),
                    "its sums are too long");
  if (conv.is_depthwise) return std::make_unique<DepthwiseKernel>(r, std::move(conv), q);
  const auto window = std::make_shared<const kernels::Window>(std::move(conv.window));
  return std::make_unique<Int8Kernel>(
      r, conv.size,
      [window,
       images = kernels::Int8Images{window.get(), conv.in_channels, q.dtype == DType::kInt8, q.zero_point}](
          const void* x, int64_t first, int64_t count, int16_t* rows) {
        kernels::gather_int8_rows(images, x, first, count, rows);
      });
}

}  // namespace

constinit const TacticDef def = {
    .name = "int8_conv",
    .summary = "convolution of 8-bit integers between DequantizeLinear and QuantizeLinear, channels last",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_int8_conv
