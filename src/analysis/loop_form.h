// Loop and Scan, and the positions of the values that they carry between iterations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// A Loop, or a Scan without batch (opset 9 on), whose body has the inputs and outputs that it needs.
struct LoopForm {
  Node* node = nullptr;
  Graph* body = nullptr;
  size_t states = 0;       ///< values that are carried
  size_t leading_inputs;   ///< of the node and the body before the states: 2 of a Loop, 0 of a Scan
  size_t leading_outputs;  ///< of the body before the states: the condition of a Loop

  bool is_loop() const { return leading_inputs > 0; }
  Value* initial(size_t i) const { return node->input(leading_inputs + i); }
  Value* inside(size_t i) const { return body->inputs[leading_inputs + i]; }
  Value* next(size_t i) const { return body->outputs[leading_outputs + i]; }
  Value* final(size_t i) const { return node->output(i); }
};

/// Nothing for other nodes, and for those that violate a rule of Loop and Scan.
std::optional<LoopForm> loop_form(Node& n, int64_t opset);
/// Those of the main graph and of all bodies in it, outer ones first.
std::vector<LoopForm> loops_of(const Model& model);
/// True when the body certainly runs at least once in each run of the node.
bool surely_runs(const LoopForm& loop, int64_t ir_version);

/// Removes a state from the node and the body. Its final value then has no producer, and its inner value is
/// read as before.
void remove_state(LoopForm& loop, size_t i);

/// The source of the value through Identity nodes of its graph.
const Value* through_identities(const Value* v);
/// True when the graph, or a subgraph, returns the value as an output.
bool is_given_out(const Graph& g, const Value* v);
/// Replaces uses of `from` by `to`, a value of an enclosing graph:
/// inputs of nodes, and through an Identity outputs of `from`'s graph
/// and its subgraphs. Inner values that shadow `to` are renamed.
void capture_instead(Value& from, Value* to);

}  // namespace assay
