// Converts a model from one version of an operator set to another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

struct ConvertOptions {
  std::string domain;  ///< "" for ai.onnx
  int64_t version = 0;
  /// Called for every node that the conversion adds in place of, or in addition to, a node of the model.
  std::function<void(Node& added, const Node& original)> on_added;
};

/// A node that the requested version cannot express.
struct ConvertProblem {
  std::string node;    ///< Node::label()
  std::string reason;  ///< the attribute, input, output or type without equivalent
  int64_t nearest;     ///< the version nearest to the requested one that has it
  /// One sentence with all of that.
  std::string str(int64_t wanted) const;
};

struct ConvertReport {
  int64_t from = 0;
  int64_t rewritten = 0;  ///< nodes of the model whose form changed
  int64_t added = 0;      ///< nodes added in addition or as replacements
  int64_t old_ir_version = 0;
  std::vector<std::string> notes;        ///< the parts left unchanged, and those that could not be checked
  std::vector<ConvertProblem> problems;  ///< not empty: the model is half converted and unusable
};

/// Rewrites every node of the domain, in subgraphs and local functions too, so that it has the same meaning
/// in the requested version, and sets the import and the IR version. Nodes of other domains, and unknown
/// operators, are unchanged. Types of values stay as declared. Throws Error when the
/// version is out of range, the model does not import the domain, or a node violates its operator's form
/// (check_forms()).
ConvertReport convert_opset(Model& model, const ConvertOptions& options);

/// The IR version released with a version of a domain's operators. 0 for other domains.
int64_t ir_version_for(std::string_view domain, int64_t version);
/// The oldest IR version that can represent the model: functions, metadata, element types, overloads.
int64_t ir_version_of_features(const Model& model);
/// Changes only the model's IR version. Throws Error (kInvalidArgument) for one that this build does not
/// write, and, naming the reason, if the model needs a newer one.
void change_ir_version(Model& model, int64_t version);

}  // namespace assay
