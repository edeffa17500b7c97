// MatMulInteger with a constant matrix: exact sums of products of 8-bit integers less their zero points.
#include <algorithm>

#include "engine/runtime/arena.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "engine/tactics/tiled_product.h"
#include "kernels/int8/int8_product.h"

namespace assay::engine::tactic_integer_matmul {
namespace {

constexpr std::string_view kOperators[] = {"MatMulInteger"};
/// Inputs of the step: the left operand, the packed weights, the left operand's zero point.
enum Input : size_t { kLeft, kWeights, kZeroPoint };

ProductTiles tiles_of(const ProductSize& size, int threads) {
  const int64_t row_bytes = kernels::int8_row_length(size.k) * 2;
  return product_tiles(size, row_bytes, std::clamp<int64_t>((int64_t{64} << 10) / row_bytes, 12, 96),
                       threads);
}

/// An 8-bit integer of a constant.
int level(const Tensor& t, int64_t i) {
  return t.dtype() == DType::kInt8 ? static_cast<int>(t.data<int8_t>()[i])
                                   : static_cast<int>(t.data<uint8_t>()[i]);
}

/// The matrix less its zero points, of which there is none, one, or one for each column.
std::vector<int16_t> numbers_of(const Tensor& w, const Tensor& zero_points) {
  const int64_t n = w.dim(1);
  std::vector<int16_t> numbers(static_cast<size_t>(w.numel()));
  for (int64_t i = 0; i < w.numel(); ++i) {
    const int zero = !zero_points.defined() ? 0 : level(zero_points, zero_points.numel() == 1 ? 0 : i % n);
    numbers[static_cast<size_t>(i)] = static_cast<int16_t>(level(w, i) - zero);
  }
  return numbers;
}

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  const UnalignedTensor* const w = p.input_constant(1);
  if (w == nullptr || w->shape().rank() != 2) return "the right operand is not a constant matrix";
  if (p.input_shape(0)->size() < 1 || p.output_shape(0)->numel() == 0 || w->shape()[0] == 0)
    return "there is nothing to do";
  if (w->shape()[0] > kernels::kMaxInt8Sum) return "its sums may exceed 32 bits";
  if (p.input_count() > 2 && p.has_input(2) &&
      (p.input_shape(2) == nullptr || p.input_shape(2)->numel() != 1))
    return "the left operand has several zero points";
  if (p.input_count() > 3 && p.has_input(3)) {
    const UnalignedTensor* const z = p.input_constant(3);
    if (z == nullptr) return "the right operand's zero points are not constant";
    const bool by_column = z->shape().rank() == 1 || (z->shape().rank() == 2 && z->shape()[0] == 1);
    if (z->numel() != 1 && !(by_column && z->numel() == w->shape()[1]))
      return "the right operand's zero points are not one for each column";
  }
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const UnalignedTensor& w = *p.input_constant(1);
  const UnalignedTensor* const z = p.input_count() > 3 && p.has_input(3) ? p.input_constant(3) : nullptr;
  const ProductSize size{p.output_shape(0)->numel() / w.shape()[1], w.shape()[1], w.shape()[0]};
  const Tensor zero_points = z != nullptr ? z->aligned() : Tensor();
  kernels::Int8Weights weights{size.n, size.k, false};
  for (const int16_t x : numbers_of(w.aligned(), zero_points))
    weights.wide = weights.wide || x < -128 || x > 127;
  std::string packing =
      fmt::format("levels of {} bits in panels of {}, less", weights.wide ? 16 : 8, kernels::kInt8Columns);
  for (int64_t i = 0; z != nullptr && i < zero_points.numel(); ++i)
    packing += fmt::format(" {}", level(zero_points, i));
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(p.node().input(0));
  b.add_constant(p.node().input(1)->name(), w, packing, [weights, zero_points, source = w] {
    Tensor packed = Tensor::allocate(DType::kUInt8, Shape{weights.bytes()});
    kernels::pack_int8_weights(weights, numbers_of(source.aligned(), zero_points).data(), weights.n, 1,
                               packed.mutable_data());
    return packed;
  });
  p.input_count() > 2 && p.has_input(2) ? b.add_input(p.node().input(2)) : b.skip_input();
  b.add_output(p.node().output(0));
  b.step.parameters.set("m", size.m);
  b.step.parameters.set("n", size.n);
  b.step.parameters.set("k", size.k);
  b.step.parameters.set("wide", int64_t{weights.wide});
  b.step.scratch_bytes = tiles_of(size, p.config().threads).scratch_bytes();
  b.estimate = estimate_seconds(2.0 * static_cast<double>(size.m * size.n * size.k),
                                static_cast<double>(weights.bytes()), 1.2);
  return {};
}

class IntegerMatmulKernel final : public Kernel {
 public:
  explicit IntegerMatmulKernel(const StepReader& r)
      : size_{r.number("m", 1), r.number("n", 1), r.number("k", 1, kernels::kMaxInt8Sum)},
        weights_{size_.n, size_.k, r.flag("wide")},
        tiles_(tiles_of(size_, r.plan().threads)) {
    r.product({size_.m, size_.n, size_.k});
    const PlanValue& left = r.raw_input(kLeft);
    StepReader::check(is_byte(left.dtype), "its left operand is {}", dtype_name(left.dtype));
    is_signed_ = left.dtype == DType::kInt8;
    r.check_elements(left, {size_.m, size_.k});
    const PlanValue& packed = r.row_input(kWeights, DType::kUInt8);
    StepReader::check(packed.shape.numel() == weights_.bytes(), "its packed weights have {} bytes, not {}",
                      packed.shape.numel(), weights_.bytes());
    if (r.has_input(kZeroPoint)) r.check_elements(r.row_input(kZeroPoint, left.dtype), {1});
    r.check_elements(r.row_output(0, DType::kInt32), {size_.m, size_.n});
    r.check_scratch(tiles_.scratch_bytes());
  }

