#include "run/conformance_inference.h"

#include <filesystem>

#include "graph/clone.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "reference/type_match.h"
#include "run/conformance_data.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Variants of declared input types before inference.
enum class Declared : uint8_t { kAsItIs, kSymbols, kTypesOnly };

constexpr std::pair<Declared, std::string_view> kVariants[] = {
    {Declared::kAsItIs, "as declared"},
    {Declared::kSymbols, "with symbolic inputs"},
    {Declared::kTypesOnly, "with inputs of unknown rank"},
};

void forget_types(Graph& g) {
  for (const auto& v : g.values())
    if (v->producer() != nullptr) v->type = {};
  for (const auto& n : g.nodes())
    for (Attribute& a : n->attributes)
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) forget_types(**sub);
}

std::shared_ptr<Model> inferred(const Model& original, Declared declared) {
  std::shared_ptr<Model> model = clone_model(original);
  if (declared != Declared::kAsItIs) {
    forget_types(*model->graph);
    for (size_t i = 0; i < model->graph->inputs.size(); ++i) {
      Type& type = model->graph->inputs[i]->type;
      if (!type.has_shape()) continue;
      if (declared == Declared::kTypesOnly) {
        type.dims.reset();
        continue;
      }
      for (size_t k = 0; k < type.dims->size(); ++k)
        (*type.dims)[k] = Dim::symbol(fmt::format("in{}.{}", i, k));
    }
  }
  infer_shapes(*model);
  return model;
}

/// One model whose types are compared with evaluation.
struct Variant {
  std::shared_ptr<Model> model;
  std::string_view name;
  Symbols symbols = {};
};

std::string check_data_set(const std::vector<Tensor>& feed, const std::shared_ptr<Model>& model,
                           std::vector<Variant> variants) {
  std::vector<const Value*> all(model->graph->inputs.begin(), model->graph->inputs.end());
  for (const auto& n : model->graph->nodes())
    for (const Value* v : n->outputs())
      if (v != nullptr) all.push_back(v);
  std::string problem;
  Interpreter interpreter(model, {.precision = ReferencePrecision::kStored});
  interpreter.run(
      feed,
      [&](const Value& v, std::span<const Tensor> lanes) {
        for (Variant& variant : variants) {
          if (!problem.empty()) return;
          const Value* same = variant.model->graph->find_value(v.name());
          const std::string d = contradiction(same->type, lanes[0], variant.symbols);
          if (!d.empty()) problem = fmt::format("value '{}' {}: {}", v.name(), variant.name, d);
        }
      },
      all);
  return problem;
}

}  // namespace

ConformanceResult run_inference_case(const std::string& folder) {
  ConformanceResult result{.name = fs::path(folder).filename().string(), .reason = {}};
  try {
    const std::shared_ptr<Model> original = load_model((fs::path(folder) / "model.onnx").string());
    std::vector<Type> inputs;
    for (const Value* v : original->graph->inputs) inputs.push_back(v->type);
    std::vector<Variant> variants;
    for (const auto& [declared, name] : kVariants)
      variants.push_back(
          {with_context([&] { return std::string(name); }, [&] { return inferred(*original, declared); }),
           name});
    for (const std::string& data : conformance_data_sets(folder)) {
      const std::vector<Tensor> feed = load_conformance_values(data, "input", inputs);
      result.reason = check_data_set(feed, variants[0].model, variants);
      if (!result.reason.empty()) break;
    }
  } catch (const std::exception& e) {
    result.reason = e.what();
  }
  if (!result.reason.empty()) result.verdict = ConformanceResult::Verdict::kFailed;
  return result;
}

}  // namespace assay
