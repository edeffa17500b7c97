// What QuantizeLinear and DequantizeLinear say about values.
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
  DType dtype = DType::kUInt8;  ///< of what is stored: uint8 or int8
};

/// Of a QuantizeLinear or DequantizeLinear of a whole float32 tensor with constant parameters; nothing for
/// others.
std::optional<Quantization> read_quantization(const Node& n);

/// How the value that a DequantizeLinear gives is stored in that node's input; nothing for other values.
std::optional<Quantization> quantization_of(const Value* v);

/// A constant as the model has it, behind a DequantizeLinear: real = (stored - zero_point) * scale, both of
/// them one number, or one for each index along `axis`.
struct QuantizedConstant {
  UnalignedTensor stored;  ///< uint8 or int8
  std::vector<float> scale;
  std::vector<int> zero_point;  ///< as many as there are scales
  size_t axis = 0;              ///< of no meaning where there is one scale

  float scale_at(int64_t i) const { return scale[scale.size() == 1 ? 0 : static_cast<size_t>(i)]; }
  int zero_point_at(int64_t i) const { return zero_point[scale.size() == 1 ? 0 : static_cast<size_t>(i)]; }
  /// The float32 numbers that it stands for.
  Tensor dequantized() const;
};

/// By the name of the value that the DequantizeLinear gives.
using QuantizedConstants = std::unordered_map<std::string, QuantizedConstant>;
/// Of the nodes of a graph, not of its bodies'. Folding leaves the values' names as they are.
QuantizedConstants find_quantized_constants(const Graph& g);

}  // namespace assay
