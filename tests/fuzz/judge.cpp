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

namespace assay::fuzz {
namespace {

/// Processor time that one small case may take.
constexpr double kSeconds = 5;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void evaluate(const Case& c, ReferencePrecision precision) {
  Symbols symbols;
  std::string wrong;
  Interpreter interpreter(c.model, {.precision = precision});
  interpreter.run(c.feed, [&](const Value& v, std::span<const Tensor> lanes) {
    if (precision != ReferencePrecision::kStored || !wrong.empty()) return;
    wrong = contradiction(v.type, lanes[0], symbols);
    if (!wrong.empty()) wrong = fmt::format("value '{}': {}", v.name(), wrong);
  });
  require(wrong.empty(), ErrorCode::kInternal, "{}", wrong);
}

/// Empty, or what is wrong with the exception that `body` throws.
std::string guarded(const std::function<void()>& body, bool& done) {
  done = false;
  try {
    body();
    done = true;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kInternal) return fmt::format("an internal error: {}", e.what());
    // A list that the budget does not count was asked for.
    for (const char* uncounted : {"not enough memory for what", "longer than any memory"})
      if (e.message().find(uncounted) != std::string::npos) return e.what();
    if (std::strlen(e.what()) < 8) return fmt::format("an error without a sentence: {}", e.what());
  } catch (const std::exception& e) {
    return fmt::format("an exception that is not an Error: {}", e.what());
  }
  return {};
}

}  // namespace

Judgement judge(const Case& c, ReferencePrecision precision) {
  Judgement j;
  const double start = cpu_seconds();
  j.problem = guarded(
      [&] {
        infer_shapes(*c.model);
        evaluate(c, precision);
      },
      j.accepted);
  const double seconds = cpu_seconds() - start;
  if (j.problem.empty() && seconds > kSeconds) j.problem = fmt::format("it took {:.1f} s", seconds);
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
