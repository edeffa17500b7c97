#include "debug/tensor_match.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "analysis/node_key.h"
#include "graph/order.h"
#include "graph/read.h"

namespace assay::debug {
namespace {

using Hash = uint64_t;
using Hashes = std::unordered_map<const Value*, Hash>;

Hash mix(Hash h, Hash more) {
  return (h ^ (more + 0x9e3779b97f4a7c15 + (h << 6) + (h >> 2))) * 0xff51afd7ed558ccd;
}
Hash of_text(std::string_view text) { return std::hash<std::string_view>()(text); }

/// Tensors that share a hash, in the order of the graph.
struct Groups {
  std::unordered_map<Hash, std::vector<const Value*>> of;
  std::vector<Hash> order;
  void add(Hash h, const Value* v) {
    std::vector<const Value*>& group = of[h];
    if (group.empty()) order.push_back(h);
    group.push_back(v);
  }
};

bool may_be_same(const Value& a, const Value& b) {
  if (a.type.kind != b.type.kind) return false;
  if (!a.type.has_shape() || !b.type.has_shape()) return true;
  const Dims &p = *a.type.dims, &q = *b.type.dims;
  if (p.size() != q.size()) return false;
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i].is_known() && q[i].is_known() && p[i].value() != q[i].value()) return false;
  return true;
}

class Matcher {
 public:
  Matcher(const Model& first, const Model& second) : first_(*first.graph), second_(*second.graph) {}

  TensorMatches match() {
    match_inputs();
    match_hashes(/*by_content=*/true, MatchedBy::kComputation);
    match_names();
    // What is matched is a place from which others are found.
    for (size_t before = 0; before != matches_.size();) {
      before = matches_.size();
      match_hashes(/*by_content=*/false, MatchedBy::kPlace);
    }
    match_in_order(first_.outputs, second_.outputs);
    match_backwards();
    return std::move(matches_);
  }

 private:
  void match_inputs() {
    for (const Value* v : first_.inputs)
      for (const Value* w : second_.inputs)
        if (v->name() == w->name()) matches_.add(*v, *w, MatchedBy::kName);
    match_in_order(first_.inputs, second_.inputs);
  }

  void match_in_order(const std::vector<Value*>& first, const std::vector<Value*>& second) {
    for (size_t i = 0; i < std::min(first.size(), second.size()); ++i)
      if (!first[i]->is_constant() && !second[i]->is_constant() && may_be_same(*first[i], *second[i]))
        matches_.add(*first[i], *second[i], MatchedBy::kPlace);
  }

  /// What the same operators make the same tensors of.
  void match_backwards() {
    for (size_t i = first_.nodes().size(); i-- > 0;) {
      const Node& n = *first_.nodes()[i];
      const TensorMatch* match = n.output(0) != nullptr ? matches_.of_first(*n.output(0)) : nullptr;
      const Node* m = match != nullptr ? match->second->producer() : nullptr;
      if (m == nullptr || m->op_type != n.op_type || m->domain != n.domain ||
          m->inputs().size() != n.inputs().size())
        continue;
      for (size_t k = 0; k < n.inputs().size(); ++k) {
        const Value *v = n.input(k), *w = m->input(k);
        if (v != nullptr && w != nullptr && v->producer() != nullptr && w->producer() != nullptr &&
            may_be_same(*v, *w))
          matches_.add(*v, *w, MatchedBy::kPlace);
      }
    }
  }

  void match_names() {
    for (const auto& n : first_.nodes())
      for (const Value* v : n->outputs()) {
        const Value* w = v != nullptr ? second_.find_value(v->name()) : nullptr;
        if (w != nullptr && w->producer() != nullptr && may_be_same(*v, *w))
          matches_.add(*v, *w, MatchedBy::kName);
      }
  }

  /// Groups of the same hash and the same size are matched in their order.
  void match_hashes(bool by_content, MatchedBy by) {
    const Groups a = groups(first_, by_content, /*is_first=*/true);
    const Groups b = groups(second_, by_content, /*is_first=*/false);
    for (const Hash h : a.order) {
      const auto found = b.of.find(h);
      if (found == b.of.end() || found->second.size() != a.of.at(h).size()) continue;
      for (size_t i = 0; i < found->second.size(); ++i)
        if (may_be_same(*a.of.at(h)[i], *found->second[i]))
          matches_.add(*a.of.at(h)[i], *found->second[i], by);
    }
  }

