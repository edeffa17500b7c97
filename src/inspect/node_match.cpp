#include "inspect/node_match.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "graph/order.h"
#include "inspect/node_hash.h"
#include "inspect/slots.h"

namespace assay {
namespace {

class NodeMatcher {
 public:
  NodeMatcher(const Graph& a, const Graph& b, SameValues& values) : a_(a), b_(b), values_(values) {
    // Of the pairs found so far, this graph needs only a small part.
    ValueIds ids_a, ids_b;
    uint64_t id = 0;
    const auto add = [&](const Value* v) {
      const auto other = values.find(v);
      if (other == values.end() || !ids_a.try_emplace(v, id + 1).second) return;
      ids_b[other->second] = ++id;
    };
    for (const Value* v : a.inputs) add(v);
    for (const auto& n : a.nodes())
      for (const Value* v : all_used_values(*n))
        if (v != nullptr) add(v);
    for (const Value* v : a.outputs) add(v);
    hashes_a_ = hash_nodes(a, ids_a);
    hashes_b_ = hash_nodes(b, ids_b);
  }

  std::vector<std::pair<const Node*, const Node*>> run();

 private:
  using Key = std::function<std::string(const Node&, const NodeHashes&)>;

  void match_by(const Key& key);
  void match_by_hash(uint64_t (*key)(const NodeHashes&));
  void propagate(bool equal_only);
  bool match_neighbours(const Node& x, const Node& y, bool equal_only);
  bool match_if_alike(const Node* x, const Node* y, bool equal_only);
  void match_outputs();
  void pair(const Node* x, const Node* y);

  bool is_free_a(const Node* n) const { return n != nullptr && &n->graph() == &a_ && !partner_.contains(n); }
  bool is_free_b(const Node* n) const { return n != nullptr && &n->graph() == &b_ && !taken_.contains(n); }