  Status run(const KernelArgs& args) noexcept override {
    parallel_for(tiles_.chunks, 1, [&](int64_t first, int64_t last) {
      for (int64_t chunk = first; chunk < last; ++chunk) run_chunk(args, chunk);
    });
    return Status::kOk;
  }

 private:
  static bool is_byte(DType t) { return t == DType::kInt8 || t == DType::kUInt8; }

  void run_chunk(const KernelArgs& args, int64_t chunk) const noexcept {
    char* const scratch =
        static_cast<char*>(args.scratch) + chunk * (tiles_.left_bytes + 2 * tiles_.sum_bytes);
    auto* const rows = reinterpret_cast<int16_t*>(scratch);
    auto* const sums = reinterpret_cast<int32_t*>(scratch + tiles_.left_bytes);
    const int64_t tasks = tiles_.row_tiles * tiles_.groups;
    int64_t gathered = -1;
    for (int64_t task = tasks * chunk / tiles_.chunks; task < tasks * (chunk + 1) / tiles_.chunks; ++task) {
      const int64_t number = task / tiles_.groups, group = task % tiles_.groups;
      const int64_t row = number * tiles_.rows, count = std::min(tiles_.rows, size_.m - row);
      if (gathered != number) gather(args, row, count, rows);
      gathered = number;
      const int64_t end = tiles_.column_blocks * (group + 1) / tiles_.groups;
      for (int64_t block = tiles_.column_blocks * group / tiles_.groups; block < end; ++block) {
        const int64_t column = block * tiles_.columns, width = std::min(tiles_.columns, size_.n - column);
        kernels::int8_product(weights_, args.inputs[kWeights], column / kernels::kInt8Columns,
                              (width + kernels::kInt8Columns - 1) / kernels::kInt8Columns, rows, count, sums,
                              tiles_.columns);
        auto* const out = static_cast<int32_t*>(args.outputs[0]) + row * size_.n + column;
        for (int64_t r = 0; r < count; ++r) std::copy_n(sums + r * tiles_.columns, width, out + r * size_.n);
      }
    }
  }

  /// Rows less their zero point, filled up to whole pairs.
  void gather(const KernelArgs& args, int64_t first, int64_t count, int16_t* rows) const noexcept {
    int zero = 0;
    if (const void* z = args.inputs[kZeroPoint])
      zero = is_signed_ ? static_cast<int>(*static_cast<const int8_t*>(z))
                        : static_cast<int>(*static_cast<const uint8_t*>(z));
    const int64_t length = kernels::int8_row_length(size_.k);
    const char* from = static_cast<const char*>(args.inputs[kLeft]) + first * size_.k;
    for (int64_t r = 0; r < count; ++r, from += size_.k, rows += length) {
      kernels::widen_int8(from, is_signed_, zero, rows, size_.k);
      if (length > size_.k) rows[size_.k] = 0;
    }
  }

  ProductSize size_;
  kernels::Int8Weights weights_;
  ProductTiles tiles_;
  bool is_signed_ = false;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<IntegerMatmulKernel>(StepReader(plan, step, 3));
}

}  // namespace

constinit const TacticDef def = {
    .name = "integer_matmul",
    .summary = "exact products of 8-bit integers with a constant matrix, in 32 bits",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_integer_matmul
