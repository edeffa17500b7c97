// Do the backends agree, and how far is each from the float64 reference? One line per model; fails when a
// result is wrong.
//
// usage: agreement [--no-onnxrt] MODEL...
// A MODEL is a file (weights that are constant are randomized) or the name of a template. `error` is the
// largest error of an element relative to the largest magnitude in its output; `of explained` says which part
// of the error that rounding explains was used up at worst (docs/internals/numerics.md).
#include <fmt/core.h>

#include <cmath>

#include "../common/models.h"
#include "arbiter/arbiter.h"
#include "assay/backend_set.h"

namespace assay {
namespace {

struct Result {
  std::string backend;
  StoredTensorList outputs;
};

Result run_on(const char* backend, const std::shared_ptr<Model>& model, const std::vector<Tensor>& feed) {
  Result r{backend, {}};
  const std::unique_ptr<Session> session = built_in_backends().get(backend).open({model, {}}, {});
  for (const TensorInfo& o : session->outputs()) r.outputs.push_back({o.name, {}});
  session->run(feed, [&](size_t i, Tensor t) { r.outputs[i].tensor = std::move(t); });
  return r;
}

/// Largest magnitude of an output.
double scale_of(const StoredTensor& t) {
  double top = 0;
  const Tensor values = convert(t.load(), DType::kFloat64);
  for (const double x : values.span<double>()) top = std::max(top, std::abs(x));
  return top > 0 ? top : 1;
}

bool report(const std::string& name, const Arbitration& a, const std::vector<Result>& results) {
  fmt::print("{:24}", name);
  for (const Result& r : results) {
    double error = 0, used = 0;
    bool wrong = false;
    for (const ArbiterVerdict& v : a.outputs) {
      if (v.runner != r.backend) continue;
      error = std::max(error, v.max_error / scale_of(*find(r.outputs, v.output)));
      used = std::max(used, v.worst_ratio);
      wrong = wrong || v.verdict == Verdict::kWrong;
    }
    fmt::print("  {} error {:.1e}, {:5.1f} % of explained{}", r.backend, error, 100 * used,
               wrong ? ", WRONG" : "");
  }
  fmt::print("\n");
  std::fflush(stdout);
  return a.all_right();
}

bool judge(const std::string& name, const std::vector<const char*>& backends) {
  const std::shared_ptr<Model> model = load_named_model(name);
  const std::vector<Tensor> feed = make_feed(*model);
  std::vector<Result> results;
  for (const char* backend : backends) results.push_back(run_on(backend, model, feed));
  std::vector<ArbiterCase> cases;
  for (const Result& r : results) cases.push_back({r.backend, &r.outputs});
  return report(std::filesystem::path(name).stem().string(), arbitrate(model, feed, cases), results);
}

int run(int argc, char** argv) {
  std::vector<const char*> backends = {"engine", "onnxrt"};
  int wrong = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--no-onnxrt") {
      backends = {"engine"};
      continue;
    }
    try {
      wrong += judge(name, backends) ? 0 : 1;
    } catch (const std::exception& e) {
      fmt::print("{:24}  {}\n", name, e.what());
      ++wrong;
    }
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::run(argc, argv); }
