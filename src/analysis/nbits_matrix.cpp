#include "analysis/nbits_matrix.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "analysis/quantization.h"
#include "base/parallel.h"
#include "tensor/packed_bits.h"

namespace assay {
namespace {

constexpr int64_t kLeastBlock = 16, kMostBlock = 4096;

bool has_constant_operands(const Node& n) {
  if (!is_op(n, "DequantizeLinear") || n.inputs().size() < 2 || n.outputs().size() != 1) return false;
  return n.output(0) != nullptr && data_of(n.input(0)) != nullptr && data_of(n.input(1)) != nullptr &&
         (n.input(2) == nullptr || data_of(n.input(2)) != nullptr);
}

bool is_real(DType t) { return t == DType::kFloat32 || t == DType::kFloat16 || t == DType::kBFloat16; }

/// Elements as unsigned numbers, one in each byte: those of a signed type less its least number.
std::vector<uint8_t> levels_of(const UnalignedTensor& t) {
  const int bits = bit_width(t.dtype());
  std::vector<uint8_t> levels(static_cast<size_t>(t.numel()));
  const auto* const bytes = static_cast<const uint8_t*>(t.data());
  if (bits == 8)
    std::copy_n(bytes, levels.size(), levels.begin());
  else
    unpack_bits(bytes, 0, bits, levels);
  if (is_signed_integer(t.dtype()))
    for (uint8_t& level : levels) level = static_cast<uint8_t>(level ^ (1U << (bits - 1)));
  return levels;
}

/// The level that stands for 0 where there is no zero point.
uint8_t default_zero(DType t) {
  return is_signed_integer(t) ? static_cast<uint8_t>(1U << (bit_width(t) - 1)) : uint8_t{0};
}

bool all_equal(const std::vector<uint8_t>& levels) {
  return std::adjacent_find(levels.begin(), levels.end(), std::not_equal_to<>()) == levels.end();
}

/// A zero point for each scale, or one for all.
std::vector<uint8_t> zeros_of(const Node& n) {
  const UnalignedTensor* zero = data_of(n.input(2));
  return zero == nullptr ? std::vector<uint8_t>{default_zero(data_of(n.input(0))->dtype())}
                         : levels_of(*zero);
}

/// The blocks that cost least memory where a row has one scale: one for the row, unless too much of it would
/// be padding.
int64_t cheapest_block(const NbitsForm& form) {
  int64_t best = kLeastBlock, least = std::numeric_limits<int64_t>::max();
  for (int64_t block = kLeastBlock; block <= kMostBlock; block *= 2) {
    NbitsForm f = form;
    f.block = block;
    const int64_t bytes =
        f.row_bytes() + f.blocks() * static_cast<int64_t>(sizeof(float)) + (f.has_zeros ? f.zero_bytes() : 0);
    if (bytes <= least) best = block, least = bytes;
  }
  return best;
}

/// Reads the form of the scales; false where they cannot be those of blocks along the rows.
bool read_scales(const Node& n, NbitsForm& form) {
  const UnalignedTensor &scale = *data_of(n.input(1)), *zero = data_of(n.input(2));
  if (zero != nullptr && zero->shape() != scale.shape() && !(zero->numel() == 1 && scale.numel() == 1))
    return false;
  if (scale.numel() == 1 && scale.rank() <= 1) return true;
  int64_t axis = int_attribute(n, "axis", 1);
  axis += axis < 0 ? 2 : 0;
  const int64_t depth_axis = form.is_transposed ? 0 : 1, block = int_attribute(n, "block_size", 0);
  if (axis < 0 || axis > 1 || block < 0) return false;
  if (block == 0) {
    form.scales = axis == depth_axis ? ScaleForm::kColumn : ScaleForm::kRow;
    return scale.shape() == Shape{axis == depth_axis ? form.depth : form.rows};
  }
  const int64_t blocks = (form.depth + block - 1) / block;
  if (axis != depth_axis ||
      scale.shape() != (form.is_transposed ? Shape{blocks, form.rows} : Shape{form.rows, blocks}))
    return false;
  form.scales = blocks == 1 ? ScaleForm::kRow : ScaleForm::kBlock;
  form.source_block = block;
  return true;
}

/// A value for each scale of the model, found by row and position in the row.
struct ScaleIndex {
  const NbitsForm& form;
  int64_t count;

  int64_t of(int64_t row, int64_t k) const {
    if (count == 1) return 0;
    if (form.scales == ScaleForm::kRow) return row;
    const int64_t block = k / form.source_block,
                  blocks = (form.depth + form.source_block - 1) / form.source_block;
    return form.is_transposed ? block * form.rows + row : row * blocks + block;
  }
};

/// Elements of a scale tensor, of 2 or 4 bytes, in another order.
template <typename Index>
Tensor picked(const UnalignedTensor& from, const Shape& shape, Index index) {
  const Tensor source = from.aligned();
  Tensor to = Tensor::allocate(source.dtype(), shape);
  const size_t width = storage_bytes(source.dtype(), 1);
  auto* out = static_cast<char*>(to.mutable_data());
  const auto* in = static_cast<const char*>(source.data());
  for (int64_t i = 0; i < shape.numel(); ++i)
    std::copy_n(in + static_cast<size_t>(index(i)) * width, width, out + static_cast<size_t>(i) * width);
  return to;
}

Tensor ones(DType type, const Shape& shape) {
  Tensor t = Tensor::allocate(type, shape);
  const uint16_t half = type == DType::kFloat16 ? 0x3c00 : 0x3f80;
  if (type == DType::kFloat32)
    std::fill_n(t.mutable_data<float>(), t.numel(), 1.0F);
  else
    std::fill_n(static_cast<uint16_t*>(t.mutable_data()), t.numel(), half);
  return t;
}

/// Rows of quantized values, each padded with zeros to whole blocks.
Tensor packed_rows(const std::vector<uint8_t>& levels, const NbitsForm& form) {
  Tensor packed = Tensor::zeros(DType::kUInt8, {form.rows, form.row_bytes()});
  uint8_t* const to = packed.mutable_data<uint8_t>();
  const int each = 8 / form.bits;
  // In transposed matrices this many rows share lines of the cache.
  constexpr int64_t kRows = 64;
  parallel_for((form.rows + kRows - 1) / kRows, 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first * kRows; row < std::min(last * kRows, form.rows); row += kRows) {
      const int64_t count = std::min(kRows, form.rows - row);
      for (int64_t k = 0; k < form.depth; ++k)
        for (int64_t r = row; r < row + count; ++r) {
          const int64_t at = form.is_transposed ? k * form.rows + r : r * form.depth + k;
          to[r * form.row_bytes() + k / each] =
              static_cast<uint8_t>(to[r * form.row_bytes() + k / each] | levels[static_cast<size_t>(at)]
                                                                             << (k % each * form.bits));
        }
    }
  });
  return packed;
}

