// node_gate: uses every version of every operator wrongly (misuse.h), in the main graph, in a local function
// and in the branches of an If, and gives the model to everything that evaluates, infers, rewrites or judges
// nodes. Each must go well or end in an Error that is not an internal one and names the node; what breaks the
// arity must not run.
//
//   node_gate [--only PATTERN] [--newest] [--verbose]
//
// With --newest only the newest version of each operator. Exit status 1 when something else happened.
#include <fnmatch.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "assay/backend_set.h"
#include "assay/edit.h"
#include "assay/fold.h"
#include "assay/io.h"
#include "base/cpus.h"
#include "base/isolated_jobs.h"
#include "base/log.h"
#include "base/temporary_folder.h"
#include "convert/convert_opset.h"
#include "gate/misuse.h"
#include "graph/clone.h"
#include "lint/lint.h"
#include "ops/infer.h"
#include "ops/op_set.h"
#include "passes/pass_manager.h"
#include "reference/interpreter.h"
#include "run/equivalence.h"

namespace assay::gate {
namespace {

struct Subject {
  const OpDef* op;
  const OpVersion* version;
  std::string name;
};

std::vector<Subject> all_subjects(const std::string& pattern, bool newest) {
  std::vector<Subject> list;
  for (const OpDef* op : built_in_ops().all())
    for (const OpVersion& v : op->versions) {
      std::string name =
          fmt::format("{}{}{}-{}", op->domain, op->domain.empty() ? "" : ".", op->name, v.since);
      if (newest && &v != &op->versions.back()) continue;
      if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) list.push_back({op, &v, std::move(name)});
    }
  return list;
}

void fold(const std::shared_ptr<Model>& m, bool error_ok) {
  const FoldReport report = fold_constants(*m, {.error_ok = error_ok});
  for (const FoldReport::Kept& k : report.failed)
    require(k.reason.find("[at node ") != std::string::npos || k.reason.find(k.node) != std::string::npos,
            ErrorCode::kInternal, "a failure of {} names no node: {}", k.node, k.reason);
  cleanup(*m);
}

/// Reference, without inference and with it.
void run(const std::shared_ptr<Model>& m) {
  Interpreter interpreter(m, {.precision = ReferencePrecision::kStored});
  interpreter.run({}, [](const Value&, std::span<const Tensor>) {});
}

/// To the newest and to the oldest version of the operator.
void convert(const std::shared_ptr<Model>& m, const Subject& s, bool up) {
  const int64_t to = up ? built_in_ops().newest_opset(s.op->domain) : s.op->versions.front().since;
  convert_opset(*m, {.domain = std::string(s.op->domain), .version = to});
  convert_opset(*clone_model(*m),
                {.domain = std::string(s.op->domain), .version = up ? to : std::max<int64_t>(1, to - 1)});
}

struct Path {
  const char* name;
  bool evaluates;  ///< must not go well for a node of wrong arity
  std::function<void(const std::shared_ptr<Model>&, const Subject&)> go;
};

const std::vector<Path>& paths(const std::string& file) {
  static const std::vector<Path> kPaths = {
      {"run", true, [](const auto& m, const Subject&) { run(m); }},
      {"infer", true, [](const auto& m, const Subject&) { infer_shapes(*m); }},
      {"infer and go on", false,
       [](const auto& m, const Subject&) {
         infer_shapes(*m, {.on_problem = [](const Node&, const std::string&) {}});
       }},
      {"fold", false, [](const auto& m, const Subject&) { fold(m, true); }},
      {"fold strictly", false, [](const auto& m, const Subject&) { fold(m, false); }},
      {"simplify", false,
       [](const auto& m, const Subject&) {
         infer_shapes(*m, {.on_problem = [](const Node&, const std::string&) {}});
         run_passes(*m, built_in_passes().stage(PassStage::kCanonical));
       }},
      {"convert up", false, [](const auto& m, const Subject& s) { convert(m, s, true); }},
      {"convert down", false, [](const auto& m, const Subject& s) { convert(m, s, false); }},
      {"engine", true,
       [](const auto& m, const Subject&) {
         const auto session =
             built_in_backends().get("engine").open({.model = m, .path = ""}, {.threads = 1});
         session->run({}, [](size_t, Tensor) {});
       }},
      {"prove", true,
       [](const auto& m, const Subject&) { find_difference(m, clone_model(*m), {.data = {}, .trials = 1}); }},
      {"lint", false,
       [file](const auto& m, const Subject&) {
         save_model(*m, file);
         lint::LintOptions options{.path = file};
         options.backend = &built_in_backends().get("reference");
         options.feed = [](const std::vector<TensorInfo>&) { return TensorList(); };
         lint_model(options);
       }},
  };
  return kPaths;
}

/// Empty, or what is wrong with how it ended.
std::string judge(const Path& path, const Subject& s, const Misuse& misuse, Place place) {
  const Schema& schema = schema_of(*s.version);
  const int given = static_cast<int>(misuse.inputs.size());
  const bool wrong_arity = given < schema.min_inputs() || given > schema.max_inputs();
  try {
    path.go(model_of(*s.op, *s.version, misuse, place), s);
    if (path.evaluates && wrong_arity) return "a node of wrong arity went through";
  } catch (const Error& e) {
    const std::string text = e.what();
    if (e.code() == ErrorCode::kInternal) return "an internal error: " + text;
    if (text.find("[at node ") == std::string::npos && text.find(kNode) == std::string::npos)
      return "an error that names no node: " + text;
  } catch (const std::exception& e) {
    return fmt::format("an exception that is not an Error: {}", e.what());
  }
  return {};
}

std::string test(const Subject& s, const std::string& folder, bool verbose) {
  log::configure({.threshold = log::Severity::kCritical});
  const std::string file = fmt::format("{}/gate_{}.onnx", folder, s.name);
  int cases = 0;
  for (const Misuse& m : misuses(*s.op, *s.version))
    for (const Place place : kPlaces)
      for (const Path& path : paths(file)) {
        const std::string subject =
            fmt::format("{}, {}, place {}, {}", s.name, m.what, static_cast<int>(place), path.name);
        if (verbose) std::fprintf(stderr, "%s\n", subject.c_str());
        ++cases;
        if (const std::string problem = judge(path, s, m, place); !problem.empty())
          return fmt::format("{}: {}", subject, problem);
      }
  std::filesystem::remove(file);
  return fmt::format("{}", cases);
}

/// Many small files are written, and each save waits for the disk: where there is none, if the system has
/// such a place.
std::filesystem::path quick_folder() {
  const char* const memory = "/dev/shm";
  return ::access(memory, W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

int run_all(const std::string& pattern, bool newest, bool verbose) {
  const TemporaryFolder temporary(quick_folder());
  const std::string folder = temporary.path().string();
  const std::vector<Subject> subjects = all_subjects(pattern, newest);
  int64_t cases = 0;
  int problems = 0;
  run_isolated(
      subjects.size(), {.workers = available_cpus(), .timeout_seconds = 120},
      [&](size_t i) { return test(subjects[i], folder, verbose); },
      [&](const IsolatedJobResult& r) {
        if (r.death.empty() && !r.text.empty() &&
            r.text.find_first_not_of("0123456789") == std::string::npos) {
          cases += std::stoll(r.text);
          return;
        }
        ++problems;
        std::printf("%s\n", r.death.empty()
                                ? r.text.c_str()
                                : fmt::format("{}: the process {}", subjects[r.job].name, r.death).c_str());
      });
  std::printf("%zu operator versions, %lld cases, %d problems\n", subjects.size(),
              static_cast<long long>(cases), problems);
  return problems == 0 && !subjects.empty() ? 0 : 1;
}

}  // namespace
}  // namespace assay::gate

int main(int argc, char** argv) try {
  std::string pattern = "*";
  bool verbose = false, newest = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--only" && i + 1 < argc)
      pattern = argv[++i];
    else if (word == "--verbose")
      verbose = true;
    else if (word == "--newest")
      newest = true;
    else
      throw std::runtime_error("usage: node_gate [--only PATTERN] [--newest] [--verbose]");
  }
  return assay::gate::run_all(pattern, newest, verbose);
} catch (const std::exception& e) {
  std::fprintf(stderr, "node_gate: %s\n", e.what());
  return 2;
}
