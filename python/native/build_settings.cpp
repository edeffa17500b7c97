// A build's settings, from a dict.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "assay/builder.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"

namespace assay::python {

CalibrationAlgorithm calibration_algorithm(const std::string& name) {
  if (name == "legacy" || name == "percentile") return CalibrationAlgorithm::kLegacy;
  if (name == "entropy") return CalibrationAlgorithm::kEntropy;
  if (name == "entropy2") return CalibrationAlgorithm::kEntropy2;
  if (name == "minmax") return CalibrationAlgorithm::kMinMax;
  if (name == "mse") return CalibrationAlgorithm::kMeanSquaredError;
  throw Error(ErrorCode::kInvalidArgument, "'" + name + "' is no calibration algorithm")
      .set_remedy("They are entropy2, entropy, minmax, percentile (or legacy) and mse.");
}

namespace {

/// An object with next_batch(inputs) -> dict or None, read_cache() -> bytes or None, write_cache(bytes), and
/// the attributes algorithm and quantile.
class PythonCalibrator final : public Int8Calibrator {
 public:
  explicit PythonCalibrator(nb::object object)
      : kept_(keep(object)),
        object_(object),
        algorithm_(calibration_algorithm(nb::cast<std::string>(object.attr("algorithm")))),
        quantile_(nb::cast<double>(object.attr("quantile"))) {}

  CalibrationAlgorithm algorithm() const override { return algorithm_; }
  double quantile() const override { return quantile_; }

  std::optional<TensorList> next_batch(const std::vector<TensorInfo>& inputs) override {
    const Locked lock;
    const nb::object batch = object_.attr("next_batch")(describe_values(inputs));
    if (batch.is_none()) return std::nullopt;
    // The caller may use the arrays again for the next ones.
    TensorList list = to_tensors(batch, "the calibration data");
    for (NamedTensor& t : list) t.tensor = detached(t.tensor);
    return list;
  }

  std::optional<std::string> read_cache() override {
    const Locked lock;
    const nb::object cache = object_.attr("read_cache")();
    if (cache.is_none()) return std::nullopt;
    return std::string(borrow_bytes(cache, "the calibration cache").bytes);
  }

  void write_cache(const std::string& text) override {
    const Locked lock;
    object_.attr("write_cache")(nb::bytes(text.data(), text.size()));
  }

 private:
  static Tensor detached(const Tensor& t) {
    if (t.dtype() == DType::kString || t.is_container()) return t;
    Tensor own = t;
    own.mutable_data();  // a view is copied
    return own;
  }

  std::shared_ptr<const void> kept_;
  nb::handle object_;
  CalibrationAlgorithm algorithm_;
  double quantile_;
};

nb::list format_list(const std::vector<TensorFormat>& formats) {
  nb::list list;
  for (const TensorFormat& f : formats)
    list.append(nb::make_tuple(to_text(array_type_name(f.dtype)),
                               f.shape ? nb::object(from_shape(*f.shape)) : nb::none(), f.block));
  return list;
}

nb::tuple algorithm_tuple(const Algorithm& a) {
  return nb::make_tuple(to_text(a.name), format_list(a.inputs), format_list(a.outputs), a.seconds,
                        a.scratch_bytes);
}

/// An object with select(nodes, algorithms) -> positions or None, and report(nodes, algorithm).
class PythonSelector final : public AlgorithmSelector {
 public:
  explicit PythonSelector(nb::object object) : object_(std::move(object)) {}

  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>& nodes,
                                                       const std::vector<Algorithm>& algorithms) override {
    const Locked lock;
    nb::list offered;
    for (const Algorithm& a : algorithms) offered.append(algorithm_tuple(a));
    const nb::object chosen = object_.attr("select")(nb::cast(nodes), offered);
    if (chosen.is_none()) return std::nullopt;
    std::vector<size_t> positions;
    for (nb::handle p : nb::iter(chosen)) positions.push_back(nb::cast<size_t>(p));
    return positions;
  }

  void report_algorithms(const std::vector<std::string>& nodes, const Algorithm& chosen) override {
    const Locked lock;
    object_.attr("report")(nb::cast(nodes), algorithm_tuple(chosen));
  }

