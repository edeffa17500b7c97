// Copies of graphs and models, to be edited independently of the original.
#pragma once

#include <memory>

#include "assay/edit.h"

namespace assay {

/// A copy of one value in another graph: name, type, constant data (shared), metadata. Throws Error when the
/// name is taken there.
Value* clone_value(const Value& v, Graph& into);
/// The same under another name.
Value* clone_value(const Value& v, Graph& into, std::string name);

/// A copy of one node at the end of another graph, subgraphs included. Its inputs and outputs are looked up
/// in `map`; values that the map does not have are copied into the graph and added to it.
Node* clone_node(const Node& n, Graph& into, ValueMap& map);

/// A copy of a graph, to be an attribute in `parent`. Values from outside are looked up in `map`, which must
/// have them all.
std::shared_ptr<Graph> clone_graph(const Graph& g, Graph* parent, ValueMap& map);

Function clone_function(const Function& f);

/// Copies a model's properties except its graph and functions.
void clone_header(const Model& from, Model& to);

/// An empty model with the same semantics of nodes as in a body with these `opsets`: the model's own graph,
/// or a function's.
Model scope_of(const Model& model, const std::vector<OpsetImport>& opsets);

/// The whole model. Tensor data are shared with the original. Throws Error when subgraphs nest deeper than
/// onnx::kMaxGraphDepth.
std::shared_ptr<Model> clone_model(const Model& model);

}  // namespace assay