  const Graph& a_;
  const Graph& b_;
  SameValues& values_;
  std::unordered_map<const Node*, NodeHashes> hashes_a_, hashes_b_;
  std::unordered_map<const Node*, const Node*> partner_, taken_;
  Slots slots_;
};

void NodeMatcher::pair(const Node* x, const Node* y) {
  partner_[x] = y;
  taken_[y] = x;
  const size_t outputs = std::min(x->outputs().size(), y->outputs().size());
  for (size_t i = 0; i < outputs; ++i)
    if (x->output(i) != nullptr && y->output(i) != nullptr) values_[x->output(i)] = y->output(i);
}

/// Nodes without a partner whose keys are equal, if both sides have as many of them; an empty key matches
/// nothing.
void NodeMatcher::match_by(const Key& key) {
  struct Group {
    std::vector<const Node*> a, b;
  };
  std::unordered_map<std::string, Group> groups;
  for (const auto& n : a_.nodes())
    if (is_free_a(n.get())) groups[key(*n, hashes_a_[n.get()])].a.push_back(n.get());
  for (const auto& n : b_.nodes())
    if (is_free_b(n.get())) groups[key(*n, hashes_b_[n.get()])].b.push_back(n.get());
  for (const auto& [text, group] : groups) {
    if (text.empty() || group.a.size() != group.b.size()) continue;
    for (size_t i = 0; i < group.a.size(); ++i) pair(group.a[i], group.b[i]);
  }
}

void NodeMatcher::match_by_hash(uint64_t (*key)(const NodeHashes&)) {
  match_by([key](const Node&, const NodeHashes& h) { return std::to_string(key(h)); });
}

bool NodeMatcher::match_if_alike(const Node* x, const Node* y, bool equal_only) {
  if (!is_free_a(x) || !is_free_b(y) || x->op_type != y->op_type || x->domain != y->domain) return false;
  if (equal_only && hashes_a_[x].local.strong != hashes_b_[y].local.strong) return false;
  pair(x, y);
  return true;
}

/// The free consumers of a value, by their operator and the slots in which they take it (of very many slots
/// the first): null where there are several.
template <typename IsFree>
std::map<std::pair<std::string_view, uint64_t>, const Node*> only_consumers(const Value& v, Slots& slots,
                                                                            const IsFree& is_free) {
  std::map<std::pair<std::string_view, uint64_t>, const Node*> found;
  const auto add = [&](const Node* n, uint64_t slot) {
    const auto [it, is_new] = found.try_emplace({n->op_type, slot}, n);
    if (!is_new && it->second != n) it->second = nullptr;
  };
  for (const Node* n : v.consumers()) {
    if (!is_free(n)) continue;
    if (n->inputs().size() > Slots::kFew) {
      add(n, slots.input(*n, &v));
      continue;
    }
    for (size_t i = 0; i < n->inputs().size(); ++i)
      if (n->input(i) == &v) add(n, i);
  }
  return found;
}

bool NodeMatcher::match_neighbours(const Node& x, const Node& y, bool equal_only) {
  bool found = false;
  for (size_t i = 0; i < x.inputs().size(); ++i)
    if (x.input(i) != nullptr && y.input(i) != nullptr)
      found = match_if_alike(x.input(i)->producer(), y.input(i)->producer(), equal_only) || found;
  const auto free_a = [this](const Node* n) { return is_free_a(n); };
  const auto free_b = [this](const Node* n) { return is_free_b(n); };
  for (size_t i = 0; i < x.outputs().size(); ++i) {
    const Value *from = x.output(i), *to = y.output(i);
    if (from == nullptr || to == nullptr) continue;
    const auto others = only_consumers(*to, slots_, free_b);
    for (const auto& [use, n] : only_consumers(*from, slots_, free_a))
      if (const auto it = others.find(use); it != others.end())
        found = match_if_alike(n, it->second, equal_only) || found;
  }
  return found;
}

/// Extends pairs to their neighbours, as far as possible.
void NodeMatcher::propagate(bool equal_only) {
  for (bool found = true; found;) {
    found = false;
    for (const auto& n : a_.nodes())
      if (const auto p = partner_.find(n.get()); p != partner_.end())
        found = match_neighbours(*n, *p->second, equal_only) || found;
    for (auto n = a_.nodes().rbegin(); n != a_.nodes().rend(); ++n)
      if (const auto p = partner_.find(n->get()); p != partner_.end())
        found = match_neighbours(**n, *p->second, equal_only) || found;
  }
}

/// Pairs nodes that compute outputs of the same name.
void NodeMatcher::match_outputs() {
  std::unordered_map<std::string_view, const Value*> others;
  for (const Value* y : b_.outputs) others.emplace(y->name(), y);
  for (const Value* x : a_.outputs)
    if (const auto y = others.find(x->name()); y != others.end())
      match_if_alike(x->producer(), y->second->producer(), /*equal_only=*/false);
}

std::vector<std::pair<const Node*, const Node*>> NodeMatcher::run() {
  match_by([](const Node&, const NodeHashes& h) { return fmt::format("{} {}", h.up.strong, h.down.strong); });
  match_by_hash([](const NodeHashes& h) { return h.up.strong; });
  match_by_hash([](const NodeHashes& h) { return h.down.strong; });
  match_by([](const Node&, const NodeHashes& h) { return fmt::format("{} {}", h.up.weak, h.down.weak); });
  propagate(/*equal_only=*/true);
  match_by([](const Node& n, const NodeHashes&) {
    return n.name.empty() ? "" : fmt::format("{} {} {}", n.name, n.op_type, n.domain);
  });
  match_outputs();
  propagate(/*equal_only=*/false);
  match_by_hash([](const NodeHashes& h) { return h.up.weak; });
  match_by_hash([](const NodeHashes& h) { return h.down.weak; });
  match_by_hash([](const NodeHashes& h) { return h.local.strong; });
  propagate(/*equal_only=*/false);
  // Pairs nodes where one operator replaces another.
  match_by([](const Node& n, const NodeHashes&) { return n.name; });
  std::vector<std::pair<const Node*, const Node*>> pairs;
  for (const auto& n : a_.nodes())
    if (const auto p = partner_.find(n.get()); p != partner_.end()) pairs.emplace_back(n.get(), p->second);
  return pairs;
}

}  // namespace

std::vector<std::pair<const Node*, const Node*>> match_nodes(const Graph& a, const Graph& b,
                                                             SameValues& values) {
  return NodeMatcher(a, b, values).run();
}

}  // namespace assay