 private:
  nb::object object_;
};

/// {input: (min, opt, max)}, shapes; {input: (min, opt, max, True)}: values of a shape tensor.
OptimizationProfile profile_of(nb::handle profile) {
  OptimizationProfile p;
  if (!nb::isinstance<nb::dict>(profile))
    fail(ErrorCode::kInvalidArgument, "a profile is a dict of (min, opt, max) by the names of inputs");
  for (auto [key, range] : nb::borrow<nb::dict>(profile)) {
    const auto name = nb::cast<std::string>(key);
    const std::string what = "the profile of '" + name + "'";
    const nb::tuple parts = to_parts(range, 3, "profile (min, opt, max): " + what);
    if (parts.size() > 3 && nb::cast<bool>(parts[3])) {
      const auto values = [&](size_t i) {
        std::vector<int64_t> v;
        for (nb::handle x : nb::iter(nb::object(parts[i]))) v.push_back(nb::cast<int64_t>(x));
        return v;
      };
      p.set_shape_values(name, values(0), values(1), values(2));
    } else {
      p.set_shape(name, to_shape(parts[0], what), to_shape(parts[1], what), to_shape(parts[2], what));
    }
  }
  return p;
}

LayerTypes layer_types_of(nb::handle entry) {
  const nb::tuple parts = to_parts(entry, 2, "entry of layer_types: (selector, dtype) with types of outputs");
  LayerTypes types{.layers = nb::cast<std::string>(parts[0])};
  if (!parts[1].is_none()) types.precision = to_dtype(parts[1]);
  if (parts.size() > 2 && !parts[2].is_none())
    for (nb::handle t : nb::iter(nb::object(parts[2])))
      types.outputs.push_back(t.is_none() ? DType::kUndefined : to_dtype(t));
  return types;
}

PrecisionConstraints constraints_of(const std::string& name) {
  if (name == "none") return PrecisionConstraints::kNone;
  if (name == "prefer") return PrecisionConstraints::kPrefer;
  if (name == "obey") return PrecisionConstraints::kObey;
  throw Error(ErrorCode::kInvalidArgument, "'" + name + "' says not how far precisions bind")
      .set_remedy("It is none, prefer or obey.");
}

using Reader = void (*)(BuildSettings&, nb::handle);

template <auto Member>
void read_member(BuildSettings& s, nb::handle value) {
  using T = std::remove_cvref_t<decltype(s.config.*Member)>;
  s.config.*Member = nb::cast<T>(value);
}

const std::pair<const char*, Reader> kReaders[] = {
    {"optimization_level", &read_member<&BuilderConfig::optimization_level>},
    {"fp16", &read_member<&BuilderConfig::fp16>},
    {"bf16", &read_member<&BuilderConfig::bf16>},
    {"int8", &read_member<&BuilderConfig::int8>},
    {"symmetric_int8", &read_member<&BuilderConfig::symmetric_int8>},
    {"refittable", &read_member<&BuilderConfig::is_refittable>},
    {"strip_weights", &read_member<&BuilderConfig::strips_weights>},
    {"optimize", &read_member<&BuilderConfig::optimize>},
    {"verify_passes", &read_member<&BuilderConfig::verify_passes>},
    {"max_edits", &read_member<&BuilderConfig::max_edits>},
    {"workspace_limit", &read_member<&BuilderConfig::workspace_limit>},
    {"use_timing_cache_only", &read_member<&BuilderConfig::use_timing_cache_only>},
    {"skips_unknown_layers", &read_member<&BuilderConfig::skips_unknown_layers>},
    {"pinned_tactics", &read_member<&BuilderConfig::pinned_tactics>},
    {"float_nodes",
     [](BuildSettings& s, nb::handle v) { s.config.float_nodes = to_names(v, "float_nodes"); }},
    {"disabled_passes",
     [](BuildSettings& s, nb::handle v) { s.config.disabled_passes = to_names(v, "disabled_passes"); }},
    {"disabled_tactics",
     [](BuildSettings& s, nb::handle v) { s.config.disabled_tactics = to_names(v, "disabled_tactics"); }},
    {"profiles",
     [](BuildSettings& s, nb::handle v) {
       for (nb::handle p : nb::iter(v)) s.config.profiles.push_back(profile_of(p));
     }},
    {"layer_types",
     [](BuildSettings& s, nb::handle v) {
       for (nb::handle t : nb::iter(v)) s.config.layer_types.push_back(layer_types_of(t));
     }},
    {"precision_constraints",
     [](BuildSettings& s, nb::handle v) {
       s.config.precision_constraints = constraints_of(nb::cast<std::string>(v));
     }},
    {"timing_cache", [](BuildSettings& s,
                        nb::handle v) { s.config.timing_cache = nb::cast<std::shared_ptr<TimingCache>>(v); }},
    {"calibrator",
     [](BuildSettings& s, nb::handle v) {
       s.config.calibrator = std::make_shared<PythonCalibrator>(nb::borrow(v));
     }},
    {"algorithm_selector",
     [](BuildSettings& s, nb::handle v) {
       s.selector = std::make_unique<PythonSelector>(nb::borrow(v));
       s.config.algorithm_selector = s.selector.get();
     }},
};

}  // namespace

BuildSettings read_build_settings(nb::handle settings) {
  BuildSettings result;
  for (auto [key, value] : nb::cast<nb::dict>(settings)) {
    const auto name = nb::cast<std::string>(key);
    const auto* reader = std::find_if(std::begin(kReaders), std::end(kReaders),
                                      [&](const auto& r) { return name == r.first; });
    if (reader == std::end(kReaders)) {
      std::string names;
      for (const auto& r : kReaders) names += (names.empty() ? "" : ", ") + std::string(r.first);
      throw Error(ErrorCode::kInvalidArgument, "a build has no setting '" + name + "'")
          .set_remedy("It has " + names + ".");
    }
    if (value.is_none()) continue;
    try {
      reader->second(result, value);
    } catch (const nb::cast_error&) {
      fail(ErrorCode::kInvalidArgument, "the build's setting '{}' cannot be a {}", name,
           nb::cast<std::string>(nb::str(nb::handle(value).type().attr("__name__"))));
    }
  }
  return result;
}

}  // namespace assay::python
