#include "debug/anonymous.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "tensor/convert.h"
#include "tensor/random_weights.h"

namespace assay::debug {
namespace {

constexpr uint64_t kSeed = 1;

class NameRemover {
 public:
  explicit NameRemover(Model& model) : model_(model) {}

  void run() {
    model_.doc_string = model_.domain = model_.producer_name = model_.producer_version = "";
    model_.metadata.clear();
    model_.extra_fields.clear();
    model_.path.clear();
    rename_functions();
    for (Function& f : model_.functions) graph(*f.body);
    graph(*model_.graph);
  }

 private:
  /// Calls of local functions go with their names.
  void rename_functions() {
    size_t count = 0;
    for (Function& f : model_.functions) {
      std::string name = fmt::format("function_{}", count++);
      names_of_functions_[fmt::format("{}::{}", f.domain, f.name)] = name;
      f.name = std::move(name);
      f.doc_string.clear();
      f.metadata.clear();
      f.extra_fields.clear();
    }
  }

  std::string next(const char* prefix, size_t& count) { return fmt::format("{}{}", prefix, count++); }

  void type(Type& t) {
    t.source = nullptr;
    t.denotation.clear();
    if (!t.dims) return;
    for (Dim& d : *t.dims) {
      if (!d.is_symbol()) continue;
      const auto [it, is_new] = symbols_.try_emplace(d.symbol());
      if (is_new) it->second = fmt::format("n{}", symbols_.size());
      d = Dim::symbol(it->second);
    }
  }

  void graph(Graph& g) {
    g.name = fmt::format("graph_{}", graphs_++);
    g.doc_string.clear();
    g.metadata.clear();
    g.extra_fields.clear();
    g.quantization_annotations.clear();
    // Names that are taken already are given in two steps.
    for (const auto& v : g.values())
      v->rename(fmt::format("\x01{}", values_ + static_cast<size_t>(&v - g.values().data())));
    for (const auto& v : g.values()) {
      v->rename(next("v", values_));
      v->doc_string.clear();
      v->metadata.clear();
      v->set_tensor_source(nullptr);
      type(v->type);
    }
    for (const auto& n : g.nodes()) node(*n);
  }

  void node(Node& n) {
    n.name = next("node_", nodes_);
    n.doc_string.clear();
    n.metadata.clear();
    n.extra_fields.clear();
    if (const auto it = names_of_functions_.find(fmt::format("{}::{}", n.domain, n.op_type));
        it != names_of_functions_.end())
      n.op_type = it->second;
    for (Attribute& a : n.attributes) {
      a.doc_string.clear();
      a.extra_fields.clear();
      if (const auto* body = a.get_if<std::shared_ptr<Graph>>()) graph(**body);
      if (const auto* bodies = a.get_if<Attribute::Graphs>())
        for (const auto& body : *bodies) graph(*body);
    }
  }

  Model& model_;
  std::unordered_map<std::string, std::string> symbols_, names_of_functions_;
  size_t values_ = 0, nodes_ = 0, graphs_ = 0;
};

/// Random numbers with the mean and the spread of these.
Tensor alike(const Tensor& t, const std::string& name) {
  const Tensor numbers = to_float64(t);
  const auto values = numbers.span<double>();
  double sum = 0, squares = 0;
  size_t count = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    sum += v;
    squares += v * v;
    ++count;
  }
  const double mean = count > 0 ? sum / static_cast<double>(count) : 0;
  const double variance = count > 0 ? std::max(0.0, squares / static_cast<double>(count) - mean * mean) : 1;
  return convert(random_weights(kSeed, name, t.shape(), Init::normal(std::sqrt(variance), mean)), t.dtype());
}

}  // namespace

void remove_names(Model& model) { NameRemover(model).run(); }

std::vector<Value*> weights_of(const Graph& graph) {
  std::vector<Value*> weights;
  for (const auto& v : graph.values())
    if (v->is_constant() && v->tensor().defined() && is_float(v->tensor().dtype()) && v->tensor().numel() > 1)
      weights.push_back(v.get());
  return weights;
}

void replace_weights(Model& model, std::span<const size_t> kept) {
  const std::vector<Value*> weights = weights_of(*model.graph);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (std::binary_search(kept.begin(), kept.end(), i)) continue;
    // A name of its own, so that no two weights are equal.
    weights[i]->set_tensor(alike(weights[i]->tensor().aligned(), fmt::format("w{}", i)));
    weights[i]->set_tensor_source(nullptr);
  }
}

}  // namespace assay::debug
