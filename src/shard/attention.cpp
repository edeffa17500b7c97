#include "shard/attention.h"

#include <unordered_set>

#include "assay/error.h"
#include "assay/pattern.h"

namespace assay {
namespace {

using Id = GraphPattern::TensorId;

void add_core(GraphPattern& p, Id q, Id k, Id v) {
  const Id scores = p.add("scores", "MatMul", {q, k})[0];
  const Id weights = p.add("softmax", "Softmax", {scores})[0];
  p.set_outputs(p.add("context", "MatMul", {weights, v}));
}

GraphPattern plain_pattern() {
  GraphPattern p;
  const Id q = p.variable(), k = p.variable(), v = p.variable();
  add_core(p, q, k, v);
  return p;
}

GraphPattern scaled_pattern() {
  GraphPattern p;
  const Id q = p.variable(), k = p.variable(), v = p.variable();
  const Id first = p.variable(), last = p.variable(), one = p.variable();
  const Id shape = p.add("shape", "Shape", {q})[0];
  Id x = p.add("slice", "Slice", {shape, first, last})[0];
  x = p.add("to_float", "Cast", {x})[0];
  x = p.add("root", "Sqrt", {x})[0];
  x = p.add("cast_root", "Cast", {x})[0];
  x = p.add("reciprocal", "Div", {one, x})[0];
  x = p.add("cast_scale", "Cast", {x})[0];
  const Id for_q = p.add("root_for_q", "Sqrt", {x})[0], for_k = p.add("root_for_k", "Sqrt", {x})[0];
  const Id scaled_q = p.add("scale_q", "Mul", {q, for_q})[0],
           scaled_k = p.add("scale_k", "Mul", {k, for_k})[0];
  add_core(p, scaled_q, scaled_k, v);
  return p;
}

}  // namespace

std::vector<AttentionMatch> find_attention(const Graph& graph, int pattern) {
  require(pattern >= 0 && pattern < kAttentionPatterns, ErrorCode::kInternal,
          "there is no attention pattern {}", pattern);
  std::vector<AttentionMatch> found;
  // Shape 1 uses q twice, and is found from both uses.
  std::unordered_set<const Node*> seen;
  for (const PatternMapping& m : (pattern == 0 ? plain_pattern() : scaled_pattern()).match_all(graph)) {
    if (!seen.insert(m.node("context")).second) continue;
    const auto& in = m.inputs();
    if (in[0] == nullptr || in[1] == nullptr || in[2] == nullptr) continue;
    found.push_back({.q = in[0],
                     .k = in[1],
                     .v = in[2],
                     .scores = m.node("scores"),
                     .softmax = m.node("softmax"),
                     .context = m.node("context")});
  }
  return found;
}

}  // namespace assay
