#include "assay/inspect.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "assay/edit.h"
#include "base/resident_memory.h"
#include "graph/function_index.h"
#include "graph/order.h"
#include "inspect/attribute_text.h"
#include "inspect/constant_diff.h"
#include "inspect/node_match.h"

namespace assay {
namespace {

using Kind = ModelDifference::Kind;
using Change = ModelDifference::Change;

int64_t node_count(const Graph& g) {
  auto count = static_cast<int64_t>(g.nodes().size());
  for (const Graph* sub : subgraphs(g, /*recursive=*/true))
    count += static_cast<int64_t>(sub->nodes().size());
  return count;
}

std::string text_of(const Value* v) {
  if (v == nullptr) return "nothing";
  return v->is_constant() ? "the constant '" + v->name() + "'" : "'" + v->name() + "'";
}

std::string text_of(const Attribute& a) {
  constexpr size_t kLongest = 120;
  std::string text = attribute_text(a.name, a.data, /*weights=*/false).value_or(std::string(a.type_name()));
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

Attribute::Graphs graphs_of(const Attribute& a) {
  if (const auto* one = a.get_if<std::shared_ptr<Graph>>()) return {*one};
  const auto* list = a.get_if<Attribute::Graphs>();
  return list != nullptr ? *list : Attribute::Graphs();
}

/// True when attributes without graphs are equal.
struct SameData {
  template <typename T>
  bool operator()(const T& x, const T& y) const {
    return x == y;
  }
  template <typename T, typename U>
  bool operator()(const T&, const U&) const {
    return false;
  }
  bool operator()(float x, float y) const { return x == y || (x != x && y != y); }
  bool operator()(const Tensor& x, const Tensor& y) const { return x.identical(y); }
  bool operator()(const UnalignedTensor& x, const UnalignedTensor& y) const { return x.identical(y); }
  bool operator()(const Attribute::Sparse& x, const Attribute::Sparse& y) const {
    return x.dims == y.dims && x.values.identical(y.values) && x.indices.identical(y.indices);
  }
  template <typename T>
  bool operator()(const std::vector<T>& x, const std::vector<T>& y) const {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), *this);
  }
};

class ModelComparison {
 public:
  ModelComparison(const DiffOptions& options, ModelDiff& diff) : options_(options), diff_(diff) {}

  void models(const Model& a, const Model& b);

 private:
  void metadata(const Model& a, const Model& b);
  void properties(const Metadata& a, const Metadata& b);
  void opsets(const std::vector<OpsetImport>& a, const std::vector<OpsetImport>& b, const std::string& where);
  void functions(const Model& a, const Model& b);
  /// The ends of the main graph and of functions have names that callers know; those of subgraphs only have
  /// positions.
  void graph(const Graph& a, const Graph& b, const std::string& path, bool has_interface);
  void inputs(const Graph& a, const Graph& b, bool has_interface);
  void outputs(const Graph& a, const Graph& b, const std::string& path, bool has_interface);
  void nodes(const Node& a, const Node& b, const std::string& path);
  void connections(const Node& a, const Node& b, const std::string& label);
  void attributes(const Node& a, const Node& b, const std::string& path);
  void attribute(const Attribute& a, const Attribute& b, const Node& owner, const std::string& path);
  void constants(const Value& a, const Value& b);
  void unused_constants(const Graph& a, const Graph& b);
  void types(Kind kind, const Value& a, const Value& b);

  void add(Kind kind, Change change, std::string what, std::string before = {}, std::string after = {},
           std::optional<double> max_difference = {});
  void changed(Kind kind, const std::string& what, const std::string& before, const std::string& after) {
    if (before != after) add(kind, Change::kChanged, what, before, after);
  }

