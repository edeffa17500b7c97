#include "run/conformance.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "graph/import.h"
#include "ops/infer.h"
#include "tensor/convert.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// The difference of two containers of one kind and shape.
std::string element_difference(const Tensor& actual, const Tensor& expected,
                               const ConformanceTolerance& tolerance) {
  for (size_t i = 0; i < actual.elements().size(); ++i) {
    const std::string d = conformance_difference(actual.elements()[i], expected.elements()[i], tolerance);
    if (!d.empty()) return fmt::format("[{}]: {}", i, d);
  }
  return {};
}

std::vector<Type> types_of(const std::vector<TensorInfo>& infos) {
  std::vector<Type> types;
  for (const TensorInfo& info : infos) types.push_back(info.type);
  return types;
}

std::string run_data_set(const std::string& folder, Session& session, const ConformanceTolerance& tolerance) {
  const std::vector<Tensor> feed = load_conformance_values(folder, "input", types_of(session.inputs()));
  if (feed.size() != session.inputs().size())
    return fmt::format("{} input files for {} inputs", feed.size(), session.inputs().size());
  const std::vector<Tensor> expected = load_conformance_values(folder, "output", types_of(session.outputs()));
  if (expected.size() != session.outputs().size())
    return fmt::format("{} output files for {} outputs", expected.size(), session.outputs().size());
  std::vector<Tensor> actual(session.outputs().size());
  session.run(feed, [&](size_t i, Tensor t) { actual[i] = std::move(t); });
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!actual[i].defined()) return fmt::format("output '{}' was not computed", session.outputs()[i].name);
    const std::string d = conformance_difference(actual[i], expected[i], tolerance);
    if (!d.empty()) return fmt::format("output '{}': {}", session.outputs()[i].name, d);
  }
  return {};
}

}  // namespace

std::string conformance_difference(const Tensor& actual, const Tensor& expected,
                                   const ConformanceTolerance& tolerance) {
  if (actual.dtype() != expected.dtype())
    return fmt::format("type {} instead of {}", dtype_name(actual.dtype()), dtype_name(expected.dtype()));
  if (actual.shape() != expected.shape())
    return fmt::format("shape {} instead of {}", actual.shape().str(), expected.shape().str());
  if (actual.identical(expected)) return {};
  if (actual.is_container()) return element_difference(actual, expected, tolerance);
  if (!is_float(actual.dtype())) {
    // Padding of the last byte is ignored.
    if (is_packed(actual.dtype()) && convert(actual, DType::kInt8).identical(convert(expected, DType::kInt8)))
      return {};
    if (is_complex(actual.dtype())) return "complex values differ";
    return "values differ";
  }
  const double rtol = actual.dtype() == DType::kBFloat16 ? std::max(tolerance.rtol, 0x1p-6) : tolerance.rtol;
  const Tensor a = to_float64(actual), e = to_float64(expected);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data<double>()[i], y = e.data<double>()[i];
    const bool close =
        (std::isnan(x) && std::isnan(y)) || x == y || std::abs(x - y) <= tolerance.atol + rtol * std::abs(y);
    if (!close) return fmt::format("element {} is {:.9g} instead of {:.9g}", i, x, y);
  }
  return {};
}

ConformanceResult run_conformance_case(const std::string& folder, const Backend& backend,
                                       const SessionOptions& session_options) {
  ConformanceResult result{.name = fs::path(folder).filename().string(), .reason = {}};
  try {
    const ConformanceTolerance tolerance = conformance_tolerance(folder);
    const std::string path = (fs::path(folder) / "model.onnx").string();
    const std::shared_ptr<Model> model = load_model(path);
    infer_shapes(*model);
    const auto session = backend.open({model, path}, session_options);
    for (const std::string& data : conformance_data_sets(folder)) {
      result.reason = run_data_set(data, *session, tolerance);
      if (!result.reason.empty()) break;
    }
  } catch (const std::exception& e) {
    result.reason = e.what();
  }
  if (!result.reason.empty()) result.verdict = ConformanceResult::Verdict::kFailed;
  return result;
}

}  // namespace assay
