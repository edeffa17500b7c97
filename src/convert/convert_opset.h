// A model from one version of an operator set to another.
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
  /// Called for every node that the conversion adds in the place of, or beside, a node of the model.
  std::function<void(Node& added, const Node& original)> on_added;
};

/// A node that means something the wanted version cannot say.
struct ConvertProblem {
  std::string node;    ///< Node::label()
  std::string reason;  ///< the attribute, input, output or type without equivalent
  int64_t nearest;     ///< the version nearest to the wanted one that has it
  /// One sentence with all of that.
  std::string str(int64_t wanted) const;
};

struct ConvertReport {
  int64_t from = 0;
  int64_t rewritten = 0;  ///< nodes of the model whose form changed
  int64_t added = 0;      ///< nodes that came beside or in place of them
  int64_t old_ir_version = 0;
  std::vector<std::string> notes;        ///< what was left as it is, and what could not be checked
  std::vector<ConvertProblem> problems;  ///< not empty: the model is half converted and of no use
};

/// Rewrites every node of the domain, in subgraphs and local functions too, so that it means in the wanted
/// version what it meant, and sets the import and the IR version. Nodes of other domains, and operators that
/// this build does not know, stay as they are. Types of values stay as declared. Throws Error when the
/// version is out of range, the model does not import the domain, or a node breaks its operator's form
/// (check_forms()).
ConvertReport convert_opset(Model& model, const ConvertOptions& options);

/// The IR version that came with a version of a domain's operators. 0 for other domains.
int64_t ir_version_for(std::string_view domain, int64_t version);
/// The oldest IR version that can say everything in the model: functions, metadata, element types, overloads.
int64_t ir_version_of_features(const Model& model);
/// Nothing but the model's IR version changes. Throws Error (kInvalidArgument) for one that this build does
/// not write, and, naming what needs it, where the model needs a newer one.
void change_ir_version(Model& model, int64_t version);

}  // namespace assay
