// A network each of whose products can be computed in float32 or in 8 bits, for studying what that costs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/builder.h"
#include "transform/quantize.h"

namespace assay {

/// A product that is quantized.
struct SwitchedLayer {
  std::string name;  ///< of its ONNX node
  std::string op_type;
  float scale = 0;            ///< of one level of its input
  int64_t multiply_adds = 0;  ///< 0: they depend on open extents
  /// Positions of outputs of the probed network: its input, its exact result, what 8 bits make of that input.
  size_t input = 0, exact = 0, lowered = 0;
};

struct SwitchedNetwork {
  std::vector<SwitchedLayer> layers;  ///< in the order of the graph
  /// The network with a boolean input more for each layer, behind its own: true computes it in 8 bits.
  std::shared_ptr<Model> switched;
  /// The network in float32, with the layers' inputs and results as outputs.
  std::shared_ptr<Model> probed;
  std::shared_ptr<const QuantizeOptions> quantization;
};

/// Of the products that a build with this config quantizes. Calibrates as the build does. Throws Error as
/// Builder::quantized_network(), and (kInvalidArgument) where no product is quantized.
SwitchedNetwork switch_layers(const Runtime& runtime, const std::shared_ptr<const Model>& network,
                              const BuilderConfig& config);

}  // namespace assay
