#include "run/conformance.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "graph/import.h"
#include "onnx/tensor_data.h"
#include "ops/infer.h"
#include "tensor/convert.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Empty when the tensors agree; otherwise the first difference.
std::string difference(const Tensor& actual, const Tensor& expected, const ConformanceOptions& options) {
  if (actual.dtype() != expected.dtype())
    return fmt::format("type {} instead of {}", dtype_name(actual.dtype()), dtype_name(expected.dtype()));
  if (actual.shape() != expected.shape())
    return fmt::format("shape {} instead of {}", actual.shape().str(), expected.shape().str());
  if (actual.identical(expected)) return {};
  if (!is_float(actual.dtype())) {
    if (is_complex(actual.dtype())) return "complex values differ";
    return "values differ";
  }
  const Tensor a = to_float64(actual), e = to_float64(expected);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data<double>()[i], y = e.data<double>()[i];
    const bool close = (std::isnan(x) && std::isnan(y)) || x == y ||
                       std::abs(x - y) <= options.atol + options.rtol * std::abs(y);
    if (!close) return fmt::format("element {} is {:.9g} instead of {:.9g}", i, x, y);
  }
  return {};
}

std::vector<Tensor> load_tensors(const fs::path& folder, const char* prefix, size_t count) {
  std::vector<Tensor> list;
  for (size_t i = 0; i < count; ++i) {
    const fs::path file = folder / fmt::format("{}_{}.pb", prefix, i);
    if (!fs::exists(file)) break;
    list.push_back(onnx::load_tensor_file(file.string()));
  }
  return list;
}

std::string run_data_set(const fs::path& folder, Session& session, const ConformanceOptions& options) {
  const std::vector<Tensor> feed = load_tensors(folder, "input", session.inputs().size());
  if (feed.size() != session.inputs().size())
    return fmt::format("{} input files for {} inputs", feed.size(), session.inputs().size());
  const std::vector<Tensor> expected = load_tensors(folder, "output", session.outputs().size());
  std::vector<Tensor> actual(session.outputs().size());
  session.run(feed, [&](size_t i, Tensor t) { actual[i] = std::move(t); });
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!actual[i].defined()) return fmt::format("output '{}' was not computed", session.outputs()[i].name);
    const std::string d = difference(actual[i], expected[i], options);
    if (!d.empty()) return fmt::format("output '{}': {}", session.outputs()[i].name, d);
  }
  return {};
}

bool all_tensors(const std::vector<TensorInfo>& list) {
  return std::all_of(list.begin(), list.end(), [](const TensorInfo& t) { return t.type.is_tensor(); });
}

}  // namespace

ConformanceResult run_conformance_case(const std::string& folder, const Backend& backend,
                                       const SessionOptions& session_options,
                                       const ConformanceOptions& options) {
  ConformanceResult result{.name = fs::path(folder).filename().string(), .reason = {}};
  const auto finish = [&](ConformanceResult::Verdict verdict, std::string reason) {
    result.verdict = verdict;
    result.reason = std::move(reason);
    return result;
  };
  try {
    const std::string path = (fs::path(folder) / "model.onnx").string();
    std::shared_ptr<Model> model = load_model(path);
    infer_shapes(*model);
    const auto session = backend.open({model, path}, session_options);
    if (!all_tensors(session->inputs()) || !all_tensors(session->outputs()))
      return finish(ConformanceResult::Verdict::kSkipped,
                    "its inputs or outputs are sequences, optionals or maps");
    for (int i = 0;; ++i) {
      const fs::path data = fs::path(folder) / fmt::format("test_data_set_{}", i);
      if (!fs::is_directory(data)) break;
      const std::string reason = run_data_set(data, *session, options);
      if (!reason.empty()) return finish(ConformanceResult::Verdict::kFailed, reason);
    }
  } catch (const std::exception& e) {
    return finish(ConformanceResult::Verdict::kFailed, e.what());
  }
  return result;
}

std::vector<std::string> conformance_cases(const std::string& root) {
  if (fs::exists(fs::path(root) / "model.onnx")) return {root};
  std::vector<std::string> cases;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.path().filename() == "model.onnx") cases.push_back(entry.path().parent_path().string());
  std::sort(cases.begin(), cases.end());
  return cases;
}

}  // namespace assay
