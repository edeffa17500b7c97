// Quantization of values by QuantizeLinear and DequantizeLinear.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// real = (stored - zero_point) * scale, for a whole tensor.
struct Quantization {
  float scale = 1;
  int zero_point = 0;
  DType dtype = DType::kUInt8;  ///< of the stored values: uint8 or int8
};

/// Of a QuantizeLinear or DequantizeLinear of a whole float32 tensor with constant parameters; nothing for
/// others.
std::optional<Quantization> read_quantization(const Node& n);

/// The quantization of a DequantizeLinear's output, as stored in its input; nothing for other values.
std::optional<Quantization> quantization_of(const Value* v);

/// A constant of the model, the input of a DequantizeLinear: real = (stored - zero_point) * scale, both
/// scalars, one per index along `axis`, or one per block along it.
struct QuantizedConstant {
  UnalignedTensor stored;  ///< integers of 2, 4 or 8 bits
  std::vector<float> scale;
  std::vector<int> zero_point;  ///< as many as there are scales
  size_t axis = 0;              ///< meaningless for one scale
  int64_t block = 0;            ///< elements along the axis that share a scale; 0: those of an index do

  bool is_of_bytes() const { return bit_width(stored.dtype()) == 8; }
  float scale_at(int64_t i) const { return scale[scale.size() == 1 ? 0 : static_cast<size_t>(i)]; }
  int zero_point_at(int64_t i) const { return zero_point[scale.size() == 1 ? 0 : static_cast<size_t>(i)]; }
  /// The scale of an element, by their numbers.
  size_t scale_of(int64_t element) const;
  /// The dequantized float32 values.
  Tensor dequantized() const;
};

/// Of a DequantizeLinear with constant operands and a float32 result; nothing for others.
std::optional<QuantizedConstant> quantized_constant(const Node& dequantize);

/// By the name of the DequantizeLinear's output.
using QuantizedConstants = std::unordered_map<std::string, QuantizedConstant>;
/// Of the nodes of a graph, not of its bodies'. Folding leaves the values' names as they are.
QuantizedConstants find_quantized_constants(const Graph& g);

}  // namespace assay
