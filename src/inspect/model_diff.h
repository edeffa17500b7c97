// What differs between two models, whatever their nodes and values are called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/graph.h"

namespace assay {

struct ModelDifference {
  enum class Kind : uint8_t {
    kMetadata,     ///< versions, producer, names and doc strings of model and graph, metadata_props
    kOpset,        ///< an imported domain
    kInput,        ///< a graph input: its presence, name or type
    kOutput,       ///< a graph output: its presence, name, type or what computes it
    kNode,         ///< a node, or its operator
    kAttribute,    ///< an attribute of a node that both have
    kConnection,   ///< which value a node that both have takes
    kInitializer,  ///< a constant: its type, shape or elements
    kFunction,     ///< a local function
  };
  enum class Change : uint8_t { kRemoved, kAdded, kChanged };

  Kind kind;
  Change change;
  std::string what;           ///< such as `attribute 'axis' of node 'softmax' (Softmax)`
  std::string before, after;  ///< empty where there is nothing to say
  /// Of elements that differ: the largest absolute difference; infinity when a NaN or infinity stands against
  /// a number.
  std::optional<double> max_difference;
};

std::string_view name_of(ModelDifference::Kind kind);      ///< metadata, opset, ...
std::string_view name_of(ModelDifference::Change change);  ///< removed, added, changed

struct DiffOptions {
  /// Kinds that are left out.
  std::vector<ModelDifference::Kind> ignore;
};

struct ModelDiff {
  std::vector<ModelDifference> differences;
  int64_t nodes_a = 0, nodes_b = 0;  ///< subgraphs included
  int64_t matched = 0;               ///< nodes that both have
  int64_t renamed_nodes = 0;         ///< of these, under another name
  int64_t renamed_values = 0;

  bool is_same() const { return differences.empty(); }
};

/// Finds the nodes that both models have by what they compute (operators, attributes and weights up to the
/// inputs and down to the outputs), then by their neighbours and last by their names, and compares them with
/// all that belongs to them. Names of nodes and inner values, the order of nodes, declared types of inner
/// values and the number of copies of a constant make no difference. Of weights only samples are read to find
/// the nodes; each pair of constants is compared once, and memory is given back after that. Throws Error when
/// subgraphs nest deeper than kMaxGraphDepth.
ModelDiff diff_models(const Model& a, const Model& b, const DiffOptions& options = {});

/// Counts and a line per difference.
std::string diff_text(const ModelDiff& diff);
std::string diff_json(const ModelDiff& diff);

}  // namespace assay
