#include "assay/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/order.h"
#include "ops/extent_form.h"
#include "ops/multiply_accumulates.h"
#include "ops/node_facts.h"

namespace assay {
namespace {

/// A loop with more iterations than this is ended by its condition.
constexpr int64_t kMaxTrips = int64_t{1} << 31;
/// A peak with more distinct products than this is not informative.
constexpr size_t kMaxPeakTerms = 64;

std::string full_op_type(const Node& n) { return n.domain.empty() ? n.op_type : n.domain + "::" + n.op_type; }

std::string name_of(const Node& n) {
  if (!n.name.empty()) return n.name;
  for (const Value* v : n.outputs())
    if (v != nullptr) return v->name();
  return n.op_type;
}

bool is_constant_node(const Node& n) { return n.op_type == "Constant" && n.domain.empty(); }

Count bytes_of(const Value& v) {
  if (!v.type.is_tensor() || bit_width(v.type.dtype) == 0) return Count::unknown();
  const Count elements = Count::elements(v.type.dims);
  if (const auto number = elements.number())
    if (*number <= INT64_MAX / 16) return static_cast<int64_t>(storage_bytes(v.type.dtype, *number));
  return elements * Count(std::max(1, bit_width(v.type.dtype) / 8));
}

/// The slots of quantized operators that take integer weights.
bool is_quantized_weight(const Node& n, size_t slot) {
  if (n.op_type == "DequantizeLinear") return slot == 0;
  if (n.op_type == "QLinearConv" || n.op_type == "QLinearMatMul") return slot == 3;
  return (n.op_type == "ConvInteger" || n.op_type == "MatMulInteger") && slot == 1;
}

/// The costs of running a graph once.
struct GraphCost {
  Count macs, bytes, peak;
};

class StatsCounter {
 public:
  StatsCounter(const Model& model, ModelStats& stats) : model_(model), stats_(stats) {}

  GraphCost graph(const Graph& g, const std::string& path, const Count& times);

 private:
  struct Liveness;

  GraphCost node(const Node& n, const std::string& path, const Count& times);
  GraphCost subgraphs(const Node& n, const std::string& path, const Count& times);
  GraphCost branches(const Node& n, const std::string& path, const Count& times);
  Count trips(const Node& n, const std::string& path);
  int64_t new_parameters(const Node& n);
  int64_t constant(const UnalignedTensor& t, const Type& type, bool is_weight);
  void note(std::string text);

  const Model& model_;
  ModelStats& stats_;
  std::unordered_set<std::string> known_notes_;
  std::unordered_set<const Value*> seen_;
};

/// The live bytes while the nodes of a graph run in sequence.
struct StatsCounter::Liveness {
  explicit Liveness(const Graph& g) {
    for (const auto& n : g.nodes())
      for (const Value* v : used_values(*n)) last_use[v] = n.get();
    for (const Value* v : g.outputs) last_use[v] = nullptr;
    for (const Value* v : g.inputs) live += bytes_of(*v);
    peak = live;
  }

  /// `inside`: the peak of the node's subgraphs.
  void run(const Node& n, const Count& inside) {
    if (!is_constant_node(n))
      for (const Value* v : n.outputs())
        if (v != nullptr) live += bytes_of(*v);
    see(live + inside);
    for (const Value* v : used_values(n))
      if (ends_with(*v, n)) live -= bytes_of(*v);
    for (const Value* v : n.outputs())
      if (v != nullptr && !last_use.contains(v) && !is_constant_node(n)) live -= bytes_of(*v);
  }

  bool ends_with(const Value& v, const Node& n) const {
    const auto last = last_use.find(&v);
    const bool is_activation =
        !v.is_constant() && (v.producer() == nullptr || !is_constant_node(*v.producer()));
    return is_activation && &v.graph() == &n.graph() && last != last_use.end() && last->second == &n;
  }

  void see(const Count& now) {
    const bool is_known = peak.is_known() && now.is_known();
    if (!peak.covers(now)) {
      is_bound = is_bound || !now.covers(peak);
      peak = Count::upper_bound(peak, now);
    }
    if (peak.terms().size() > kMaxPeakTerms) peak = Count::unknown();
    if (!is_known && peak.is_known()) peak += Count::unknown();
  }

