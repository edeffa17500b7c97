// Models in 8 and 4 bits, for other runtimes and for engines, and what 8 bits cost layer by layer.
//
//   const Quantized made = poly::quantize_model(runtime, load_model("m.onnx"), {.data = {.source = images}});
//   save_model(*made.model, "m.int8.onnx");
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/graph.h"
#include "assay/run_settings.h"
#include "assay/runtime.h"

namespace ASSAY_API assay {
namespace poly {

struct QuantizeSettings {
  /// How an engine with these scales would be built: profiles, float_nodes, layer_types; the algorithm and
  /// the cache of scales.
  RunEngine engine = {};
  /// Data for the scales and for the accuracy. A source is copied for each reading.
  RunData data = {};
  /// Measure what each layer costs, which takes some hundred runs.
  bool measures_cost = false;
  /// How exact outputs must be on the data: 30dB (signal to noise), abs:0.001, rel:0.01. The layers that cost
  /// most stay in float32 for it. Empty: nothing is held back. Includes measures_cost.
  std::string accuracy = {};
  std::function<void(const std::string& what)> on_progress = {};
};

struct Quantized {
  /// With QuantizeLinear and DequantizeLinear, as Builder::quantized_network().
  std::shared_ptr<Model> model;
  std::string summary;  ///< one line: how many layers compute in 8 bits, and why others do not
  /// Where it was measured: as `assay convert --accuracy-report` writes it in JSON.
  std::string cost;
  std::string scales;  ///< where it was measured: the text of a cache of scales
};

/// The float32 model in 8 bits. Throws Error as Builder::quantized_network(), and (kInvalidArgument) for an
/// accuracy that is none, or that cannot be measured.
Quantized quantize_model(const Runtime& runtime, const std::shared_ptr<Model>& model,
                         const QuantizeSettings& settings);

/// A calibration over some of the sets of its data, those of the settings, the first of which has the
/// number `first`: JSON, for merge_calibration_parts(). `digest` identifies the model. Throws Error as
/// quantize_model().
std::string calibration_part(const Runtime& runtime, const std::shared_ptr<Model>& model,
                             const QuantizeSettings& settings, int64_t first, const std::string& digest);
/// Merges parts in any order and grouping (`runtime` receives warnings): to the text of a cache of scales,
/// the same as of one process over all `sets`; without them to a part again. Throws Error (kInvalidArgument)
/// for parts of other calibrations, for overlapping ones, and where sets are missing.
std::string merge_calibration_parts(const Runtime& runtime, const std::vector<std::string>& parts,
                                    std::optional<int64_t> sets = {});

struct WeightSettings {
  int64_t block = 32;  ///< weights that share a scale: a power of two from 16 to 4096
  /// False: a DequantizeLinear in blocks before the product, of opset 21. True: com.microsoft.MatMulNBits in
  /// its place, which engines run from the narrow weights.
  bool uses_matmul_nbits = false;
  std::vector<std::string> float_nodes = {};  ///< selectors of nodes that stay as they are
};

struct NarrowWeights {
  struct Kept {
    std::string node;  ///< its label
    std::string reason;
  };
  std::shared_ptr<Model> model;
  int64_t quantized = 0;   ///< products
  std::vector<Kept> kept;  ///< products with constant weights that stay as they are
};

/// A copy whose constant weights of MatMul and Gemm have 4 bits; everything is still computed in floating
/// point. Throws Error (kInvalidArgument) for a block that cannot be, (kNotFound) for a selector that fits no
/// node.
NarrowWeights quantize_weights(const std::shared_ptr<Model>& model, const WeightSettings& settings = {});

}  // namespace poly
}  // namespace assay
