#include "debug/anonymous.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "tensor/convert.h"
#include "tensor/random_weights.h"

namespace assay::debug {
namespace {

constexpr uint64_t kSeed = 1;
constexpr const char* kFunctionDomain = "local";

class NameRemover {
 public:
  explicit NameRemover(Model& model) : model_(model) {}

  void run() {
    model_.doc_string = model_.domain = model_.producer_name = model_.producer_version = "";
    model_.metadata.clear();
    model_.extra_fields.clear();
    model_.path.clear();
    for (const Function& f : model_.functions) function_domains_.insert(f.domain);
    rename_functions();
    for (Function& f : model_.functions) {
      renamed_ = &renamed_of_.at(f.name);
      rename_attributes(f);
      graph(*f.body);
    }
    renamed_ = nullptr;
    graph(*model_.graph);
    for (Function& f : model_.functions) imports(f.opsets);
    imports(model_.opsets);
  }

 private:
  using Names = std::unordered_map<std::string, std::string>;

  static std::string key_of(const std::string& domain, const std::string& name, const std::string& overload) {
    return fmt::format("{}::{}::{}", domain, name, overload);
  }

  /// Calls of local functions go with their names.
  void rename_functions() {
    size_t count = 0;
    for (Function& f : model_.functions) {
      std::string name = fmt::format("function_{}", count++);
      names_of_functions_[key_of(f.domain, f.name, f.overload)] = name;
      Names& attributes = renamed_of_[name];
      for (const std::string& a : f.attribute_names)
        attributes.try_emplace(a, fmt::format("attribute_{}", attributes.size()));
      for (const Attribute& a : f.attribute_defaults)
        attributes.try_emplace(a.name, fmt::format("attribute_{}", attributes.size()));
      f.name = std::move(name);
      f.domain = kFunctionDomain;
      f.overload.clear();
      f.doc_string.clear();
      f.metadata.clear();
      f.extra_fields.clear();
    }
  }
  void rename_attributes(Function& f) {
    for (std::string& name : f.attribute_names) name = renamed_->at(name);
    for (Attribute& a : f.attribute_defaults) {
      a.name = renamed_->at(a.name);
      attribute(a);
    }
  }

  /// Of operators that the nodes use, and of the functions, under their new domain.
  void imports(std::vector<OpsetImport>& opsets) const {
    int64_t version = 0;
    for (OpsetImport& o : opsets) {
      o.extra_fields.clear();
      if (function_domains_.contains(o.domain)) version = o.version;
    }
    std::erase_if(opsets, [&](const OpsetImport& o) {
      return !o.domain.empty() && o.domain != "ai.onnx" && !used_domains_.contains(o.domain);
    });
    const bool is_there = std::any_of(opsets.begin(), opsets.end(),
                                      [](const OpsetImport& o) { return o.domain == kFunctionDomain; });
    if (version > 0 && !is_there) opsets.push_back({.domain = kFunctionDomain, .version = version});
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
    const Names* of_call = nullptr;
    if (const auto it = names_of_functions_.find(key_of(n.domain, n.op_type, n.overload));
        it != names_of_functions_.end()) {
      n.op_type = it->second;
      n.domain = kFunctionDomain;
      n.overload.clear();
      of_call = &renamed_of_.at(n.op_type);
    }
    used_domains_.insert(n.domain);
    for (Attribute& a : n.attributes) {
      if (of_call != nullptr)
        if (const auto it = of_call->find(a.name); it != of_call->end()) a.name = it->second;
      attribute(a);
    }
  }

  void attribute(Attribute& a) {
    a.doc_string.clear();
    a.extra_fields.clear();
    a.tensor_sources = nullptr;
    if (renamed_ != nullptr)
      if (const auto it = renamed_->find(a.ref_attr_name); it != renamed_->end())
        a.ref_attr_name = it->second;
    if (const auto* body = a.get_if<std::shared_ptr<Graph>>()) graph(**body);
    if (const auto* bodies = a.get_if<Attribute::Graphs>())
      for (const auto& body : *bodies) graph(*body);
    if (auto* t = std::get_if<Type>(&a.data)) type(*t);
    if (auto* types = std::get_if<Attribute::Types>(&a.data))
      for (Type& t : *types) type(t);
  }

