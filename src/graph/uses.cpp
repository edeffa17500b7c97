#include "graph/uses.h"

#include <algorithm>

namespace assay {

void replace_inputs(Value& from, Value* to) {
  const std::vector<Node*> consumers = from.consumers();
  const Node* last = nullptr;  // one that uses the value many times is looked through once
  for (Node* n : consumers) {
    for (size_t i = 0; n != last && i < n->inputs().size(); ++i)
      if (n->input(i) == &from) n->set_input(i, to);
    last = n;
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
