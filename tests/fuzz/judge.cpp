#include "fuzz/judge.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>

#include "graph/clone.h"
#include "graph/export.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "reference/type_match.h"
#include "run/conformance.h"

namespace assay::fuzz {
namespace {

/// Processor time that one small case may take.
constexpr double kSeconds = 5;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<Tensor> evaluate(const Case& c, ReferencePrecision precision) {
  std::vector<Tensor> results(c.model->graph->outputs.size());
  Symbols symbols;
  std::string wrong;
  Interpreter interpreter(c.model, {.precision = precision});
  interpreter.run(c.feed, [&](const Value& v, std::span<const Tensor> lanes) {
    for (size_t i = 0; i < results.size(); ++i)
      if (c.model->graph->outputs[i] == &v) results[i] = lanes[0];
    if (precision != ReferencePrecision::kStored || !wrong.empty()) return;
    wrong = contradiction(v.type, lanes[0], symbols);
    if (!wrong.empty()) wrong = fmt::format("value '{}': {}", v.name(), wrong);
  });
  require(wrong.empty(), ErrorCode::kInternal, "{}", wrong);
  return results;
}

/// Results of other arithmetic may differ by a few units in the last place of what they are stored as.
ConformanceTolerance tolerance_of(DType dtype) {
  if (dtype == DType::kFloat16) return {.rtol = 4e-3, .atol = 1e-3};
  return {.rtol = 1e-3, .atol = 1e-5};
}

std::string difference(const Case& c, const std::vector<Tensor>& expected, Session& session) {
  std::string problem;
  session.run(c.feed, [&](size_t i, const Tensor& t) {
    if (!problem.empty() || !expected[i].defined()) return;
    problem = conformance_difference(t, expected[i], tolerance_of(expected[i].dtype()));
    if (!problem.empty()) problem = fmt::format("output {}: {}", i, problem);
  });
  return problem;
}

/// Empty, or what is wrong with the exception that `body` throws.
std::string guarded(const std::function<void()>& body, bool& done) {
  done = false;
  try {
    body();
    done = true;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kInternal) return fmt::format("an internal error: {}", e.what());
    if (std::strlen(e.what()) < 8) return fmt::format("an error without a sentence: {}", e.what());
  } catch (const std::exception& e) {
    return fmt::format("an exception that is no Error: {}", e.what());
  }
  return {};
}

}  // namespace

Judgement judge(const Case& c, ReferencePrecision precision, const Backend* against, bool must_run) {
  Judgement j;
  std::vector<Tensor> results;
  const double start = cpu_seconds();
  j.problem = guarded(
      [&] {
        infer_shapes(*c.model);
        results = evaluate(c, precision);
      },
      j.accepted);
  const double seconds = cpu_seconds() - start;
  if (j.problem.empty() && seconds > kSeconds) j.problem = fmt::format("it took {:.1f} s", seconds);
  if (against == nullptr || !j.accepted || !j.problem.empty()) return j;
  std::string refusal;
  try {
    const auto session = against->open({c.model, ""}, {.threads = 1});
    j.problem = difference(c, results, *session);
    j.compared = true;
  } catch (const std::exception& e) {
    refusal = e.what();
  }
  if (must_run && !j.compared) j.problem = fmt::format("{} refuses: {}", against->name, refusal);
  return j;
}

void save_case(const Case& c, const std::string& path) {
  const std::shared_ptr<Model> model = clone_model(*c.model);
  Graph& g = *model->graph;
  std::vector<Value*> left;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    if (c.feed[i].is_container())
      left.push_back(g.inputs[i]);
    else
      g.inputs[i]->set_tensor(c.feed[i]);
  }
  g.inputs = std::move(left);
  save_model(*model, path);
}

}  // namespace assay::fuzz
