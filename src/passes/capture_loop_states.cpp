// A state of Loop or Scan that the body returns unchanged (weights, as tf2onnx writes them) is
// taken from around the loop instead: as a constant where it is one, which can be folded and packed.
#include "analysis/loop_form.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_capture_loop_states {
namespace {

/// The opsets from which on a Loop needs no state, and Identity takes values of any type.
constexpr int64_t kLoopWithoutStates = 11, kIdentityOfAll = 16;

bool agrees(const Type& a, const Type& b) {
  if (a.kind == Type::Kind::kUnknown || b.kind == Type::Kind::kUnknown) return true;
  return a.kind == b.kind &&
         (a.dtype == b.dtype || a.dtype == DType::kUndefined || b.dtype == DType::kUndefined);
}

bool is_used(const Graph& g, const Value* v) { return !v->consumers().empty() || is_given_out(g, v); }

/// Takes the nodes away that only handed the state through.
void remove_unread_identities(Graph& body, const Value* v) {
  while (v->producer() != nullptr && !is_used(body, v)) {
    Node* n = v->producer();
    v = n->input(0);
    body.remove_node(n);
  }
}

bool capture(LoopForm& loop, size_t i, int64_t opset) {
  Value *outer = loop.initial(i), *inside = loop.inside(i), *next = loop.next(i);
  if (outer == nullptr || through_identities(next) != inside || !agrees(outer->type, inside->type))
    return false;
  if (loop.final(i) != nullptr && !outer->type.is_tensor() && opset < kIdentityOfAll) return false;
  const bool removable =
      loop.node->outputs().size() > 1 && (!loop.is_loop() || opset >= kLoopWithoutStates || loop.states > 1);
  if (!removable) return false;
  Value* final = loop.final(i);
  remove_state(loop, i);
  // What is there in the end is what was there first.
  if (final != nullptr)
    loop.node->graph().insert_node(loop.node, "Identity", {outer}, {final}, {}, loop.node->name);
  remove_unread_identities(*loop.body, next);
  capture_instead(*inside, outer);
  loop.body->remove_unused_values();
  return true;
}

bool run(Model& model) {
  bool changed = false;
  for (LoopForm& loop : loops_of(model))
    for (size_t i = loop.states; i-- > 0;) changed = capture(loop, i, model.opset()) || changed;
  return changed;
}

}  // namespace

constinit const PassDef def = {
    .name = "capture_loop_states",
    .summary = "what a loop carries unchanged is taken from around it",
    .conditions =
        "The body gives the state back as it came, through Identity at most, and initial value and state "
        "agree in their type. The loop keeps at least one output; a Loop without states needs opset 11, the "
        "Identity of a sequence or an optional opset 16.",
    .run = run,
};

}  // namespace assay::pass_capture_loop_states
