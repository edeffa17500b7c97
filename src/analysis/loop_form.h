// Loop and Scan, and where the values are that they carry from one iteration to the next.
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

/// Nothing for other nodes, and for those that break a rule of Loop and Scan.
std::optional<LoopForm> loop_form(Node& n, int64_t opset);
/// Those of the main graph and of all bodies in it, outer ones first.
std::vector<LoopForm> loops_of(const Model& model);
/// Whether the body surely runs at least once in each run of the node.
bool surely_runs(const LoopForm& loop, int64_t ir_version);

/// Takes a state's places away, in the node and in the body. What its final value was has no producer then,
/// and what it was inside is read as before.
void remove_state(LoopForm& loop, size_t i);

/// What the value is through Identity nodes of its graph.
const Value* through_identities(const Value* v);
/// Whether the graph, or one inside it, gives the value as an output.
bool is_given_out(const Graph& g, const Value* v);
/// What reads `from` reads `to`, which is a value of a graph around `from`'s: nodes as inputs, and outputs of
/// `from`'s graph and of those in it through an Identity. Values inside that hide `to` by its name get
/// others.
void capture_instead(Value& from, Value* to);

}  // namespace assay
