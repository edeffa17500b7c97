#include <algorithm>
#include <charconv>

#include "assay/edit.h"
#include "base/similar_name.h"

namespace assay {

namespace {

constexpr std::string_view kNodePrefix = "onnx_graphsurgeon_node_";

Tensor to_floats(const std::vector<double>& numbers) {
  return Tensor::vector<float>(std::vector<float>(numbers.begin(), numbers.end()));
}

}  // namespace

LayerArgument::LayerArgument(std::vector<int64_t> numbers)
    : data_(Tensor::vector<int64_t>(numbers)), is_list_(true) {}
LayerArgument::LayerArgument(std::vector<double> numbers) : data_(to_floats(numbers)), is_list_(true) {}
LayerArgument::LayerArgument(int64_t number)
    : data_(Tensor::vector<int64_t>({number}).reshaped(Shape{})), is_list_(true) {}
LayerArgument::LayerArgument(double number) : data_(to_floats({number}).reshaped(Shape{})), is_list_(true) {}

/// Converts arguments to values of one graph and assigns names.
class LayerNames {
 public:
  explicit LayerNames(Graph& graph) : graph_(graph) {}

  Value* value_of(const LayerArgument& a) {
    if (Value* const* v = std::get_if<Value*>(&a.data_)) return *v;
    if (const auto* name = std::get_if<std::string>(&a.data_)) return graph_.add_value(value_name(*name));
    const char* prefix = a.is_list_ ? "onnx_graphsurgeon_lst_constant" : "onnx_graphsurgeon_constant";
    return graph_.add_constant(value_name(prefix), std::get<Tensor>(a.data_));
  }

  std::string node_name() { return fmt::format("{}{}", kNodePrefix, next_number()); }

 private:
  std::string value_name(const std::string& prefix) {
    std::string name;
    do name = fmt::format("{}_{}", prefix, next_number());
    while (graph_.lookup(name) != nullptr);
    return name;
  }

  int64_t next_number() {
    if (graph_.name_index == 0) skip_numbers_of_nodes();
    return graph_.name_index++;
  }

  /// Only once, for a graph with foreign names: doing it each time would be quadratic.
  void skip_numbers_of_nodes() {
    for (const auto& n : graph_.nodes()) {
      const std::string_view name = n->name;
      if (!name.starts_with(kNodePrefix)) continue;
      const std::string_view digits = name.substr(kNodePrefix.size());
      int32_t number = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error == std::errc() && end == digits.data() + digits.size())
        graph_.name_index = std::max(graph_.name_index, int64_t{number} + 1);
    }
  }

  Graph& graph_;
};

std::vector<Value*> layer(Graph& graph, std::string op_type, const LayerArguments& inputs,
                          const LayerArguments& outputs, LayerSpec spec) {
  LayerNames names(graph);
  std::vector<Value*> in, out;
  for (const LayerArgument& a : inputs) in.push_back(names.value_of(a));
  for (const LayerArgument& a : outputs) out.push_back(names.value_of(a));
  if (spec.name.empty()) spec.name = names.node_name();
  graph.add_node(std::move(op_type), std::move(in), out, std::move(spec.attributes), std::move(spec.name),
                 std::move(spec.domain));
  return out;
}

void LayerRegistry::add(std::string name, Function function, std::vector<int64_t> opsets) {
  entries_.push_back({std::move(name), std::move(opsets), std::move(function)});
}

std::vector<Value*> LayerRegistry::call(const Model& model, Graph& graph, std::string_view name,
                                        const LayerArguments& arguments) const {
  const int64_t opset = model.opset();
  const Entry* chosen = nullptr;
  std::string other_opsets;
  std::vector<std::string> known;
  for (const Entry& e : entries_) {
    known.push_back(e.name);
    if (e.name != name) continue;
    if (std::find(e.opsets.begin(), e.opsets.end(), opset) != e.opsets.end()) chosen = &e;
    if (e.opsets.empty() && (chosen == nullptr || chosen->opsets.empty())) chosen = &e;
    for (const int64_t o : e.opsets) other_opsets += fmt::format("{}{}", other_opsets.empty() ? "" : ", ", o);
  }
  if (chosen != nullptr) return chosen->function(graph, arguments);
  for (const assay::Function& f : model.functions) {
    known.push_back(f.name);
    if (f.name == name) return call_function(graph, f, arguments);
  }
  if (!other_opsets.empty())
    fail(ErrorCode::kNotFound, "no function is registered as '{}' for opset {}; there is one for opset {}",
         name, opset, other_opsets);
  const auto near = std::find_if(known.begin(), known.end(),
                                 [&](const std::string& k) { return is_similar_name(k, name); });
  fail(ErrorCode::kNotFound, "no function is registered as '{}'{}", name,
       near == known.end() ? "" : fmt::format("; did you mean '{}'?", *near));
}

}  // namespace assay