  Groups groups(const Graph& g, bool by_content, bool is_first) {
    Hashes hashes;
    Groups groups;
    for (const auto& n : g.nodes()) {
      const Hash node = hash_of(*n, hashes, by_content, is_first);
      for (size_t i = 0; i < n->outputs().size(); ++i) {
        const Value* v = n->output(i);
        if (v == nullptr) continue;
        const TensorMatch* match = is_first ? matches_.of_first(*v) : matches_.of_second(*v);
        // While contents are compared every place is computed, whatever stands there.
        const bool is_anchor = match != nullptr && !by_content;
        hashes[v] = is_anchor ? anchor(*match) : mix(node, i + 1);
        if (match == nullptr) groups.add(hashes[v], v);
      }
    }
    return groups;
  }

  static Hash anchor(const TensorMatch& match) {
    return mix(0xa11c0, reinterpret_cast<uintptr_t>(match.first));
  }

  Hash hash_of(const Node& n, Hashes& hashes, bool by_content, bool is_first) {
    std::string key = n.domain + ":" + n.op_type + ";";
    append_attributes(key, n);
    Hash h = of_text(key);
    for (const Value* v : n.inputs())
      h = mix(h, v == nullptr ? 1 : hash_of(*v, hashes, by_content, is_first));
    if (has_subgraph(n))
      for (const Value* v : used_values(n)) h = mix(h, hash_of(*v, hashes, by_content, is_first));
    return h;
  }

  Hash hash_of(const Value& v, Hashes& hashes, bool by_content, bool is_first) {
    if (const auto it = hashes.find(&v); it != hashes.end()) return it->second;
    const TensorMatch* match = is_first ? matches_.of_first(v) : matches_.of_second(v);
    const Hash h = match != nullptr  ? anchor(*match)
                   : v.is_constant() ? hash_of_constant(v, by_content)
                                     : mix(of_text(v.name()), is_first ? 2 : 3);  // it is like no other
    hashes.emplace(&v, h);
    return h;
  }

  static Hash hash_of_constant(const Value& v, bool by_content) {
    const UnalignedTensor& t = v.tensor();
    if (!t.defined()) return of_text(v.name());
    Hash h = mix(static_cast<Hash>(t.dtype()), 5);
    for (const int64_t extent : t.shape()) h = mix(h, static_cast<Hash>(extent));
    if (!by_content || t.dtype() == DType::kString) return h;
    const Tensor data = t.aligned();
    return mix(h, of_text({static_cast<const char*>(data.data()), data.nbytes()}));
  }

  const Graph &first_, &second_;
  TensorMatches matches_;
};

}  // namespace

const char* matched_by_name(MatchedBy by) {
  switch (by) {
    case MatchedBy::kComputation:
      return "computation";
    case MatchedBy::kName:
      return "name";
    case MatchedBy::kPlace:
      return "place";
    default:
      return "values";
  }
}

bool TensorMatches::add(const Value& first, const Value& second, MatchedBy by) {
  if (by_first_.contains(&first) || by_second_.contains(&second)) return false;
  const TensorMatch match{&first, &second, by};
  by_first_.emplace(&first, match);
  by_second_.emplace(&second, match);
  return true;
}

void TensorMatches::remove(const TensorMatch& match) {
  const Value *first = match.first, *second = match.second;
  by_first_.erase(first);
  by_second_.erase(second);
}

const TensorMatch* TensorMatches::of_first(const Value& v) const {
  const auto it = by_first_.find(&v);
  return it != by_first_.end() ? &it->second : nullptr;
}

const TensorMatch* TensorMatches::of_second(const Value& v) const {
  const auto it = by_second_.find(&v);
  return it != by_second_.end() ? &it->second : nullptr;
}

TensorMatches match_tensors(const Model& first, const Model& second) {
  return Matcher(first, second).match();
}

}  // namespace assay::debug
