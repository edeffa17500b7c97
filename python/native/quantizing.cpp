// Models in 8 and 4 bits.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "assay/quantize.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"
#include "runs.h"

namespace assay::python {
namespace {

using ModelRef = std::shared_ptr<Model>;

/// The settings that scales depend on. `calibration`: (algorithm, quantile, cache).
poly::QuantizeSettings calibration_settings(nb::handle build, nb::handle data, nb::handle calibration) {
  poly::QuantizeSettings settings{.data = read_run_data(data)};
  const nb::tuple scales = to_parts(calibration, 3, "calibration: (algorithm, quantile, cache)");
  settings.engine.config = read_build_settings(build).config;
  settings.engine.calibration_algorithm = calibration_algorithm(nb::cast<std::string>(scales[0]));
  settings.engine.calibration_quantile = nb::cast<double>(scales[1]);
  if (!scales[2].is_none()) settings.engine.calibration_cache = to_path(scales[2]);
  return settings;
}

/// (model, summary, cost as JSON or "", scales or "").
nb::tuple quantize(const std::shared_ptr<Runtime>& runtime, const ModelRef& model, nb::handle build,
                   nb::handle data, nb::handle calibration, bool measures_cost, const std::string& accuracy,
                   nb::handle progress) {
  poly::QuantizeSettings settings = calibration_settings(build, data, calibration);
  settings.measures_cost = measures_cost;
  settings.accuracy = accuracy;
  settings.on_progress = [progress](const std::string& what) {
    const Locked lock;
    InterruptScope::check();
    drain_log();
    if (!progress.is_none()) progress(to_text(what));
  };
  const poly::Quantized done = interruptible([&] { return poly::quantize_model(*runtime, model, settings); });
  return nb::make_tuple(done.model, to_text(done.summary), to_text(done.cost), to_text(done.scales));
}

/// JSON of a part.
nb::str calibration_part(const std::shared_ptr<Runtime>& runtime, const ModelRef& model, nb::handle build,
                         nb::handle data, nb::handle calibration, int64_t first, const std::string& digest) {
  const poly::QuantizeSettings settings = calibration_settings(build, data, calibration);
  return to_text(
      interruptible([&] { return poly::calibration_part(*runtime, model, settings, first, digest); }));
}

nb::str merge_calibration_parts(const std::shared_ptr<Runtime>& runtime,
                                const std::vector<std::string>& parts, std::optional<int64_t> sets) {
  return to_text(interruptible([&] { return poly::merge_calibration_parts(*runtime, parts, sets); }));
}

/// (model, number of products, [(node, why it stays as it is)]).
nb::tuple quantize_weights(const ModelRef& model, int64_t block, bool uses_matmul_nbits,
                           const std::vector<std::string>& float_nodes) {
  const poly::NarrowWeights done = without_lock([&] {
    return poly::quantize_weights(
        model, {.block = block, .uses_matmul_nbits = uses_matmul_nbits, .float_nodes = float_nodes});
  });
  nb::list kept;
  for (const auto& k : done.kept) kept.append(nb::make_tuple(to_text(k.node), to_text(k.reason)));
  return nb::make_tuple(done.model, done.quantized, kept);
}

}  // namespace

void bind_quantizing(nb::module_& m) {
  m.def("quantize", &quantize, nb::arg("runtime"), nb::arg("model"), nb::arg("build"), nb::arg("data"),
        nb::arg("calibration"), nb::arg("measures_cost"), nb::arg("accuracy"), nb::arg("progress").none());
  m.def("calibration_part", &calibration_part, nb::arg("runtime"), nb::arg("model"), nb::arg("build"),
        nb::arg("data"), nb::arg("calibration"), nb::arg("first"), nb::arg("digest"));
  m.def("merge_calibration_parts", &merge_calibration_parts, nb::arg("runtime"), nb::arg("parts"),
        nb::arg("sets").none());
  m.def("quantize_weights", &quantize_weights, nb::arg("model"), nb::arg("block"),
        nb::arg("uses_matmul_nbits"), nb::arg("float_nodes"));
}

}  // namespace assay::python
