#include "engine/tactics/product/integer_product.h"

#include <algorithm>
#include <cstring>

namespace assay::engine {

namespace {

/// Of the nodes.
constexpr size_t kLeftZero = 2, kRightZero = 3;

const UnalignedTensor* constant_zero_points(const Problem& p) {
  return p.input_count() > kRightZero && p.has_input(kRightZero) ? p.input_constant(kRightZero) : nullptr;
}

}  // namespace

std::string integer_refusal(const Problem& p, int64_t columns) {
  if (!is_byte(p.input_dtype(0))) return "the left operand is not of 8 bits";
  if (p.input_count() > kLeftZero && p.has_input(kLeftZero) &&
      (p.input_shape(kLeftZero) == nullptr || p.input_shape(kLeftZero)->numel() != 1))
    return "the left operand has several zero points";
  if (p.input_count() > kRightZero && p.has_input(kRightZero)) {
    const UnalignedTensor* const z = constant_zero_points(p);
    if (z == nullptr) return "the right operand's zero points are not constant";
    const bool by_column = z->shape().rank() == 1 || (z->shape().rank() == 2 && z->shape()[0] == 1);
    if (z->numel() != 1 && !(by_column && z->numel() == columns))
      return "the right operand's zero points are not one for each column";
  }
  if (p.region().sums_to_float.empty()) return {};
  return tile_epilogue_refusal(p, p.region().epilogue);
}

std::vector<int16_t> integer_numbers(const UnalignedTensor& levels, const UnalignedTensor* zero_points,
                                     int64_t inner) {
  const std::vector<int64_t> stored = levels.to_int64(), zeros = zero_points != nullptr
                                                                     ? zero_points->to_int64()
                                                                     : std::vector<int64_t>{0};
  std::vector<int16_t> numbers(stored.size());
  for (size_t i = 0; i < stored.size(); ++i)
    numbers[i] = static_cast<int16_t>(stored[i] - zeros[i / static_cast<size_t>(inner) % zeros.size()]);
  return numbers;
}

void write_integer(const Problem& p, Layout layout, int64_t inner, const std::string& packing,
                   std::function<Tensor(const std::vector<int16_t>& numbers)> pack, Candidate& b) {
  const UnalignedTensor& levels = *p.input_constant(1);
  const UnalignedTensor* const zeros = constant_zero_points(p);
  std::string how = packing + ", less";
  if (zeros != nullptr)
    for (const int64_t z : zeros->to_int64()) how += fmt::format(" {}", z);
  b.arithmetic = DType::kInt8;
  b.add_input(p.node().input(0), layout);
  b.add_constant(p.node().input(1)->name(), levels, how,
                 [=, pack = std::move(pack), zeros = zeros != nullptr ? *zeros : UnalignedTensor()] {
                   return pack(integer_numbers(levels, zeros.defined() ? &zeros : nullptr, inner));
                 });
  p.input_count() > kLeftZero&& p.has_input(kLeftZero) ? b.add_input(p.node().input(kLeftZero))
                                                       : b.skip_input();
  p.region().sums_addend != nullptr ? b.add_input(p.region().sums_addend) : b.skip_input();
  b.add_output(p.region().output(), layout);
  write_tile_epilogue(p, p.region().epilogue, layout, b);
}

}  // namespace assay::engine
