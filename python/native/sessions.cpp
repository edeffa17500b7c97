// Models on backends, and data for them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "assay/backend_set.h"
#include "assay/comparator.h"
#include "assay/loaders.h"
#include "assay/onnxruntime.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"

namespace assay::python {

SessionOptions session_options(int threads, bool stored_types) {
  SessionOptions options;
  options.threads = threads;
  options.reference_precision = stored_types ? ReferencePrecision::kStored : ReferencePrecision::kFloat64;
  options.on_warning = [](std::string_view text) { collect_message(30, std::string(text)); };
  return options;
}

namespace {

/// A session, and whether it is running: one run at a time.
struct OpenSession {
  std::shared_ptr<Session> session;
  bool is_running = false;
};

OpenSession open_session(const std::shared_ptr<Model>& model, const std::string& backend, int threads,
                         const std::vector<std::string>& providers, bool optimize, bool stored_types) {
  SessionOptions options = session_options(threads, stored_types);
  options.providers = providers;
  options.optimize = optimize;
  return {without_lock([&] { return poly::SessionFromOnnx(model, options, backend)(); })};
}

nb::dict run_session(OpenSession& s, nb::handle feed) {
  const TensorList fed = to_tensors(feed, "the input");
  std::vector<Tensor> inputs;
  for (const TensorInfo& input : s.session->inputs()) {
    const Tensor* t = find(fed, input.name);
    if (t == nullptr) fail(ErrorCode::kInvalidArgument, "the input '{}' is not fed", input.name);
    const Type& type = input.type;
    if (type.is_tensor() && type.dtype != t->dtype())
      fail(ErrorCode::kInvalidArgument, "the input '{}' is {}, and gets {}", input.name,
           array_type_name(type.dtype), array_type_name(t->dtype()));
    if (type.has_shape() && static_cast<int>(type.dims->size()) != t->rank())
      fail(ErrorCode::kInvalidArgument, "the input '{}' is {}, and gets the shape {}", input.name, type.str(),
           t->shape().str());
    inputs.push_back(*t);
  }
  for (const NamedTensor& t : fed) {
    bool known = false;
    for (const TensorInfo& input : s.session->inputs()) known = known || input.name == t.name;
    if (!known) fail(ErrorCode::kNotFound, "the model has no input '{}'", t.name);
  }
  if (std::exchange(s.is_running, true))
    throw Error(ErrorCode::kInvalidArgument, "the session is used by another thread")
        .set_remedy("Open one for each thread.");
  struct Done {
    OpenSession& s;
    ~Done() { s.is_running = false; }
  } const done{s};
  const std::vector<Tensor> outputs = interruptible([&] {
    std::vector<Tensor> given(s.session->outputs().size());
    s.session->run(inputs, [&](size_t i, Tensor t) { given[i] = std::move(t); });
    return given;
  });
  nb::dict result;
  for (size_t i = 0; i < outputs.size(); ++i)
    result[to_text(s.session->outputs()[i].name)] = to_array(outputs[i]);
  return result;
}

nb::list backends() {
  nb::list list;
  for (const Backend* b : built_in_backends().all())
    list.append(nb::make_tuple(to_text(b->name), to_text(b->human_name), to_text(b->summary),
                               to_text(b->probe(SessionOptions()))));
  return list;
}

std::vector<TensorInfo> inputs_of(const Model& model) {
  std::vector<TensorInfo> list;
  for (const Value* v : model.graph->inputs) list.push_back({v->name(), v->type});
  return list;
}

nb::dict random_inputs(const std::shared_ptr<Model>& model, int64_t seed, int64_t iteration,
                       nb::handle shapes, nb::handle ranges) {
  poly::DataLoader::Options options{.seed = seed, .iterations = iteration + 1};
  if (!shapes.is_none())
    for (auto [name, shape] : nb::cast<nb::dict>(shapes))
      options.shapes[nb::cast<std::string>(name)] = to_shape(shape, "the shape of an input");
  if (!ranges.is_none())
    for (auto [name, range] : nb::cast<nb::dict>(ranges)) {
      const nb::tuple parts = to_parts(range, 2, "range of values: (smallest, largest)");
      options.ranges[nb::cast<std::string>(name)] = {nb::cast<double>(parts[0]), nb::cast<double>(parts[1])};
    }
  const poly::FeedDict feed =
      without_lock([&] { return poly::DataLoader(options).load(iteration, inputs_of(*model)); });
  nb::dict result;
  for (const Value* v : model->graph->inputs)
    if (const auto at = feed.find(v->name()); at != feed.end())
      result[to_text(v->name())] = to_array(at->second);
  return result;
}

}  // namespace

void bind_sessions(nb::module_& m) {
  nb::class_<OpenSession>(m, "Session")
      .def_prop_ro("inputs", [](const OpenSession& s) { return describe_values(s.session->inputs()); })
      .def_prop_ro("outputs", [](const OpenSession& s) { return describe_values(s.session->outputs()); })
      .def("run", &run_session, nb::arg("feed"))
      .def_prop_ro("last_run_seconds", [](const OpenSession& s) { return s.session->last_run_seconds(); });
  m.def("open_session", &open_session, nb::arg("model"), nb::arg("backend"), nb::arg("threads") = 0,
        nb::arg("providers") = std::vector<std::string>(), nb::arg("optimize") = true,
        nb::arg("stored_types") = false);
  m.def("backends", &backends);
  m.def(
      "prefer_onnxruntime", [](nb::handle place) { prefer_onnxruntime(to_path(place)); }, nb::arg("place"));
  m.def("random_inputs", &random_inputs, nb::arg("model"), nb::arg("seed") = 1, nb::arg("iteration") = 0,
        nb::arg("shapes") = nb::none(), nb::arg("ranges") = nb::none());
}

}  // namespace assay::python
