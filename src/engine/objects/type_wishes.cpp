#include "engine/objects/type_wishes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/held_types.h"
#include "naming/origins.h"
#include "naming/selector.h"

namespace assay {
namespace {

/// The more, the less a wish gives way to others.
enum class Rank : uint8_t { kNetwork, kAll, kPattern, kName };

class Collector {
 public:
  /// `network` is looked at alone.
  explicit Collector(const Model& network) : network_(const_cast<Model&>(network)) {
    rules_.constraints = PrecisionConstraints::kObey;
  }

  void add_network(const Graph& g) {
    for (const auto& n : g.nodes()) {
      if (const auto type = dtype_from_name(held_type(*n)))
        set(layers_, rules_.layers, "layer", name_of(*n), *type, Rank::kNetwork);
      const std::vector<std::string> outputs = held_outputs(*n);
      for (size_t i = 0; i < outputs.size() && i < n->outputs().size(); ++i)
        if (const auto type = dtype_from_name(outputs[i]); type && n->output(i) != nullptr)
          set(tensors_, rules_.tensors, "output", n->output(i)->name(), *type, Rank::kNetwork);
      for (const Attribute& a : n->attributes) {
        if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) add_network(**sub);
        if (const auto* list = a.get_if<Attribute::Graphs>())
          for (const auto& sub : *list) add_network(*sub);
      }
    }
  }

  void add(const LayerTypes& wish) {
    for (const Node* n : select_nodes(network_, wish.layers)) {
      const std::string name = name_of(*n);
      const std::string_view last = wish.layers;
      const Rank rank = last == name || last.ends_with("::" + name) ? Rank::kName
                        : last == "*"                               ? Rank::kAll
                                                                    : Rank::kPattern;
      if (wish.precision != DType::kUndefined)
        set(layers_, rules_.layers, "layer", name, wish.precision, rank);
      require(wish.outputs.size() <= 1 || rank != Rank::kName || wish.outputs.size() == n->outputs().size(),
              ErrorCode::kInvalidArgument, "{} output types are given for layer '{}', which has {} output(s)",
              wish.outputs.size(), name, n->outputs().size());
      for (size_t i = 0; !wish.outputs.empty() && i < n->outputs().size(); ++i) {
        const DType type = wish.outputs[std::min(i, wish.outputs.size() - 1)];
        if (n->output(i) != nullptr && type != DType::kUndefined)
          set(tensors_, rules_.tensors, "output", n->output(i)->name(), type, rank);
      }
    }
  }

  engine::TypeRules take() { return std::move(rules_); }

 private:
  static std::string name_of(const Node& n) {
    const std::vector<std::string> names = origins_of(n);
    return names.empty() ? std::string() : names.front();
  }

  static void set(std::map<std::string, Rank>& ranks, std::map<std::string, engine::TypeRules::Wish>& wishes,
                  const char* what, const std::string& name, DType type, Rank rank) {
    const auto [it, is_new] = ranks.try_emplace(name, rank);
    if (!is_new && it->second > rank) return;
    require(is_new || it->second != rank || rank != Rank::kName || wishes.at(name).dtype == type,
            ErrorCode::kInvalidArgument, "{} '{}' is asked for in {} and in {}", what, name,
            dtype_name(is_new ? type : wishes.at(name).dtype), dtype_name(type));
    it->second = rank;
    wishes[name] = {type, rank == Rank::kNetwork || rank == Rank::kName};
  }

  Model& network_;
  engine::TypeRules rules_;
  std::map<std::string, Rank> layers_, tensors_;
};

}  // namespace

engine::TypeRules type_rules_of(const Model& network, const BuilderConfig& config,
                                const std::function<void(const std::string&)>& warn) {
  Collector collector(network);
  collector.add_network(*network.graph);
  for (const LayerTypes& wish : config.layer_types) try {
      collector.add(wish);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kNotFound || !config.skips_unknown_layers) throw;
      warn(fmt::format("what is asked of the layers '{}' has no effect: {}", wish.layers, e.what()));
    }
  engine::TypeRules rules = collector.take();
  rules.constraints = config.precision_constraints;
  if (rules.constraints != PrecisionConstraints::kNone || rules.empty()) return rules;
  warn(fmt::format(
      "types are asked for {} layer(s) and {} output(s), but the precision constraints are `none`: "
      "they are not followed (`obey` and `prefer` follow them)",
      rules.layers.size(), rules.tensors.size()));
  return {};
}

namespace {

void count_layers(const engine::Plan& plan, std::map<DType, size_t>& types,
                  std::map<std::string, size_t>& whys, size_t& all) {
  for (const engine::Step& s : plan.steps) {
    if (!is_float(s.computes) && s.computes != DType::kInt8 && s.computes != DType::kUInt8) continue;
    ++all;
    ++types[s.computes == DType::kUInt8 ? DType::kInt8 : s.computes];
    if (s.computes == DType::kFloat32) ++whys[s.why];
  }
  for (const engine::PlanNetwork& n : plan.networks)
    if (n.plan != nullptr) count_layers(*n.plan, types, whys, all);
}

}  // namespace

std::string type_summary_of(const engine::Plan& plan) {
  std::map<DType, size_t> types;
  std::map<std::string, size_t> whys;
  size_t all = 0;
  count_layers(plan, types, whys, all);
  std::string text;
  for (const auto& [type, count] : types)
    if (type != DType::kFloat32)
      text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", count, dtype_name(type));
  text = fmt::format("{} of {} layers", text.empty() ? "none in a narrower type" : text, all);
  const size_t rest = types.contains(DType::kFloat32) ? types.at(DType::kFloat32) : 0;
  if (rest == 0) return text;
  text += fmt::format("; {} in float32", rest);
  std::string reasons;
  for (const auto& [why, count] : whys)
    if (!why.empty()) reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count, why);
  return reasons.empty() ? text : text + ": " + reasons;
}

}  // namespace assay
