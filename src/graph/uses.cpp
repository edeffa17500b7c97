#include "graph/uses.h"

#include <algorithm>

namespace assay {
namespace {

/// Position of the last value found among the inputs of a node.
/// Passes replace inputs of a node with very many of them in
/// order: searching each from the beginning would be quadratic.
struct Finding {
  const Node* node = nullptr;
  size_t next = 0;
};
thread_local Finding last_finding;

}  // namespace

void replace_inputs(Value& from, Value* to) {
  const std::vector<Node*> consumers = from.consumers();
  for (size_t c = 0; c < consumers.size();) {
    Node* n = consumers[c];
    size_t uses = 0;
    for (; c < consumers.size() && consumers[c] == n; ++c) ++uses;
    const size_t count = n->inputs().size();
    size_t at = last_finding.node == n && last_finding.next < count ? last_finding.next : 0;
    // Once around at most.
    for (size_t seen = 0; seen < count && uses > 0; ++seen, at = at + 1 < count ? at + 1 : 0)
      if (n->input(at) == &from) {
        n->set_input(at, to);
        --uses;
        last_finding = {n, at + 1};
      }
  }
}

bool OutputIndex::contains(const Value& v) {
  constexpr size_t kFew = 16;
  const std::vector<Value*>& outputs = v.graph().outputs;
  if (outputs.size() <= kFew) return std::find(outputs.begin(), outputs.end(), &v) != outputs.end();
  Outputs& known = many_[&v.graph()];
  if (known.count != outputs.size()) known = {outputs.size(), {outputs.begin(), outputs.end()}};
  return known.set.contains(&v);
}

}  // namespace assay