  std::unordered_map<const Value*, const Node*> last_use;
  Count live, peak;
  bool is_bound = false;
};

void StatsCounter::note(std::string text) {
  if (known_notes_.insert(text).second) stats_.notes.push_back(std::move(text));
}

int64_t StatsCounter::constant(const UnalignedTensor& t, const Type& type, bool is_weight) {
  const DType dtype = t.defined() ? t.dtype() : type.dtype;
  const Count elements = t.defined() ? Count(t.numel()) : Count::elements(type.dims);
  const int64_t n = elements.number().value_or(0);
  if (n <= INT64_MAX / 16) stats_.constant_bytes += static_cast<int64_t>(storage_bytes(dtype, n));
  const int64_t parameters = is_float(dtype) || is_weight ? n : 0;
  stats_.parameters += parameters;
  return parameters;
}

int64_t StatsCounter::new_parameters(const Node& n) {
  int64_t parameters = 0;
  for (size_t i = 0; i < n.inputs().size(); ++i) {
    const Value* v = n.input(i);
    if (v != nullptr && v->is_constant() && seen_.insert(v).second)
      parameters += constant(v->tensor(), v->type, is_quantized_weight(n, i));
  }
  if (!is_constant_node(n)) return parameters;
  for (const Attribute& a : n.attributes)
    if (const auto* t = a.get_if<UnalignedTensor>()) parameters += constant(*t, {}, false);
  return parameters;
}

/// An extent of the values that a Scan takes apart.
Count scan_trips(const Node& n) {
  const Attribute* count = n.find_attribute("num_scan_inputs");
  const auto* scans = count != nullptr ? count->get_if<int64_t>() : nullptr;
  const size_t inputs = n.inputs().size();
  if (scans == nullptr || *scans < 1 || static_cast<size_t>(*scans) > inputs) return Count::unknown();
  const Value* v = n.input(inputs - static_cast<size_t>(*scans));
  const Attribute* axes = n.find_attribute("scan_input_axes");
  const auto* list = axes != nullptr ? axes->get_if<std::vector<int64_t>>() : nullptr;
  int64_t axis = list != nullptr && !list->empty() ? list->front() : 0;
  if (v == nullptr || !v->type.has_shape()) return Count::unknown();
  const auto rank = static_cast<int64_t>(v->type.dims->size());
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? Count::of((*v->type.dims)[static_cast<size_t>(axis)]) : Count::unknown();
}

Count StatsCounter::trips(const Node& n, const std::string& path) {
  if (n.op_type == "Scan") {
    if (const Count c = scan_trips(n); c.is_known()) {
      note(fmt::format("{}: one iteration costs what its layers say; {} iterations", path, c.str()));
      return c;
    }
  }
  if (n.op_type == "Loop") {
    const Value* most = n.input(0);
    const bool is_number = most != nullptr && most->tensor().defined() && most->tensor().numel() == 1 &&
                           is_integer(most->tensor().dtype());
    const int64_t m = is_number ? std::max<int64_t>(0, most->tensor().to_int64().front()) : kMaxTrips;
    if (m < kMaxTrips) {
      note(fmt::format("{}: one iteration costs what its layers say; at most {} iterations", path, m));
      return m;
    }
  }
  note(fmt::format("{}: one iteration costs what its layers say; the number of iterations is not known",
                   path));
  return Count::symbol(fmt::format("trips({})", path));
}

/// Counts only the more expensive branch; both if that depends on symbols.
GraphCost StatsCounter::branches(const Node& n, const std::string& path, const Count& times) {
  struct Branch {
    GraphCost cost;
    size_t first, last;  // its layers
  };
  std::vector<Branch> list;
  for (const Attribute& a : n.attributes)
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) {
      const size_t first = stats_.layers.size();
      const GraphCost cost = graph(**g, fmt::format("{}/{}", path, a.name), times);
      list.push_back({cost, first, stats_.layers.size()});
    }
  const auto covers = [](const GraphCost& a, const GraphCost& b) {
    const bool is_known = b.macs.is_known() && b.bytes.is_known();
    return &a == &b || (is_known && a.macs.covers(b.macs) && a.bytes.covers(b.bytes));
  };
  const auto dearest = std::find_if(list.begin(), list.end(), [&](const Branch& a) {
    return std::all_of(list.begin(), list.end(), [&](const Branch& b) { return covers(a.cost, b.cost); });
  });
  GraphCost total;
  for (auto b = list.begin(); b != list.end(); ++b) {
    total.peak = total.peak.covers(b->cost.peak) ? total.peak : Count::upper_bound(total.peak, b->cost.peak);
    if (dearest != list.end() && b != dearest) {
      for (size_t i = b->first; i < b->last; ++i) stats_.layers[i].is_counted = false;
      continue;
    }
    total.macs += b->cost.macs;
    total.bytes += b->cost.bytes;
  }
  note(dearest != list.end()
           ? fmt::format("{}: only the branch that costs more is counted", path)
           : fmt::format("{}: which branch costs more is not known; both are counted, as a bound", path));
  return total;
}

GraphCost StatsCounter::subgraphs(const Node& n, const std::string& path, const Count& times) {
  const auto has_graph = [](const Attribute& a) { return a.get_if<std::shared_ptr<Graph>>() != nullptr; };
  if (std::none_of(n.attributes.begin(), n.attributes.end(), has_graph)) return {};
  if (n.op_type == "If") return branches(n, path, times);
  const Count count = trips(n, path);
  GraphCost total;
  for (const Attribute& a : n.attributes)
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) {
      const GraphCost once = graph(**g, fmt::format("{}/{}", path, a.name), times * count);
      total.macs += once.macs * count;
      total.bytes += once.bytes * count;
      total.peak += once.peak;
    }
  return total;
}

