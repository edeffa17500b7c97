// Converts a float32 network to one with QuantizeLinear and DequantizeLinear, by scales from calibration.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// The first opset in which these operators have scales along an axis.
inline constexpr int64_t kQuantizedOpset = 13;

struct QuantizeOptions {
  /// The scale by the name of the tensor; 0: the tensor stays in float32.
  std::map<std::string, float> scales;
  /// Names of ONNX nodes that stay in float32.
  std::set<std::string> float_nodes;
  /// Inputs are int8 with a zero point of 0.
  bool symmetric = false;
};

/// The outcome for products with constant weights.
struct QuantizeReport {
  int64_t quantized = 0;
  /// Tensors read by other products, and missing in `scales`; each once, in node order.
  std::vector<std::string> without_scale;
  /// Nodes that stay in float32 for other reasons.
  struct Kept {
    std::string node;  ///< Node::label()
    std::string reason;
  };
  std::vector<Kept> kept;
};

/// Inserts the two operators before the first input of every Conv, Gemm and MatMul of the main graph with
/// constant weights, and stores the weights as integers before a DequantizeLinear: symmetric, -127 to 127,
/// one scale for each channel of the result. Inputs are uint8 around 128, or, where they do not go far
/// below zero (value_range.h), between their least number and the limit. Values between such products that
/// only they read are kept in 8 bits as well (kept_values.h). Everything else stays float32, including bias.
/// Throws Error (kInvalidArgument) for a model below kQuantizedOpset.
QuantizeReport quantize(Model& model, const QuantizeOptions& options);

}  // namespace assay
