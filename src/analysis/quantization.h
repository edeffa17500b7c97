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
/// scalars, or one per index along `axis`.
struct QuantizedConstant {
  UnalignedTensor stored;  ///< uint8 or int8
  std::vector<float> scale;
  std::vector<int> zero_point;  ///< as many as there are scales
  size_t axis = 0;              ///< meaningless for one scale

  float scale_at(int64_t i) const { return scale[scale.size() == 1 ? 0 : static_cast<size_t>(i)]; }
  int zero_point_at(int64_t i) const { return zero_point[scale.size() == 1 ? 0 : static_cast<size_t>(i)]; }
  /// The dequantized float32 values.
  Tensor dequantized() const;
};

/// By the name of the DequantizeLinear's output.
using QuantizedConstants = std::unordered_map<std::string, QuantizedConstant>;
/// Of the nodes of a graph, not of its bodies'. Folding leaves the values' names as they are.
QuantizedConstants find_quantized_constants(const Graph& g);

}  // namespace assay
