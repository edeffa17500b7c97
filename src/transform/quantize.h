// A float32 network becomes one with QuantizeLinear and DequantizeLinear, by scales that calibration found.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// The first opset whose two operators have scales along an axis.
inline constexpr int64_t kQuantizedOpset = 13;

struct QuantizeOptions {
  /// One step of 8 bits by the name of the tensor; 0: the tensor stays in float32.
  std::map<std::string, float> scales;
  /// Names of ONNX nodes that stay in float32.
  std::set<std::string> float_nodes;
};

/// What became of the products whose weights are constant.
struct QuantizeReport {
  int64_t quantized = 0;
  /// Tensors that other products read, and that `scales` does not have; each once, in node order.
  std::vector<std::string> without_scale;
  /// Nodes that stay in float32 for other reasons.
  struct Kept {
    std::string node;  ///< Node::label()
    std::string reason;
  };
  std::vector<Kept> kept;
};

/// Puts the two operators before the first input of every Conv, Gemm and MatMul of the main graph with
/// constant weights, and stores the weights as integers behind a DequantizeLinear: symmetric, -127 to 127,
/// one scale for each channel of the result. What else the network computes stays float32, bias and sums
/// included. Throws Error (kInvalidArgument) for a model below kQuantizedOpset.
QuantizeReport quantize(Model& model, const QuantizeOptions& options);

}  // namespace assay
