// Constant matrices behind a DequantizeLinear, as quantized values of 2, 4 or 8 bits in blocks: the form in
// which com.microsoft's MatMulNBits and GatherBlockQuantized read them.
#pragma once

#include <optional>

#include "assay/graph.h"

namespace assay {

/// One scale of a DequantizeLinear's matrix stands for the elements...
enum class ScaleForm : uint8_t {
  kRow,     ///< of a row, or of several: the number of blocks along a row is 1
  kBlock,   ///< of a block along a row
  kColumn,  ///< at one position of every row
};

/// How a matrix [rows, depth] can be stored; depth is what products add up, or a row that Gather takes.
struct NbitsForm {
  int64_t rows = 0, depth = 0;
  int bits = 0;
  int64_t block = 0;  ///< a power of two, at least 16; the last one may reach beyond a row
  ScaleForm scales = ScaleForm::kRow;
  bool is_transposed = false;  ///< the model holds it as [depth, rows]
  int64_t source_block = 0;    ///< elements of a row for one scale of the model; kBlock only
  bool has_zeros = false;      ///< zero points other than half of the range

  int64_t blocks() const { return (depth + block - 1) / block; }
  int64_t row_bytes() const { return blocks() * block * bits / 8; }
  int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }
};

/// Of a DequantizeLinear of constant integers of 2, 4 or 8 bits, a matrix that is stored as [rows, depth] or,
/// `is_transposed`, as [depth, rows]; its result has the type of its scales. Nothing for another form, such
/// as blocks across the rows, and those of which no power of two from 16 on is a divisor.
std::optional<NbitsForm> nbits_form(const Node& dequantize, bool is_transposed);

/// w[r, k] = (q[r, k] - zeros[r, block of k]) * scales[r, block of k] * factors[k].
struct NbitsMatrix {
  Tensor levels;   ///< q: uint8 [rows, bytes], low bits first
  Tensor scales;   ///< [rows, blocks], float32, float16 or bfloat16
  Tensor zeros;    ///< uint8 [rows, bytes]; undefined: half of the range
  Tensor factors;  ///< [depth], of the scales' type; undefined: 1
};

/// Of the DequantizeLinear that has the form.
NbitsMatrix nbits_matrix(const Node& dequantize, const NbitsForm& form);

/// True for a DequantizeLinear of a constant of at most 8 bits, of `kLeastPackedWeights` elements or more,
/// whose results only products of floating-point numbers read: it is evaluated in each run, since the
/// constant takes a fraction of the memory that its results would. Products of integers (of a quantized
/// left operand) have their own form of the constant.
bool stays_packed(const Node& dequantize);
inline constexpr int64_t kLeastPackedWeights = 4096;

/// True when an operand of a product is quantized and this DequantizeLinear gives the weights as integers
/// that go with it.
bool is_integer_product(const Node& product, const Node& dequantize);

}  // namespace assay
