// Models: reading, writing, editing as a whole, evaluating.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "assay/backend_set.h"
#include "assay/edit.h"
#include "assay/io.h"
#include "assay/lint.h"
#include "assay/loaders.h"
#include "assay/transform.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"

namespace assay::python {
namespace {

using ModelRef = std::shared_ptr<Model>;

ImportOptions import_options(nb::handle external_data, bool ignore_external_data) {
  ImportOptions options;
  if (!external_data.is_none()) options.external_data_dir = to_path(external_data);
  options.ignore_external_data = ignore_external_data;
  return options;
}

ModelRef load(nb::handle path, nb::handle external_data, bool ignore_external_data) {
  const std::string file = to_path(path);
  const ImportOptions options = import_options(external_data, ignore_external_data);
  return without_lock([&] { return load_model(file, options); });
}

ModelRef from_bytes(nb::handle bytes, const std::string& name, nb::handle external_data,
                    bool ignore_external_data) {
  BorrowedBytes b = borrow_bytes(bytes, "the model");
  const ImportOptions options = import_options(external_data, ignore_external_data);
  return without_lock([&] { return parse_model(b.bytes, b.owner, name, options); });
}

void save(const ModelRef& model, nb::handle path, bool external_data, const std::string& external_data_path,
          int64_t threshold, bool one_file_per_tensor) {
  const std::string file = to_path(path);
  const ExportOptions options{.external_data = external_data,
                              .external_data_path = external_data_path,
                              .external_data_threshold = threshold,
                              .one_file_per_tensor = one_file_per_tensor};
  without_lock([&] { save_model(*model, file, options); });
}

nb::bytes to_bytes(const ModelRef& model) {
  const std::string bytes = without_lock([&] { return serialize_model(*model); });
  return nb::bytes(bytes.data(), bytes.size());
}

FoldOptions fold_options(bool shapes, const std::optional<int64_t>& size_threshold) {
  FoldOptions options;
  options.fold_shapes = shapes;
  options.size_threshold = size_threshold;
  return options;
}

nb::tuple fold(const ModelRef& model, bool shapes, const std::optional<int64_t>& size_threshold) {
  const FoldOptions options = fold_options(shapes, size_threshold);
  ModelRef folded;
  const FoldReport report = interruptible([&] {
    folded = copy(*model);
    FoldReport r = assay::fold_constants(*folded, options);
    cleanup(*folded);
    return r;
  });
  nb::list kept;
  for (const auto* list : {&report.too_large, &report.failed})
    for (const FoldReport::Kept& k : *list) kept.append(nb::make_tuple(to_text(k.node), to_text(k.reason)));
  nb::dict counts;
  counts["folded_nodes"] = report.folded_nodes;
  counts["flattened_ifs"] = report.flattened_ifs;
  counts["elided_casts"] = report.elided_casts;
  counts["kept"] = kept;
  return nb::make_tuple(folded, counts);
}

std::vector<std::pair<std::string, Dims>> shapes_of(nb::handle shapes) {
  std::vector<std::pair<std::string, Dims>> list;
  if (shapes.is_none()) return list;
  for (auto [name, shape] : nb::cast<nb::dict>(shapes)) {
    const auto text = nb::cast<std::string>(name);
    list.emplace_back(text, to_dims(shape, "the shape of '" + text + "'"));
  }
  return list;
}

nb::tuple simplify(const ModelRef& model, bool prove, nb::handle shapes, nb::handle data, int trials,
                   double seconds, bool keep_node_metadata, const std::optional<int64_t>& size_threshold) {
  poly::SimplifySettings settings{.fold = fold_options(true, size_threshold),
                                  .keep_node_metadata = keep_node_metadata,
                                  .prove = prove,
                                  .shapes = shapes_of(shapes),
                                  .trials = trials,
                                  .seconds = seconds};
  if (!data.is_none())
    for (nb::handle feed : nb::iter(data)) settings.data.push_back(to_tensors(feed, "the data"));
  const poly::Simplified done = interruptible([&] { return poly::simplify_model(model, settings); });
  nb::dict report, edits;
  for (const auto& [pass, count] : done.edits) edits[to_text(pass)] = count;
  nb::list refused;
  for (const auto& r : done.refused)
    refused.append(nb::make_tuple(to_text(r.pass), to_text(r.node), to_text(r.reason)));
  report["edits"] = edits;
  report["folded_nodes"] = done.folded_nodes;
  report["flattened_ifs"] = done.flattened_ifs;
  report["elided_casts"] = done.elided_casts;
  report["is_proved"] = done.is_proved;
  report["trials"] = done.trials;
  report["proved_edits"] = done.proved_edits;
  report["refused"] = refused;
  return nb::make_tuple(done.model, report);
}

nb::tuple convert_opset(const ModelRef& model, int64_t version, const std::string& domain) {
  const poly::Converted done =
      without_lock([&] { return poly::convert_model_opset(model, version, domain); });
  nb::list notes;
  for (const std::string& note : done.notes) notes.append(to_text(note));
  nb::dict report;
  report["from_version"] = done.from;
  report["rewritten"] = done.rewritten;
  report["added"] = done.added;
  report["notes"] = notes;
  return nb::make_tuple(done.model, report);
}

/// name, (name, shape), (name, shape, type) with None for what is not said.
poly::CutPoint cut_point(nb::handle point) {
  if (nb::isinstance<nb::str>(point)) return {.name = nb::cast<std::string>(point)};
  const nb::tuple parts = to_parts(point, 1, "end of a part: a name, or (name, shape, dtype)");
  poly::CutPoint cut{.name = nb::cast<std::string>(parts[0])};
  if (parts.size() > 1 && !parts[1].is_none())
    cut.dims = to_dims(parts[1], "the shape of '" + cut.name + "'");
  if (parts.size() > 2 && !parts[2].is_none()) cut.dtype = to_dtype(parts[2]);
  return cut;
}

std::vector<poly::CutPoint> cut_points(nb::handle points) {
  std::vector<poly::CutPoint> list;
  if (points.is_none()) return list;
  if (nb::isinstance<nb::str>(points)) return {cut_point(points)};
  for (nb::handle p : nb::iter(points)) list.push_back(cut_point(p));
  return list;
}

ModelRef extract(const ModelRef& model, nb::handle inputs, nb::handle outputs) {
  return without_lock([&, in = cut_points(inputs), out = cut_points(outputs)] {
    return poly::ExtractSubgraph(model, in, out)();
  });
}

ModelRef with_outputs(const ModelRef& model, nb::handle outputs, nb::handle exclude, bool mark_all) {
  poly::Outputs o{.mark_all = mark_all};
  if (!outputs.is_none()) o.outputs = to_names(outputs, "outputs");
  if (!exclude.is_none()) o.exclude_outputs = to_names(exclude, "exclude");
  return without_lock([&] { return poly::ModifyOutputs(model, o)(); });
}

nb::list lint(nb::handle path, nb::handle external_data, nb::handle shapes) {
  lint::LintOptions options{.path = to_path(path),
                            .import = import_options(external_data, false),
                            .input_shapes = shapes_of(shapes)};
  const lint::Findings found = without_lock([&] { return lint::lint_model(options); });
  nb::list list;
  for (const lint::Finding& f : found.entries)
    list.append(nb::make_tuple(to_text(f.rule), to_text(lint::level_name(f.level)), to_text(f.source),
                               to_text(f.message), to_text(f.node), to_text(f.op_type)));
  return list;
}

nb::list value_list(const std::vector<Value*>& values) {
  nb::list list;
  for (const Value* v : values) list.append(describe_value(v->name(), v->type));
  return list;
}

nb::list initializer_names(const ModelRef& model) {
  nb::list list;
  for (const auto& v : model->graph->values())
    if (v->is_constant()) list.append(to_text(v->name()));
  return list;
}

nb::object initializer(const ModelRef& model, const std::string& name) {
  const Value* v = model->graph->find_value(name);
  if (v == nullptr || !v->is_constant())
    fail(ErrorCode::kNotFound, "the model has no initializer '{}'", name);
  if (!v->tensor().defined())
    fail(ErrorCode::kNotFound, "the initializer '{}' has no data: they were stripped or not loaded", name);
  return to_array(v->tensor());
}

// ---- evaluation ----

/// The graph's outputs become the named values, each once.
void select_outputs(Model& model, const std::vector<std::string>& names) {
  Graph& g = *model.graph;
  g.outputs.clear();
  std::unordered_set<const Value*> seen;
  for (const std::string& name : names) {
    Value* v = g.find_value(name);
    if (v == nullptr) fail(ErrorCode::kNotFound, "the model has no tensor '{}'", name);
    if (seen.insert(v).second) g.outputs.push_back(v);
  }
}

/// Values of a model of constants, each operator rounded to its declared types.
std::vector<Tensor> evaluate_model(ModelRef model, const TensorList& feeds,
                                   const std::vector<std::string>& names) {
  select_outputs(*model, names);
  cleanup(*model);
  SessionOptions options;
  options.reference_precision = ReferencePrecision::kStored;
  const auto session = poly::SessionFromOnnx(model, options, "reference")();
  std::vector<Tensor> inputs;
  for (const TensorInfo& input : session->inputs()) {
    const Tensor* t = find(feeds, input.name);
    if (t == nullptr) fail(ErrorCode::kInvalidArgument, "the input '{}' is not fed", input.name);
    inputs.push_back(*t);
  }
  std::unordered_map<std::string, Tensor> outputs;
  session->run(inputs, [&](size_t i, Tensor t) { outputs[session->outputs()[i].name] = std::move(t); });
  std::vector<Tensor> results;
  for (const std::string& name : names) results.push_back(outputs.at(name));
  return results;
}

nb::list evaluate(nb::handle model, nb::handle feeds, nb::handle names) {
  const TensorList fed = feeds.is_none() ? TensorList() : to_tensors(feeds, "the input");
  const std::vector<std::string> wanted = to_names(names, "names");
  ModelRef given;
  BorrowedBytes bytes;
  if (!nb::try_cast(model, given)) bytes = borrow_bytes(model, "the model");
  const std::vector<Tensor> results = interruptible([&] {
    ModelRef own =
        given != nullptr ? copy(*given) : parse_model(bytes.bytes, bytes.owner, "a model in memory");
    return evaluate_model(std::move(own), fed, wanted);
  });
  nb::list list;
  for (const Tensor& t : results) list.append(to_array(t));
  return list;
}

}  // namespace

void bind_models(nb::module_& m) {
  nb::class_<Model> model(m, "Model");
  model.def_prop_ro("inputs", [](const ModelRef& s) { return value_list(s->graph->inputs); })
      .def_prop_ro("outputs", [](const ModelRef& s) { return value_list(s->graph->outputs); })
      .def_prop_ro("name", [](const ModelRef& s) { return to_text(s->graph->name); })
      .def_prop_ro("doc_string", [](const ModelRef& s) { return to_text(s->doc_string); })
      .def_prop_ro("producer_name", [](const ModelRef& s) { return to_text(s->producer_name); })
      .def_prop_ro("producer_version", [](const ModelRef& s) { return to_text(s->producer_version); })
      .def_prop_ro("ir_version", [](const ModelRef& s) { return s->ir_version; })
      .def_prop_ro("path", [](const ModelRef& s) { return to_text(s->path); })
      .def_prop_ro("node_count", [](const ModelRef& s) { return s->graph->nodes().size(); })
      .def_prop_ro("opsets",
                   [](const ModelRef& s) {
                     nb::dict opsets;
                     for (const OpsetImport& o : s->opsets)
                       opsets[to_text(canonical_domain(o.domain))] = o.version;
                     return opsets;
                   })
      .def_prop_ro("metadata",
                   [](const ModelRef& s) {
                     nb::dict metadata;
                     for (const auto& [key, value] : s->metadata) metadata[to_text(key)] = to_text(value);
                     return metadata;
                   })
      .def_prop_ro("initializer_names", &initializer_names)
      .def("initializer", &initializer, nb::arg("name"))
      .def("save", &save, nb::arg("path"), nb::arg("external_data") = false,
           nb::arg("external_data_path") = "", nb::arg("external_data_threshold") = 1024,
           nb::arg("one_file_per_tensor") = false)
      .def("to_bytes", &to_bytes)
      .def("copy", [](const ModelRef& s) { return copy(*s); })
      .def("fold_constants", &fold, nb::arg("shapes") = true, nb::arg("size_threshold") = nb::none())
      .def("simplify", &simplify, nb::arg("prove") = false, nb::arg("shapes") = nb::none(),
           nb::arg("data") = nb::none(), nb::arg("trials") = 30, nb::arg("seconds") = 20.0,
           nb::arg("keep_node_metadata") = false, nb::arg("size_threshold") = nb::none())
      .def("convert_opset", &convert_opset, nb::arg("version"), nb::arg("domain") = "")
      .def("extract", &extract, nb::arg("inputs") = nb::none(), nb::arg("outputs") = nb::none())
      .def("with_outputs", &with_outputs, nb::arg("outputs") = nb::none(), nb::arg("exclude") = nb::none(),
           nb::arg("mark_all") = false)
      .def("infer_shapes",
           [](const ModelRef& s) { return without_lock([&] { return poly::InferShapes(s)(); }); })
      .def("to_float16",
           [](const ModelRef& s) { return without_lock([&] { return poly::ConvertToFp16(s)(); }); })
      .def("toposort", [](const ModelRef& s) {
        return without_lock([&] {
          ModelRef sorted = copy(*s);
          toposort(*sorted);
          return sorted;
        });
      });
  bind_inspection(m, model);
  m.def("load_model", &load, nb::arg("path"), nb::arg("external_data") = nb::none(),
        nb::arg("ignore_external_data") = false);
  m.def("parse_model", &from_bytes, nb::arg("bytes"), nb::arg("name") = "a model in memory",
        nb::arg("external_data") = nb::none(), nb::arg("ignore_external_data") = false);
  m.def("lint", &lint, nb::arg("path"), nb::arg("external_data") = nb::none(),
        nb::arg("shapes") = nb::none());
  m.def("evaluate", &evaluate, nb::arg("model"), nb::arg("feeds").none(), nb::arg("names"));
}

}  // namespace assay::python
