// Work on whole models that reports what it did: simplifying, with proof, and other opsets. As `assay surgeon
// sanitize --simplify --prove` and `assay surgeon convert-opset` do it.
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

/// What a simplification may do.
struct SimplifySettings {
  FoldOptions fold = {};
  /// Infer shapes between rounds: most of what is proven rests on them.
  bool infer = true;
  /// Keep doc strings and metadata of nodes and of the tensors between them.
  bool keep_node_metadata = false;
  /// Compare each edit, and the result, with the original in float64 and in the declared types.
  bool prove = false;
  /// Of the proof. Shapes of inputs with open extents, which are else tried with several sizes; data that the
  /// trials take in the place of generated ones; trials with generated data; seconds after which no further
  /// trial is begun.
  std::vector<std::pair<std::string, Dims>> shapes = {};
  std::vector<TensorList> data = {};
  int trials = 30;
  double seconds = 20;
};

/// A model that was simplified, and what was done to it.
struct Simplified {
  /// An edit that the proof refused.
  struct Refused {
    std::string pass;
    std::string node;    ///< its label; empty for a pass over the whole model
    std::string reason;  ///< the counterexample
  };
  std::shared_ptr<Model> model;
  std::vector<std::pair<std::string, int64_t>> edits;  ///< by pass, in the order of their first one
  int64_t folded_nodes = 0, flattened_ifs = 0, elided_casts = 0;
  bool is_proved = false;
  std::vector<Refused> refused;  ///< edits that are left out of the model
  int trials = 0;                ///< of the whole model
  int64_t proved_edits = 0;      ///< that were compared by themselves
};

/// A simplified copy. Results are the same up to rounding; inputs and outputs keep names and types. Throws
/// Error: kInternal when no edited model agrees with the original; kUnsupported when no trial could be done.
Simplified simplify_model(const std::shared_ptr<Model>& model, const SimplifySettings& settings = {});

/// A model in another opset, and what was done to it.
struct Converted {
  std::shared_ptr<Model> model;
  int64_t from = 0;                ///< the opset that it had
  int64_t rewritten = 0;           ///< nodes whose form changed
  int64_t added = 0;               ///< nodes that came beside or in place of them
  std::vector<std::string> notes;  ///< what was left as it is, and what could not be checked
};

/// A copy in another version of an operator set (domain "": ai.onnx). Throws Error: kUnsupported naming every
/// node that the version cannot say and the nearest that can; kInvalidArgument for a version that there is
/// not.
Converted convert_model_opset(const std::shared_ptr<Model>& model, int64_t version,
                              const std::string& domain = "");

}  // namespace poly
}  // namespace assay
