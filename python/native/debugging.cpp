// Searches for the cause of a failure.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "assay/comparator.h"
#include "assay/debug.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"
#include "runs.h"

namespace assay::python {
namespace {

using ModelRef = std::shared_ptr<Model>;

poly::LayeredRun layered(const ModelRef& model, const std::string& backend, int threads, bool stored_types) {
  return {.model = model, .backend = backend, .session = session_options(threads, stored_types)};
}

nb::str find_non_finite(const ModelRef& model, const std::string& backend, nb::handle data, int threads,
                        bool stored_types) {
  const poly::RunData source = read_run_data(data);
  const std::string report = interruptible(
      [&] { return poly::find_non_finite(layered(model, backend, threads, stored_types), source); });
  return to_text(report);
}

nb::str measure_ranges(const ModelRef& model, const std::string& backend, nb::handle data, nb::handle types,
                       bool weights, int threads, bool stored_types) {
  const poly::RunData source = read_run_data(data);
  std::vector<DType> wanted;
  for (nb::handle type : nb::iter(types)) wanted.push_back(to_dtype(type));
  const std::string report = interruptible([&] {
    return poly::measure_ranges(layered(model, backend, threads, stored_types), source, wanted, weights);
  });
  return to_text(report);
}

nb::str find_divergence(const ModelRef& first, const std::string& first_backend, const ModelRef& second,
                        const std::string& second_backend, nb::handle data, std::optional<double> atol,
                        std::optional<double> rtol, bool matches_values, int threads) {
  const poly::RunData source = read_run_data(data);
  const std::string report = interruptible([&] {
    return poly::find_divergence(layered(first, first_backend, threads, false),
                                 layered(second, second_backend, threads, false), source,
                                 {.atol = atol, .rtol = rtol, .matches_values = matches_values});
  });
  return to_text(report);
}

/// How check(model) says that a candidate fails: True, or a text.
std::optional<std::string> failure_of(nb::handle said) {
  if (nb::isinstance<nb::str>(said)) {
    const auto text = nb::cast<std::string>(said);
    return text.empty() ? std::nullopt : std::optional(text);
  }
  if (!nb::cast<bool>(nb::bool_(said))) return std::nullopt;
  return "it fails";
}

/// The check of a candidate that Python has begun: what it has returned, or a future of that.
class PythonCheck final : public poly::PendingCheck {
 public:
  explicit PythonCheck(const nb::object& said)
      : kept_(keep(said)), said_(said), is_future_(nb::hasattr(said, "done") && nb::hasattr(said, "result")) {}
  ~PythonCheck() override {
    if (!is_future_ || kept_ == nullptr) return;
    const Locked lock;
    try {
      said_.attr("cancel")();
    } catch (nb::python_error& e) {
      e.discard_as_unraisable("giving up a check");
    }
  }
  bool has_ended() override {
    if (!is_future_) return true;
    const Locked lock;
    InterruptScope::check();
    return nb::cast<bool>(nb::bool_(said_.attr("done")()));
  }
  std::optional<std::string> failure() override {
    const Locked lock;
    const auto found = failure_of(is_future_ ? nb::object(said_.attr("result")()) : nb::borrow(said_));
    kept_ = nullptr;
    return found;
  }

 private:
  std::shared_ptr<const void> kept_;  ///< null: its answer was taken
  nb::handle said_;
  bool is_future_;
};

nb::tuple reduce_model(const ModelRef& model, nb::handle check, nb::handle data, nb::handle shapes,
                       bool any_failure, int repeat, bool anonymises, int jobs) {
  poly::ReduceSettings settings{
      .data = read_run_data(data), .any_failure = any_failure, .repeat = repeat, .anonymises = anonymises};
  if (!shapes.is_none())
    for (auto [name, shape] : nb::cast<nb::dict>(shapes))
      settings.shapes.emplace_back(nb::cast<std::string>(name), to_dims(shape, "the shape of an input"));
  const poly::CheckStart start = [check](const ModelRef& candidate) {
    const Locked lock;
    InterruptScope::check();
    drain_log();
    return std::make_unique<PythonCheck>(check(candidate));
  };
  const poly::Reduced found = interruptible([&] { return poly::reduce_model(model, start, jobs, settings); });
  nb::dict report;
  report["failure"] = to_text(found.failure);
  report["nodes"] = found.nodes;
  report["checks"] = found.checks;
  report["is_flaky"] = found.is_flaky;
  report["has_own_names"] = found.has_own_names;
  report["own_weights"] = found.own_weights;
  return nb::make_tuple(found.model, report);
}

void save_inputs(nb::handle feeds, nb::handle path) {
  std::vector<poly::FeedDict> list;
  for (nb::handle feed : nb::iter(feeds)) {
    poly::FeedDict& tensors = list.emplace_back();
    for (NamedTensor& t : to_tensors(feed, "the input"))
      tensors.emplace(std::move(t.name), std::move(t.tensor));
  }
  const std::string file = to_path(path);
  without_lock([&] { poly::save_inputs(list, file); });
}

}  // namespace

void bind_debugging(nb::module_& m) {
  m.def("type_name", [](nb::handle dtype) { return to_text(array_type_name(to_dtype(dtype))); });
  m.def("find_non_finite", &find_non_finite, nb::arg("model"), nb::arg("backend"), nb::arg("data"),
        nb::arg("threads"), nb::arg("stored_types"));
  m.def("measure_ranges", &measure_ranges, nb::arg("model"), nb::arg("backend"), nb::arg("data"),
        nb::arg("types"), nb::arg("weights"), nb::arg("threads"), nb::arg("stored_types"));
  m.def("find_divergence", &find_divergence, nb::arg("first"), nb::arg("first_backend"), nb::arg("second"),
        nb::arg("second_backend"), nb::arg("data"), nb::arg("atol").none(), nb::arg("rtol").none(),
        nb::arg("matches_values"), nb::arg("threads"));
  m.def("reduce_model", &reduce_model, nb::arg("model"), nb::arg("check"), nb::arg("data"),
        nb::arg("shapes").none(), nb::arg("any_failure"), nb::arg("repeat"), nb::arg("anonymises"),
        nb::arg("jobs"));
  m.def("save_inputs", &save_inputs, nb::arg("feeds"), nb::arg("path"));
}

}  // namespace assay::python
