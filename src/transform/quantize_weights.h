// Stores the weights of matrix products in 4 bits; everything is still computed in floating point.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "assay/graph.h"
#include "transform/quantize.h"

namespace assay {

/// How a network says it.
enum class WeightFormat : uint8_t {
  kDequantizeLinear,  ///< a DequantizeLinear of int4 in blocks before the product, from opset 21 on
  kMatMulNBits,       ///< com.microsoft.MatMulNBits in place of the product
};

struct WeightQuantizeOptions {
  static constexpr int64_t kDefaultBlock = 32, kLeastBlock = 16, kMostBlock = 4096;

  WeightFormat format = WeightFormat::kDequantizeLinear;
  /// So many weights that are added up in a row share a scale: a power of two. Fewer where it does not divide
  /// the depth of a matrix and a smaller one, from kLeastBlock on, does.
  int64_t block = kDefaultBlock;
  /// The left operands of products may be rounded to 8 bits, block by block; kMatMulNBits only.
  bool rounds_rows = false;
  /// kMatMulNBits: an embedding that shares the matrix of a product becomes a GatherBlockQuantized of the
  /// same constant. The engine's has the shape of both; ONNX Runtime's has one for each of the two.
  bool shares_embeddings = false;
  /// Names of ONNX nodes that stay as they are.
  std::set<std::string> float_nodes;
};

/// Rounds the weights of every MatMul and Gemm of the main graph with constant weights to 4 bits, -8 to 7
/// times the scale of their block, which is the one of a few that errs least. Both formats hold the same
/// numbers. A matrix may be read through a Transpose. A Gather of its rows, an embedding that shares the
/// matrix, reads what is stored, too, if blocks divide the rows: always with kDequantizeLinear. A model below
/// the opset that the format needs is converted to it. The report's `kept` has the products with constant
/// weights that stay as they are. Throws Error (kInvalidArgument) for a block that is no power of two from
/// kLeastBlock to kMostBlock; as raise_opset().
QuantizeReport quantize_weights(Model& model, const WeightQuantizeOptions& options);

}  // namespace assay