  const DiffOptions& options_;
  ModelDiff& diff_;
  SameValues same_;
  std::set<std::pair<const Value*, const Value*>> compared_;  // constants
  std::set<const Value*> met_;                                // constants that have been compared
};

void ModelComparison::add(Kind kind, Change change, std::string what, std::string before, std::string after,
                          std::optional<double> max_difference) {
  if (std::find(options_.ignore.begin(), options_.ignore.end(), kind) != options_.ignore.end()) return;
  diff_.differences.push_back(
      {kind, change, std::move(what), std::move(before), std::move(after), max_difference});
}

void ModelComparison::properties(const Metadata& a, const Metadata& b) {
  const auto find = [](const Metadata& list, const std::string& key) -> const std::string* {
    for (const auto& [name, value] : list)
      if (name == key) return &value;
    return nullptr;
  };
  for (const auto& [key, value] : a) {
    const std::string* other = find(b, key);
    if (other == nullptr)
      add(Kind::kMetadata, Change::kRemoved, "property '" + key + "'", value);
    else
      changed(Kind::kMetadata, "property '" + key + "'", value, *other);
  }
  for (const auto& [key, value] : b)
    if (find(a, key) == nullptr) add(Kind::kMetadata, Change::kAdded, "property '" + key + "'", "", value);
}

void ModelComparison::metadata(const Model& a, const Model& b) {
  changed(Kind::kMetadata, "IR version", std::to_string(a.ir_version), std::to_string(b.ir_version));
  changed(Kind::kMetadata, "model version", std::to_string(a.model_version), std::to_string(b.model_version));
  changed(Kind::kMetadata, "producer", a.producer_name, b.producer_name);
  changed(Kind::kMetadata, "producer version", a.producer_version, b.producer_version);
  changed(Kind::kMetadata, "domain of the model", a.domain, b.domain);
  changed(Kind::kMetadata, "doc string of the model", a.doc_string, b.doc_string);
  changed(Kind::kMetadata, "name of the graph", a.graph->name, b.graph->name);
  changed(Kind::kMetadata, "doc string of the graph", a.graph->doc_string, b.graph->doc_string);
  properties(a.metadata, b.metadata);
}

void ModelComparison::opsets(const std::vector<OpsetImport>& a, const std::vector<OpsetImport>& b,
                             const std::string& where) {
  const auto version = [](const std::vector<OpsetImport>& list, const std::string& domain) -> int64_t {
    int64_t found = 0;
    for (const OpsetImport& o : list)
      if (canonical_domain(o.domain) == domain) found = o.version;
    return found;
  };
  std::set<std::string> domains;
  for (const auto* list : {&a, &b})
    for (const OpsetImport& o : *list) domains.emplace(canonical_domain(o.domain));
  for (const std::string& domain : domains) {
    const int64_t before = version(a, domain), after = version(b, domain);
    const std::string what =
        fmt::format("opset of domain '{}'{}", domain.empty() ? "ai.onnx" : domain, where);
    if (before == 0)
      add(Kind::kOpset, Change::kAdded, what, "", std::to_string(after));
    else if (after == 0)
      add(Kind::kOpset, Change::kRemoved, what, std::to_string(before));
    else
      changed(Kind::kOpset, what, std::to_string(before), std::to_string(after));
  }
}

void ModelComparison::types(Kind kind, const Value& a, const Value& b) {
  if (!(a.type == b.type))
    add(kind, Change::kChanged, fmt::format("type of '{}'", b.name()), a.type.str(), b.type.str());
}

/// Pairs by name, and the rest by position.
std::vector<std::pair<const Value*, const Value*>> pair_values(const std::vector<Value*>& a,
                                                               const std::vector<Value*>& b, bool by_name) {
  std::vector<std::pair<const Value*, const Value*>> pairs;
  std::unordered_map<std::string_view, std::vector<size_t>> places;  // in b, the first at the end
  for (size_t i = b.size(); by_name && i-- > 0;) places[b[i]->name()].push_back(i);
  std::vector<bool> is_paired(b.size(), false);
  std::vector<const Value*> rest_a, rest_b;
  for (const Value* x : a) {
    const auto y = places.find(x->name());
    if (y == places.end() || y->second.empty()) {
      rest_a.push_back(x);
      continue;
    }
    pairs.emplace_back(x, b[y->second.back()]);
    is_paired[y->second.back()] = true;
    y->second.pop_back();
  }
  for (size_t i = 0; i < b.size(); ++i)
    if (!is_paired[i]) rest_b.push_back(b[i]);
  for (size_t i = 0; i < std::max(rest_a.size(), rest_b.size()); ++i)
    pairs.emplace_back(i < rest_a.size() ? rest_a[i] : nullptr, i < rest_b.size() ? rest_b[i] : nullptr);
  return pairs;
}

void ModelComparison::inputs(const Graph& a, const Graph& b, bool has_interface) {
  for (const auto& [x, y] : pair_values(a.inputs, b.inputs, has_interface)) {
    if (x == nullptr || y == nullptr) {
      const Value& v = x != nullptr ? *x : *y;
      add(Kind::kInput, x != nullptr ? Change::kRemoved : Change::kAdded,
          fmt::format("graph input '{}' {}", v.name(), v.type.str()));
      continue;
    }
    same_[x] = y;
    if (!has_interface) continue;
    changed(Kind::kInput, "name of a graph input", x->name(), y->name());
    types(Kind::kInput, *x, *y);
  }
}

void ModelComparison::outputs(const Graph& a, const Graph& b, const std::string& path, bool has_interface) {
  for (const auto& [x, y] : pair_values(a.outputs, b.outputs, has_interface)) {
    if (x == nullptr || y == nullptr) {
      const Value& v = x != nullptr ? *x : *y;
      add(Kind::kOutput, x != nullptr ? Change::kRemoved : Change::kAdded,
          fmt::format("graph output '{}{}' {}", path, v.name(), v.type.str()));
      continue;
    }
    if (has_interface) {
      changed(Kind::kOutput, "name of a graph output", x->name(), y->name());
      types(Kind::kOutput, *x, *y);
    }
    if (x->is_constant() && y->is_constant()) {
      constants(*x, *y);
      continue;
    }
    const auto same = same_.find(x);
    if (same == same_.end() || same->second != y)
      add(Kind::kOutput, Change::kChanged,
          fmt::format("what computes the graph output '{}{}'", path, y->name()),
          x->producer() != nullptr ? x->producer()->label() : text_of(x),
          y->producer() != nullptr ? y->producer()->label() : text_of(y));
  }
}

void ModelComparison::constants(const Value& a, const Value& b) {
  met_.insert({&a, &b});
  if (!compared_.emplace(&a, &b).second) return;
  const ConstantDiff d = diff_constants(a, b);
  if (d.is_same) return;
  add(Kind::kInitializer, Change::kChanged, fmt::format("initializer '{}'", a.name()), d.before, d.after,
      d.max_difference);
}

void ModelComparison::connections(const Node& a, const Node& b, const std::string& label) {
  for (size_t i = 0; i < std::max(a.inputs().size(), b.inputs().size()); ++i) {
    const Value *x = a.input(i), *y = b.input(i);
    if (x == nullptr && y == nullptr) continue;
    if (x != nullptr && y != nullptr) {
      if (x->is_constant() && y->is_constant()) {
        constants(*x, *y);
        continue;
      }
      const auto same = same_.find(x);
      if (same != same_.end() && same->second == y) continue;
    }
    add(Kind::kConnection, Change::kChanged, fmt::format("input {} of node {}", i, label), text_of(x),
        text_of(y));
  }
  for (size_t i = 0; i < std::max(a.outputs().size(), b.outputs().size()); ++i)
    if ((a.output(i) == nullptr) != (b.output(i) == nullptr))
      add(Kind::kConnection, Change::kChanged, fmt::format("output {} of node {}", i, label),
          text_of(a.output(i)), text_of(b.output(i)));
}

void ModelComparison::attribute(const Attribute& a, const Attribute& b, const Node& owner,
                                const std::string& path) {
  const Attribute::Graphs x = graphs_of(a), y = graphs_of(b);
  if (!x.empty() && x.size() == y.size()) {
    const std::string inner = owner.name.empty() ? owner.op_type : owner.name;
    for (size_t i = 0; i < x.size(); ++i)
      graph(*x[i], *y[i], fmt::format("{}{}/{}/", path, inner, a.name), /*has_interface=*/false);
    return;
  }
  const std::string what = fmt::format("attribute '{}' of node {}{}", a.name, path, owner.label());
  if (a.ref_attr_name != b.ref_attr_name)
    return add(Kind::kAttribute, Change::kChanged, what, "a reference to '" + a.ref_attr_name + "'",
               "a reference to '" + b.ref_attr_name + "'");
  if (std::visit(SameData(), a.data, b.data)) return;
  std::optional<double> difference;
  const auto *t = a.get_if<UnalignedTensor>(), *u = b.get_if<UnalignedTensor>();
  if (t != nullptr && u != nullptr) difference = max_difference(*t, *u);
  add(Kind::kAttribute, Change::kChanged, what, text_of(a), text_of(b), difference);
}

void ModelComparison::attributes(const Node& a, const Node& b, const std::string& path) {
  const auto what = [&](const Attribute& x) {
    return fmt::format("attribute '{}' of node {}{}", x.name, path, a.label());
  };
  for (const Attribute& x : a.attributes) {
    const Attribute* y = b.find_attribute(x.name);
    if (y == nullptr)
      add(Kind::kAttribute, Change::kRemoved, what(x), text_of(x));
    else
      attribute(x, *y, a, path);
  }
  for (const Attribute& y : b.attributes)
    if (a.find_attribute(y.name) == nullptr) add(Kind::kAttribute, Change::kAdded, what(y), "", text_of(y));
}

void ModelComparison::nodes(const Node& a, const Node& b, const std::string& path) {
  ++diff_.matched;
  diff_.renamed_nodes += a.name != b.name ? 1 : 0;
  for (size_t i = 0; i < std::min(a.outputs().size(), b.outputs().size()); ++i)
    if (a.output(i) != nullptr && b.output(i) != nullptr && a.output(i)->name() != b.output(i)->name())
      ++diff_.renamed_values;
  const std::string label = path + a.label();
  const auto op = [](const Node& n) { return n.domain.empty() ? n.op_type : n.domain + "::" + n.op_type; };
  changed(Kind::kNode, "operator of node " + label, op(a), op(b));
  changed(Kind::kNode, "overload of node " + label, a.overload, b.overload);
  connections(a, b, label);
  attributes(a, b, path);
}

/// Constants that no pair of nodes has in common, by name.
void ModelComparison::unused_constants(const Graph& a, const Graph& b) {
  const auto is_left = [&](const Value& v) {
    return v.is_constant() && !met_.contains(&v) && v.consumers().empty();
  };
  for (const auto& v : a.values()) {
    if (!is_left(*v)) continue;
    const Value* other = b.find_value(v->name());
    if (other != nullptr && is_left(*other))
      constants(*v, *other);
    else
      add(Kind::kInitializer, Change::kRemoved,
          fmt::format("initializer '{}', which nothing uses", v->name()));
  }
  for (const auto& v : b.values())
    if (is_left(*v))
      add(Kind::kInitializer, Change::kAdded, fmt::format("initializer '{}', which nothing uses", v->name()));
}

void ModelComparison::graph(const Graph& a, const Graph& b, const std::string& path, bool has_interface) {
  inputs(a, b, has_interface);
  const auto pairs = match_nodes(a, b, same_);
  std::set<const Node*> met;
  for (const auto& [x, y] : pairs) met.insert({x, y});
  for (const auto& n : a.nodes())
    if (!met.contains(n.get())) add(Kind::kNode, Change::kRemoved, "node " + path + n->label());
  for (const auto& n : b.nodes())
    if (!met.contains(n.get())) add(Kind::kNode, Change::kAdded, "node " + path + n->label());
  for (const auto& [x, y] : pairs) nodes(*x, *y, path);
  outputs(a, b, path, has_interface);
  unused_constants(a, b);
}

void ModelComparison::functions(const Model& a, const Model& b) {
  const auto name = [](const Function& f) {
    return fmt::format("function '{}::{}{}{}'", f.domain, f.name, f.overload.empty() ? "" : ":", f.overload);
  };
  const FunctionIndex functions_a(a), functions_b(b);
  for (const Function& f : a.functions) {
    const Function* other = functions_b.find(f.domain, f.name, f.overload);
    if (other == nullptr) {
      add(Kind::kFunction, Change::kRemoved, name(f));
      continue;
    }
    opsets(f.opsets, other->opsets, " in " + name(f));
    graph(*f.body, *other->body, f.name + "/", /*has_interface=*/false);
  }
  for (const Function& f : b.functions)
    if (functions_a.find(f.domain, f.name, f.overload) == nullptr)
      add(Kind::kFunction, Change::kAdded, name(f));
}

void ModelComparison::models(const Model& a, const Model& b) {
  metadata(a, b);
  opsets(a.opsets, b.opsets, "");
  diff_.nodes_a = node_count(*a.graph);
  diff_.nodes_b = node_count(*b.graph);
  for (const Function& f : a.functions) diff_.nodes_a += node_count(*f.body);
  for (const Function& f : b.functions) diff_.nodes_b += node_count(*f.body);
  graph(*a.graph, *b.graph, "", /*has_interface=*/true);
  functions(a, b);
}

}  // namespace

ModelDiff diff_models(const Model& a, const Model& b, const DiffOptions& options) {
  check_depth(a);
  check_depth(b);
  const ResidentMemoryLimit limit;
  ModelDiff diff;
  ModelComparison(options, diff).models(a, b);
  return diff;
}

}  // namespace assay