GraphCost StatsCounter::node(const Node& n, const std::string& path, const Count& times) {
  LayerStats layer;
  layer.name = path;
  layer.op_type = full_op_type(n);
  layer.times = times;
  layer.parameters = new_parameters(n);
  const OpDef* op = find_op(n, model_);
  layer.macs = multiply_accumulates(n, op);
  if (const Value* first = n.output(0)) layer.output = first->type.str();
  if (!is_constant_node(n))
    for (const Value* v : n.outputs())
      if (v != nullptr) layer.output_bytes += bytes_of(*v);
  if (op == nullptr) note(fmt::format("{}: what this operator computes is not known", layer.op_type));
  GraphCost cost{layer.macs, layer.output_bytes, 0};
  stats_.layers.push_back(std::move(layer));
  const GraphCost inside = subgraphs(n, path, times);
  cost.macs += inside.macs;
  cost.bytes += inside.bytes;
  cost.peak = inside.peak;
  return cost;
}

GraphCost StatsCounter::graph(const Graph& g, const std::string& path, const Count& times) {
  Liveness liveness(g);
  GraphCost total;
  for (const auto& n : g.nodes()) {
    const std::string name = path.empty() ? name_of(*n) : path + "/" + name_of(*n);
    const GraphCost cost = node(*n, name, times);
    total.macs += cost.macs;
    total.bytes += cost.bytes;
    liveness.run(*n, cost.peak);
  }
  total.peak = liveness.peak;
  stats_.peak_is_bound = stats_.peak_is_bound || liveness.is_bound;
  for (const auto& v : g.values())
    if (v->is_constant() && seen_.insert(v.get()).second) constant(v->tensor(), v->type, false);
  return total;
}

void sum_operators(ModelStats& stats) {
  std::unordered_map<std::string, size_t> index;
  for (const LayerStats& layer : stats.layers) {
    const auto [it, is_new] = index.emplace(layer.op_type, stats.operators.size());
    if (is_new) stats.operators.push_back({.op_type = layer.op_type});
    OperatorStats& o = stats.operators[it->second];
    ++o.nodes;
    o.parameters += layer.parameters;
    if (!layer.is_counted) continue;
    o.macs += layer.macs * layer.times;
    o.output_bytes += layer.output_bytes * layer.times;
  }
}

}  // namespace

ModelStats model_stats(const Model& model) {
  check_depth(model);
  const ExtentNames names(model);
  ModelStats stats;
  stats.name = model.graph->name;
  const GraphCost cost = StatsCounter(model, stats).graph(*model.graph, "", 1);
  stats.nodes = static_cast<int64_t>(stats.layers.size());
  stats.macs = cost.macs;
  stats.activation_bytes = cost.bytes;
  for (const Value* v : model.graph->inputs) stats.activation_bytes += bytes_of(*v);
  stats.peak_bytes = cost.peak;
  sum_operators(stats);
  return stats;
}

}  // namespace assay