  Model& model_;
  std::set<std::string> function_domains_, used_domains_;
  Names symbols_, names_of_functions_;
  std::unordered_map<std::string, Names> renamed_of_;  ///< attributes, by the function's new name
  const Names* renamed_ = nullptr;                     ///< those of the function whose body it is in
  size_t values_ = 0, nodes_ = 0, graphs_ = 0;
};

bool is_small_integer(DType type) {
  return type == DType::kInt8 || type == DType::kUInt8 || type == DType::kInt16 || type == DType::kUInt16 ||
         type == DType::kInt32;
}

bool is_weight(const UnalignedTensor& t) {
  if (!t.defined() || t.is_container()) return false;
  if (t.dtype() == DType::kString) return t.numel() > 0;
  return (is_float(t.dtype()) || is_small_integer(t.dtype())) && t.numel() > 1;
}

/// Random numbers with the mean and the spread of these.
Tensor floats_alike(const Tensor& t, const std::string& name) {
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
  return random_weights(kSeed, name, t.shape(), Init::normal(std::sqrt(variance), mean));
}

/// Random integers between the smallest and the largest of these.
Tensor integers_alike(const Tensor& t, const std::string& name) {
  const Tensor numbers = to_float64(t);
  const auto values = numbers.span<double>();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double middle = (*least + *most) / 2, reach = (*most - *least) / 2;
  Tensor drawn = random_weights(kSeed, name, t.shape(), Init::uniform(reach, middle));
  for (float& v : drawn.mutable_span<float>())
    v = static_cast<float>(std::clamp<double>(std::round(v), *least, *most));
  return drawn;
}

std::string string_alike(const std::string& name, size_t i) { return fmt::format("{}_{}", name, i); }

Tensor alike(const Tensor& t, const std::string& name) {
  if (t.dtype() == DType::kString) {
    Tensor strings = Tensor::allocate(t.dtype(), t.shape());
    size_t i = 0;
    for (std::string& s : strings.mutable_span<std::string>()) s = string_alike(name, i++);
    return strings;
  }
  const Tensor drawn = is_float(t.dtype()) ? floats_alike(t, name) : integers_alike(t, name);
  return convert(drawn, t.dtype());
}

/// Goes through all weights of a model, in order, and replaces those that it is asked to.
class Weights {
 public:
  /// `kept`: null to replace nothing.
  explicit Weights(const std::vector<size_t>* kept) : kept_(kept) {}

  size_t go_through(Model& model) {
    for (Function& f : model.functions) {
      for (Attribute& a : f.attribute_defaults) attribute(a);
      graph(*f.body);
    }
    graph(*model.graph);
    return count_;
  }

 private:
  /// Whether the next one is to be replaced; its name. One for each, so that no two weights are equal.
  bool takes_next(std::string& name) {
    name = fmt::format("w{}", count_);
    const size_t i = count_++;
    return kept_ != nullptr && !std::binary_search(kept_->begin(), kept_->end(), i);
  }

  void graph(Graph& g) {
    std::string name;
    for (const auto& v : g.values())
      if (v->is_constant() && is_weight(v->tensor()) && takes_next(name)) {
        v->set_tensor(alike(v->tensor().aligned(), name));
        v->set_tensor_source(nullptr);
      }
    for (const auto& n : g.nodes())
      for (Attribute& a : n->attributes) attribute(a);
  }

  void attribute(Attribute& a) {
    if (const auto* body = a.get_if<std::shared_ptr<Graph>>()) graph(**body);
    if (const auto* bodies = a.get_if<Attribute::Graphs>())
      for (const auto& body : *bodies) graph(*body);
    std::string name;
    if (auto* t = std::get_if<UnalignedTensor>(&a.data); t != nullptr && is_weight(*t) && takes_next(name)) {
      *t = alike(t->aligned(), name);
      a.tensor_sources = nullptr;
    }
    if (auto* list = std::get_if<std::vector<float>>(&a.data);
        list != nullptr && list->size() > 1 && takes_next(name)) {
      const Tensor drawn = floats_alike(Tensor::vector<float>(*list), name);
      const auto values = drawn.span<float>();
      list->assign(values.begin(), values.end());
    }
    if (auto* list = std::get_if<std::vector<std::string>>(&a.data);
        list != nullptr && !list->empty() && takes_next(name))
      for (size_t i = 0; i < list->size(); ++i) (*list)[i] = string_alike(name, i);
  }

  const std::vector<size_t>* kept_;
  size_t count_ = 0;
};

}  // namespace

void remove_names(Model& model) { NameRemover(model).run(); }

// Nothing is replaced, so nothing changes.
size_t count_weights(const Model& model) { return Weights(nullptr).go_through(const_cast<Model&>(model)); }

void replace_weights(Model& model, std::span<const size_t> kept) {
  const std::vector<size_t> own(kept.begin(), kept.end());
  Weights(&own).go_through(model);
}

}  // namespace assay::debug