Tensor packed_zeros(const std::vector<uint8_t>& zeros, const NbitsForm& form) {
  Tensor packed = Tensor::zeros(DType::kUInt8, {form.rows, form.zero_bytes()});
  auto* const to = packed.mutable_data<uint8_t>();
  const ScaleIndex index{form, static_cast<int64_t>(zeros.size())};
  const int each = 8 / form.bits;
  for (int64_t r = 0; r < form.rows; ++r)
    for (int64_t b = 0; b < form.blocks(); ++b) {
      const int64_t at = form.scales == ScaleForm::kColumn ? 0 : index.of(r, b * form.block);
      uint8_t& byte = to[r * form.zero_bytes() + b / each];
      byte = static_cast<uint8_t>(byte | zeros[static_cast<size_t>(at)] << (b % each * form.bits));
    }
  return packed;
}

/// Whether a product may read the weights in another form.
bool is_float_product(const Node& user, const Value* weights) {
  if (is_held_in_floats(user)) return false;
  if (is_op(user, "MatMul")) return true;
  return is_op(user, "Gemm") && user.input(0) != weights && user.input(2) != weights &&
         float_attribute(user, "alpha", 1) == 1;
}

}  // namespace

std::optional<NbitsForm> nbits_form(const Node& n, bool is_transposed) {
  if (!has_constant_operands(n)) return std::nullopt;
  const UnalignedTensor &x = *data_of(n.input(0)), &scale = *data_of(n.input(1));
  NbitsForm form{.bits = bit_width(x.dtype()), .is_transposed = is_transposed};
  if (!is_integer(x.dtype()) || (form.bits != 2 && form.bits != 4 && form.bits != 8)) return std::nullopt;
  if (x.rank() != 2 || x.numel() == 0 || !is_real(scale.dtype()) || dtype_of(n.output(0)) != scale.dtype())
    return std::nullopt;
  form.rows = x.dim(is_transposed ? 1 : 0);
  form.depth = x.dim(is_transposed ? 0 : 1);
  if (!read_scales(n, form)) return std::nullopt;
  const std::vector<uint8_t> zeros = zeros_of(n);
  if (form.scales == ScaleForm::kColumn && !all_equal(zeros)) return std::nullopt;
  form.has_zeros = !all_equal(zeros) || zeros[0] != 1U << (form.bits - 1);
  if (form.scales == ScaleForm::kBlock) {
    form.block = std::min(kMostBlock, form.source_block & -form.source_block);
    if (form.block < kLeastBlock) return std::nullopt;
  } else {
    form.block = cheapest_block(form);
  }
  return form;
}

NbitsMatrix nbits_matrix(const Node& n, const NbitsForm& form) {
  const UnalignedTensor& scale = *data_of(n.input(1));
  NbitsMatrix m;
  m.levels = packed_rows(levels_of(*data_of(n.input(0))), form);
  const Shape shape = {form.rows, form.blocks()};
  if (form.scales == ScaleForm::kColumn) {
    m.scales = ones(scale.dtype(), shape);
    m.factors = scale.aligned();
  } else {
    const ScaleIndex index{form, scale.numel()};
    m.scales = picked(scale, shape,
                      [&](int64_t i) { return index.of(i / form.blocks(), i % form.blocks() * form.block); });
  }
  if (form.has_zeros) m.zeros = packed_zeros(zeros_of(n), form);
  return m;
}

bool is_integer_product(const Node& product, const Node& dequantize) {
  if (int_attribute(dequantize, "block_size", 0) != 0) return false;
  const UnalignedTensor* x = data_of(dequantize.input(0));
  if (x == nullptr || (x->dtype() != DType::kUInt8 && x->dtype() != DType::kInt8)) return false;
  return std::any_of(product.inputs().begin(), product.inputs().end(), [&](const Value* v) {
    return v != nullptr && v->producer() != &dequantize && quantization_of(v).has_value();
  });
}

bool stays_packed(const Node& n) {
  if (!has_constant_operands(n)) return false;
  const UnalignedTensor& x = *data_of(n.input(0));
  const Value* given = n.output(0);
  if (bit_width(x.dtype()) > 8 || x.numel() < kLeastPackedWeights || given->consumers().empty()) return false;
  return std::all_of(given->consumers().begin(), given->consumers().end(), [&](const Node* user) {
    return is_float_product(*user, given) && !is_integer_product(*user, n);
  });
}

}  // namespace assay
