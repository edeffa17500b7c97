// Is a node a legal use of its operator?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "ops/op_def.h"

namespace assay {

/// A rule of the schema that a node may break.
enum class NodeRule : uint8_t {
  kArity,
  kLeftOut,
  kUnknownAttribute,
  kAttributeType,
  kMissingAttribute,
  kInputType
};

struct NodeProblem {
  NodeRule rule;
  std::string message;
};

/// All problems that check_node() would report, in order. With a wrong number of inputs, their
/// types are not looked at.
std::vector<NodeProblem> find_node_problems(const Node& node, const OpDef& op, const OpVersion& version);

/// Checks arity, attribute names and kinds, and the element types of the inputs that are known, against the
/// schema. Throws Error (kInvalidModel) that names the rule; the caller adds the node.
void check_node(const Node& node, const OpDef& op, const OpVersion& version);

/// The part of check_node() that needs no types: arity, omitted inputs, attribute names and kinds. For nodes
/// without inferred types.
void check_form(const Node& node, const OpDef& op, const OpVersion& version);

/// A call of a local function gives no more inputs and takes no more outputs than the function has. Throws
/// Error (kInvalidModel); the caller adds the node.
void check_call(const Node& call, const Function& function);

/// For code that rewrites or computes nodes without evaluating all of them. Throws Error (kInvalidModel) for
/// the first node of the model, its bodies and local functions that has too few or too many inputs or
/// outputs, leaves out what its operator needs, or lacks an attribute or has one of another kind. Only where
/// the operator's schema is known for certain: not where another domain than ONNX's defines it, nor in opsets
/// newer than this build. Calls of local functions have check_call().
void check_forms(const Model& model);

/// A sentence on the first import, of the model or a local function, of a version that is newer than every
/// one this build knows (newest_opset), so that a node may mean something else than is computed; empty when
/// there is none.
std::string find_unknown_opset(const Model& model);
/// Throws Error (kUnsupported) with that sentence.
void check_opsets(const Model& model);

/// The gate before every evaluation. Checks the values that a node gets, as inference cannot where types are
/// unknown: as many as the schema says, none undefined where it is not optional, each of a type that the
/// schema allows, and of one type where the schema wants one. With `ideal`, every float is a float64 that may
/// stand for any. Throws Error (kInvalidModel) that names the input.
void check_values(const OpDef& op, const OpVersion& version, std::span<const Tensor> inputs, bool ideal);

}  // namespace assay
