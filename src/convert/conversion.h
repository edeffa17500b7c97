// What a conversion to another version is asked for, and what comes of it.
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
  int64_t added = 0;      ///< nodes added in place of them or in addition
  int64_t old_ir_version = 0;
  std::vector<std::string> notes;        ///< parts left as they are, or that could not be checked
  std::vector<ConvertProblem> problems;  ///< not empty: the model is half converted and of no use
};

}  // namespace assay
