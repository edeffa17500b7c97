#include "inspect/viewer_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "engine/objects/state.h"
#include "inspect/attribute_text.h"
#include "inspect/constant_diff.h"
#include "inspect/node_match.h"

namespace assay {
namespace {

std::string whole_text(const Attribute& a) {
  return attribute_text(a.name, a.data, /*weights=*/true).value_or(std::string(a.type_name()));
}

class Matcher {
 public:
  ReportMatching match(const Graph& a, const Graph& b) {
    for (const Value* v : a.inputs)
      if (const Value* w = b.find_value(v->name())) same_[v] = w;
    graphs(a, b, "", "");
    return std::move(found_);
  }

 private:
  void graphs(const Graph& a, const Graph& b, const std::string& prefix_a, const std::string& prefix_b);
  void bodies(const Node& a, const Node& b, const std::string& id_a, const std::string& id_b);
  std::string difference(const Node& a, const Node& b) const;

  SameValues same_;
  ReportMatching found_;
};

std::unordered_map<const Node*, size_t> places_in(const Graph& g) {
  std::unordered_map<const Node*, size_t> places;
  for (size_t i = 0; i < g.nodes().size(); ++i) places.emplace(g.nodes()[i].get(), i);
  return places;
}

void Matcher::graphs(const Graph& a, const Graph& b, const std::string& prefix_a,
                     const std::string& prefix_b) {
  const auto in_a = places_in(a), in_b = places_in(b);
  for (const auto& [x, y] : match_nodes(a, b, same_)) {
    const std::string id_a = fmt::format("{}node_{}", prefix_a, in_a.at(x));
    const std::string id_b = fmt::format("{}node_{}", prefix_b, in_b.at(y));
    found_.pairs.emplace_back(id_a, id_b);
    if (std::string what = difference(*x, *y); !what.empty())
      found_.changed.emplace_back(id_a, std::move(what));
    bodies(*x, *y, id_a, id_b);
  }
}

void Matcher::bodies(const Node& a, const Node& b, const std::string& id_a, const std::string& id_b) {
  for (const Attribute& attribute : a.attributes) {
    const Attribute* other = b.find_attribute(attribute.name);
    const auto* x = attribute.get_if<std::shared_ptr<Graph>>();
    const auto* y = other != nullptr ? other->get_if<std::shared_ptr<Graph>>() : nullptr;
    if (x == nullptr || y == nullptr || *x == nullptr || *y == nullptr) continue;
    graphs(**x, **y, fmt::format("{}__sg_{}__", id_a, attribute.name),
           fmt::format("{}__sg_{}__", id_b, attribute.name));
  }
}

std::string Matcher::difference(const Node& a, const Node& b) const {
  std::string all;
  const auto add = [&](const std::string& what) { all += (all.empty() ? "" : "; ") + what; };
  if (a.op_type != b.op_type || a.domain != b.domain) add(fmt::format("{} became {}", a.op_type, b.op_type));
  for (const Attribute& x : a.attributes) {
    const Attribute* y = b.find_attribute(x.name);
    if (x.get_if<std::shared_ptr<Graph>>() != nullptr) continue;
    if (y == nullptr)
      add(fmt::format("attribute {} is gone", x.name));
    else if (whole_text(x) != whole_text(*y))
      add(fmt::format("attribute {} differs", x.name));
  }
  for (const Attribute& y : b.attributes)
    if (a.find_attribute(y.name) == nullptr) add(fmt::format("attribute {} is new", y.name));
  for (size_t i = 0; i < std::min(a.inputs().size(), b.inputs().size()); ++i) {
    const Value *x = a.input(i), *y = b.input(i);
    if (x == nullptr || y == nullptr || !x->is_constant() || !y->is_constant()) continue;
    const ConstantDiff diff = diff_constants(*x, *y);
    if (diff.is_same) continue;
    if (diff.before != diff.after)
      add(fmt::format("constant {}: {} became {}", x->name(), diff.before, diff.after));
    else
      add(fmt::format("constant {} differs{}", x->name(),
                      diff.max_difference ? fmt::format(" by at most {:.3g}", *diff.max_difference) : ""));
  }
  return all;
}

}  // namespace

ReportMatching match_models(const Model& a, const Model& b) { return Matcher().match(*a.graph, *b.graph); }

ReportMatching match_plan(const Engine& engine) {
  ReportMatching found;
  const std::vector<engine::SpecializedPlan>& plans = engine.state().saved.plans;
  if (plans.empty() || plans.front().plan == nullptr) return found;
  const std::vector<engine::Step>& steps = plans.front().plan->steps;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const std::string& origin : steps[i].origins)
      found.pairs.emplace_back(origin, fmt::format("p0_node_{}", i));
  return found;
}

}  // namespace assay
