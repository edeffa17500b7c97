#include "graph/input_replacer.h"

#include <algorithm>

namespace assay {
namespace {

/// Calls visit(node, uses) for each node that reads a value, with the number of uses.
template <typename Visit>
void each_consumer(const Value& v, const Visit& visit) {
  const std::vector<Node*> consumers = v.consumers();
  std::unordered_map<Node*, size_t> counts;
  std::vector<Node*> order;
  for (Node* n : consumers)
    if (counts[n]++ == 0) order.push_back(n);
  for (Node* n : order) visit(*n, counts[n]);
}

void replace_in(Node& n, Value& from, Value* to) {
  for (size_t i = 0; i < n.inputs().size(); ++i)
    if (n.input(i) == &from) n.set_input(i, to);
}

}  // namespace

void InputReplacer::replace(Value& from, Value* to) {
  constexpr size_t kFew = 64;
  each_consumer(from, [&](Node& n, size_t uses) {
    if (n.inputs().size() <= kFew)
      replace_in(n, from, to);
    else
      replace_slots(n, from, to, uses);
  });
}

void InputReplacer::replace_slots(Node& n, Value& from, Value* to, size_t uses) {
  Slots& known = slots_[&n];
  const auto is_right = [&] {
    const auto places = known.find(&from);
    return places != known.end() && places->second.size() == uses &&
           std::all_of(places->second.begin(), places->second.end(),
                       [&](size_t i) { return i < n.inputs().size() && n.input(i) == &from; });
  };
  if (!is_right()) {  // new, or the node was changed by other code
    known.clear();
    for (size_t i = 0; i < n.inputs().size(); ++i) known[n.input(i)].push_back(i);
  }
  const std::vector<size_t> places = std::move(known[&from]);
  known.erase(&from);
  std::vector<size_t>& others = known[to];
  for (const size_t i : places) {
    n.set_input(i, to);
    others.push_back(i);
  }
}

}  // namespace assay
