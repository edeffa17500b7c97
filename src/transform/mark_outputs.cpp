#include "transform/mark_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_set>

#include "assay/error.h"
#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/name_pattern.h"
#include "base/python_repr.h"
#include "base/similar_name.h"
#include "graph/clone.h"
#include "graph/topological_scope.h"
#include "naming/graph_path.h"
#include "naming/selector.h"
#include "ops/infer.h"
#include "transform/expose_value.h"

namespace assay {
namespace {

constexpr size_t kMaxHints = 5;

bool is_node_result(const Value& v) { return v.producer() != nullptr; }

/// A node result of a graph or one of its inputs.
class Candidates {
 public:
  explicit Candidates(const Graph& graph) : inputs_(graph.inputs.begin(), graph.inputs.end()) {}
  bool contains(const Value* v) const { return v != nullptr && (is_node_result(*v) || inputs_.contains(v)); }

 private:
  std::unordered_set<const Value*> inputs_;
};

/// Names that contain a missing one, or vice versa, ignoring case; else those nearest to it.
std::vector<std::string> similar_names(const Graph& graph, const std::vector<std::string>& missing) {
  std::vector<std::string> hints, known;
  const Candidates candidates(graph);
  for (const auto& v : graph.values()) {
    if (!candidates.contains(v.get())) continue;
    known.push_back(v->name());
    const bool is_similar = std::any_of(missing.begin(), missing.end(), [&](const std::string& m) {
      return !m.empty() && is_similar_name(v->name(), m);
    });
    if (is_similar && hints.size() < kMaxHints) hints.push_back(v->name());
  }
  for (size_t i = 0; hints.empty() && i < missing.size(); ++i)
    hints = nearest_names(plain_text(missing[i]), std::vector<std::string_view>(known.begin(), known.end()));
  return hints;
}

[[noreturn]] void fail_to_find(const Graph& graph, const std::vector<std::string>& missing) {
  std::string list;
  for (const std::string& name : missing) list += (list.empty() ? "" : ", ") + python_str_repr(name);
  Error error(ErrorCode::kNotFound, "The following outputs were not found in the model: {" + list + "}");
  if (const auto hints = similar_names(graph, missing); !hints.empty())
    error.set_remedy("Similar names are: " + python_list_repr(hints) + ".");
  throw error;
}

/// The tensors of a name or another spec of naming/selector.h; nothing when there are none.
std::vector<Value*> find(Model& model, const Candidates& candidates, const std::string& spec) {
  if (Value* v = model.graph->find_value(spec))
    return candidates.contains(v) ? std::vector<Value*>{v} : std::vector<Value*>();
  std::vector<Value*> found;
  try {
    found = select_values(model, spec);
  } catch (const Error& e) {
    // For other specs than names there is a better sentence than upstream's.
    if (e.code() != ErrorCode::kNotFound || spec.starts_with("op:") || spec.starts_with(kRegexPrefix) ||
        spec.find("::") != std::string::npos)
      throw;
  }
  std::erase_if(found,
                [&](const Value* v) { return &v->graph() == model.graph.get() && !candidates.contains(v); });
  return found;
}

/// A pattern of names by upstream's rule: no tensor has exactly that name.
bool is_wildcard(const Model& model, const std::string& spec) {
  return !spec.starts_with("op:") && !spec.starts_with(kRegexPrefix) && spec.find("::") == spec.npos &&
         spec.find_first_of("*?[]") != spec.npos && model.graph->find_value(spec) == nullptr;
}

/// The tensors, each once.
std::vector<Value*> find_all(Model& model, std::span<const std::string> specs) {
  std::vector<Value*> all;
  std::unordered_set<const Value*> seen;
  std::vector<std::string> missing;
  const Candidates candidates(*model.graph);
  for (const std::string& spec : specs) {
    std::vector<Value*> found = find(model, candidates, spec);
    if (is_wildcard(model, spec)) {
      std::erase_if(
          found, [](const Value* v) { return !is_node_result(*v) || v->producer()->op_type == "Constant"; });
      if (found.empty())
        diag::once(diag::Severity::kWarning, "No tensors matched wildcard pattern: {}",
                   python_str_repr(spec));
      if (found.empty()) continue;
    }
    if (found.empty() && std::find(missing.begin(), missing.end(), spec) == missing.end())
      missing.push_back(spec);
    for (Value* v : found)
      if (seen.insert(v).second) all.push_back(v);
  }
  if (!missing.empty()) fail_to_find(*model.graph, missing);
  return all;
}

/// An output must have a type in the file, unlike
/// an inner value: missing ones are inferred.
void give_types(Model& model) {
  const auto lacks_type = [](const Value* v) { return v->type.kind == Type::Kind::kUnknown; };
  auto& outputs = model.graph->outputs;
  if (std::none_of(outputs.begin(), outputs.end(), lacks_type)) return;
  // On a copy: other values must not change.
  const std::shared_ptr<Model> copy = clone_model(model);
  const TopologicalScope sorted(*copy);
  infer_shapes(*copy, {.on_problem = [](const Node&, const std::string&) {}});
  for (Value* v : outputs) {
    if (!lacks_type(v)) continue;
    const Type& found = copy->graph->find_value(v->name())->type;
    // A rank without an element type, as after an unknown operator, would be refused as a type.
    if (!found.is_tensor() || found.dtype != DType::kUndefined) v->type = found;
  }
}

/// Reports the tensors that are not marked because they only exist while a node runs its body.
void name_unmarked(const Model& model) {
  size_t tensors = 0;
  std::vector<const Node*> holders;
  std::string example;
  for (const GraphPlace& place : graph_places(model)) {
    if (place.holders.empty() || place.function != nullptr) continue;
    const size_t before = tensors;
    for (const auto& node : place.graph->nodes()) {
      if (node->op_type == "Constant") continue;
      for (const Value* v : node->outputs()) {
        if (v == nullptr) continue;
        ++tensors;
        if (example.empty() && place.has_path) example = place.path + "::" + v->name();
      }
    }
    if (tensors > before && (holders.empty() || holders.back() != place.holders.front()))
      holders.push_back(place.holders.front());
  }
  if (tensors == 0) return;
  std::string list;
  for (size_t i = 0; i < holders.size() && i < kMaxHints; ++i)
    list += (i > 0 ? ", " : "") + holders[i]->label();
  if (holders.size() > kMaxHints) list += fmt::format(" and {} more", holders.size() - kMaxHints);
  diag::once(diag::Severity::kWarning,
             "`mark all` leaves out {} tensor(s) in the bodies of {} node(s): {}.{}", tensors, holders.size(),
             list, example.empty() ? "" : "\nName them to see them, as in: " + example);
}

}  // namespace

void mark_outputs(Model& model, std::span<const std::string> names) {
  const std::vector<Value*> values = find_all(model, names);
  if (values.empty())
    fail_expected(ErrorCode::kNotFound, "No outputs were selected. Please check your wildcard patterns.");
  const auto is_inner = [&](const Value* v) { return &v->graph() != model.graph.get(); };
  if (std::any_of(values.begin(), values.end(), is_inner))
    infer_shapes(model, {.on_problem = [](const Node&, const std::string&) {}});
  model.graph->outputs = expose_values(model, values);
  give_types(model);
}

void mark_all_outputs(Model& model) {
  Graph& graph = *model.graph;
  name_unmarked(model);
  graph.outputs.clear();
  for (const auto& node : graph.nodes()) {
    if (node->op_type == "Constant") continue;
    for (Value* output : node->outputs())
      if (output != nullptr) graph.outputs.push_back(output);
  }
  give_types(model);
}

void mark_outputs_by_type(Model& model, std::span<const std::string> op_types, bool add) {
  const auto lower = [](std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  };
  Graph& graph = *model.graph;
  std::set<std::string> known, wanted;
  for (const auto& node : graph.nodes()) known.insert(node->op_type);
  for (const std::string& type : op_types) {
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&](const std::string& k) { return lower(k) == lower(type); });
    if (is_known) {
      wanted.insert(lower(type));
      continue;
    }
    const auto near = nearest_names(type, std::vector<std::string_view>(known.begin(), known.end()));
    diag::error("No ONNX nodes of op type {} were found in the model. {}", python_str_repr(type),
                near.empty() ? "Available op types: " +
                                   python_list_repr(std::vector<std::string>(known.begin(), known.end()))
                             : "Did you mean one of: " + python_list_repr(near) + "?");
  }
  std::vector<Value*> outputs;
  if (add) outputs = graph.outputs;
  std::unordered_set<const Value*> seen(outputs.begin(), outputs.end());
  for (const auto& node : graph.nodes())
    if (wanted.contains(lower(node->op_type)))
      for (Value* v : node->outputs())
        if (v != nullptr && seen.insert(v).second) outputs.push_back(v);
  if (wanted.empty())
    fail(ErrorCode::kNotFound, "no node of the model has any of the op types that outputs are selected by");
  graph.outputs = std::move(outputs);
  give_types(model);
}

void unmark_outputs(Model& model, std::span<const std::string> names) {
  const std::vector<Value*> values = find_all(model, names);
  const std::vector<Value*>& outputs = model.graph->outputs;
  const std::unordered_set<const Value*> given(outputs.begin(), outputs.end());
  const Candidates candidates(*model.graph);
  for (const std::string& name : names) {
    const std::vector<Value*> found = find(model, candidates, name);
    if (found.empty()) continue;  // a pattern, which got a warning
    if (std::any_of(found.begin(), found.end(), [&](const Value* v) { return given.contains(v); })) continue;
    std::vector<std::string> known;
    for (const Value* v : outputs) known.push_back(v->name());
    const std::string hint = spec_hint(name, known);
    diag::once(diag::Severity::kWarning,
               "{} is not an output of the model, so there is nothing to leave out.{}{}",
               python_str_repr(name), hint.empty() ? "" : " ", hint);
  }
  const std::unordered_set<const Value*> left_out(values.begin(), values.end());
  std::erase_if(model.graph->outputs, [&](const Value* output) { return left_out.contains(output); });
}

}  // namespace assay
