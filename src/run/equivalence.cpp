#include "run/equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "arbiter/arbiter.h"
#include "backends/onnxrt_nodes.h"
#include "backends/session_info.h"
#include "base/log.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"
#include "reference/interpreter.h"

namespace assay {
namespace {

/// Sizes for an open extent: by trial, and another one for each symbol.
constexpr int64_t kSizes[] = {2, 1, 3, 5, 4, 7};

/// What a given shape says of the symbols that its input declares: the other inputs have them, too.
void bind_symbols(const Graph& g, const InputShape& given, std::map<std::string, int64_t>& symbols) {
  const auto input =
      std::find_if(g.inputs.begin(), g.inputs.end(), [&](const Value* v) { return v->name() == given.name; });
  if (input == g.inputs.end() || !(*input)->type.has_shape()) return;
  const Dims& declared = *(*input)->type.dims;
  for (size_t i = 0; i < declared.size() && i < given.dims.size(); ++i)
    if (declared[i].is_symbol() && given.dims[i].is_known())
      symbols.emplace(declared[i].symbol(), given.dims[i].value());
}

/// Gives the open extents of the changed model's inputs a size each; equal symbols get equal sizes.
std::vector<InputShape> close_shapes(const Graph& g, const std::vector<InputShape>& given, int trial) {
  std::vector<InputShape> shapes;
  std::map<std::string, int64_t> symbols;
  for (const InputShape& s : given) bind_symbols(g, s, symbols);
  size_t next = static_cast<size_t>(trial);
  for (const Value* v : g.inputs) {
    const auto names = [&](const InputShape& s) { return s.name == v->name(); };
    if (!v->type.has_shape() || std::any_of(given.begin(), given.end(), names)) continue;
    InputShape shape{.name = v->name(), .dims = {}};
    for (const Dim& d : *v->type.dims) {
      if (d.is_known()) {
        shape.dims.push_back(d);
        continue;
      }
      const std::string symbol =
          d.is_symbol() ? d.symbol() : fmt::format("{}#{}", v->name(), shape.dims.size());
      const auto [it, is_new] = symbols.emplace(symbol, kSizes[next % std::size(kSizes)]);
      if (is_new) ++next;
      shape.dims.emplace_back(it->second);
    }
    shapes.push_back(std::move(shape));
  }
  shapes.insert(shapes.end(), given.begin(), given.end());
  return shapes;
}

/// The feed in the order of another graph's inputs, by name. An input that the graph has and the feed lacks
/// makes it undefined.
std::vector<Tensor> reorder(const TensorList& feed, const Graph& g) {
  std::vector<Tensor> list;
  for (const Value* v : g.inputs) {
    const Tensor* found = nullptr;
    for (const NamedTensor& t : feed)
      if (t.name == v->name()) found = &t.tensor;
    require(found != nullptr, ErrorCode::kUnsupported, "the changed model has no input '{}'", v->name());
    list.push_back(*found);
  }
  return list;
}

/// The outputs in float64, each rounded once to its declared type.
StoredTensorList evaluate(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed) {
  StoredTensorList outputs;
  Interpreter interpreter(model, {.precision = ReferencePrecision::kFloat64, .foreign = onnxrt_nodes(model)});
  interpreter.run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
    if (lanes[0].is_container()) return;
    const Tensor t =
        is_float(lanes[0].dtype()) && v.type.is_tensor() ? rounded(lanes[0], v.type.dtype) : lanes[0];
    outputs.push_back({v.name(), StoredTensor(t)});
  });
  return outputs;
}

/// Whether both gave the same bits.
bool identical(const StoredTensorList& a, const StoredTensorList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.tensor.load().identical(y.tensor.load());
  });
}

TensorList generated_feed(const Graph& g, DataLoaderOptions data, int trial) {
  data.seed += trial;
  data.shapes = close_shapes(g, data.shapes, trial);
  return DataLoader(data).load(0, tensor_infos(g.inputs), DataLoader::Report::kNo);
}

std::string shapes_text(const TensorList& feed) {
  std::string text;
  for (const NamedTensor& t : feed)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", t.name, t.tensor.shape().str());
  return text;
}

/// The interpreter calls no functions: a model that has some is compared as a copy with their bodies in
/// place.
std::shared_ptr<Model> without_calls(const std::shared_ptr<Model>& model) {
  if (model->functions.empty()) return model;
  std::shared_ptr<Model> inlined = clone_model(*model);
  pass_inline_functions::def.run(*inlined);
  return inlined;
}

}  // namespace

std::string find_difference(const std::shared_ptr<Model>& with_calls,
                            const std::shared_ptr<Model>& changed_with_calls,
                            const EquivalenceOptions& options) {
  const std::shared_ptr<Model> original = without_calls(with_calls),
                               changed = without_calls(changed_with_calls);
  const TopologicalScope sorted_original(*original), sorted_changed(*changed);
  for (const std::shared_ptr<Model>& m : {original, changed})
    infer_shapes(*m, {.on_problem = [](const Node&, const std::string&) {}});
  int done = 0;
  std::string refused;
  const int given = static_cast<int>(options.loaded.size());
  for (int trial = 0; trial < given + options.trials; ++trial) {
    const TensorList feed = trial < given ? options.loaded[static_cast<size_t>(trial)]
                                          : generated_feed(*changed->graph, options.data, trial - given);
    std::vector<Tensor> inputs;
    StoredTensorList expected;
    try {
      inputs = reorder(feed, *original->graph);
      expected = evaluate(original, inputs);
    } catch (const Error& e) {
      refused = e.what();
      log::verbose("Trial {} is left out: {}", trial + 1, refused);
      continue;
    }
    StoredTensorList results;
    try {
      results = evaluate(changed, reorder(feed, *changed->graph));
    } catch (const Error& e) {
      return fmt::format("the changed model cannot be evaluated where the original can: {}", e.what());
    }
    if (results.empty()) return "the changed model gives no tensor that could be compared";
    ++done;
    log::info("Trial {} | {} | {} output(s)", done, shapes_text(feed), results.size());
    if (identical(expected, results)) {
      log::info("    Every element of every output is the original's");
      continue;
    }
    const ArbiterCase suspect{"changed model", &results};
    const Arbitration arbitration = arbitrate(original, inputs, {&suspect, 1});
    report(arbitration, {});
    for (const ArbiterVerdict& o : arbitration.outputs)
      if (o.verdict == Verdict::kWrong || o.verdict == Verdict::kUnclear || o.verdict == Verdict::kNotJudged)
        return fmt::format(
            "output '{}' differs from the original's by {:.5g} where rounding explains {:.5g}{}", o.output,
            o.worst_error, o.worst_explained, o.problem.empty() ? "" : " (" + o.problem + ")");
    if (arbitration.outputs.empty()) return "the changed model shares no output with the original";
  }
  require(done > 0, ErrorCode::kUnsupported, "the models could not be compared: {}", refused);
  return {};
}

}  // namespace assay
