// Transformations of whole models, with a report: simplification with proof, and opset conversion, as `assay
// surgeon sanitize --simplify --prove` and `assay surgeon convert-opset` do.
//
//   const Simplified small = poly::simplify_model(load_model("m.onnx"), {.prove = true});
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/api.h"
#include "assay/fold.h"
#include "assay/graph.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {
namespace poly {

/// Options of a simplification.
struct SimplifySettings {
  FoldOptions fold = {};
  /// Infer shapes between rounds: most simplifications depend on them.
  bool infer = true;
  /// Keep doc strings and metadata of nodes and of the tensors between them.
  bool keep_node_metadata = false;
  /// Compare each edit, and the result, with the original in float64 and in the declared types.
  bool prove = false;
  /// Options of the proof: shapes of inputs with open extents (default:
  /// several sizes); data to use in place of generated ones; number of trials
  /// with generated data; seconds after which no further trial is begun.
  std::vector<std::pair<std::string, Dims>> shapes = {};
  std::vector<TensorList> data = {};
  int trials = 30;
  double seconds = 20;
};

/// A simplified model, with a report of the edits.
struct Simplified {
  /// An edit that the proof refused.
  struct Refused {
    std::string pass;
    std::string node;    ///< its label; empty for a pass over the whole model
    std::string reason;  ///< the counterexample
  };
  std::shared_ptr<Model> model;
  std::vector<std::pair<std::string, int64_t>> edits;  ///< by pass, in the order of first use
  int64_t folded_nodes = 0, flattened_ifs = 0, elided_casts = 0;
  bool is_proved = false;
  std::vector<Refused> refused;  ///< edits that were not applied
  int trials = 0;                ///< of the whole model
  int64_t proved_edits = 0;      ///< edits that were compared individually
};

/// A simplified copy. Results are the same up to rounding; inputs and outputs keep names and types. Throws
/// Error: kInternal when no edited model agrees with the original; kUnsupported when no trial could be done.
Simplified simplify_model(const std::shared_ptr<Model>& model, const SimplifySettings& settings = {});

/// A converted model, with a report of the changes.
struct Converted {
  std::shared_ptr<Model> model;
  int64_t from = 0;                ///< the original opset
  int64_t rewritten = 0;           ///< nodes whose form changed
  int64_t added = 0;               ///< nodes that were added in addition or as replacements
  std::vector<std::string> notes;  ///< the parts left unchanged, and those that could not be checked
};

/// A copy in another version of an operator set (domain "": ai.onnx). Throws
/// Error: kUnsupported naming every node that the version cannot express
/// and the nearest that can; kInvalidArgument for an unknown version.
Converted convert_model_opset(const std::shared_ptr<Model>& model, int64_t version,
                              const std::string& domain = "");

}  // namespace poly
}  // namespace assay
