#include "run/conformance_suite.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/isolated_jobs.h"
#include "base/thread_pool.h"
#include "graph/import.h"
#include "run/conformance_inference.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

void collect_use(const Graph& g, const Model& model, const std::vector<OpsetImport>& opsets,
                 std::set<std::string>& versions, std::set<std::string>& operators) {
  for (const auto& n : g.nodes()) {
    if (model.find_function(n->domain, n->op_type, n->overload) == nullptr) {
      const std::string domain = n->domain.empty() ? "ai.onnx" : n->domain;
      operators.insert(n->domain.empty() ? n->op_type : n->domain + "." + n->op_type);
      for (const OpsetImport& o : opsets)
        if ((o.domain.empty() ? "ai.onnx" : o.domain) == domain)
          versions.insert(fmt::format("{} {}", domain, o.version));
    }
    for (const Attribute& a : n->attributes)
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>())
        collect_use(**sub, model, opsets, versions, operators);
  }
}

/// The message of a worker: verdict, opsets and operators, each on a line, then the reason.
std::string pack(const ConformanceResult& result, const ConformanceUse& use) {
  std::string text = std::to_string(static_cast<int>(result.verdict));
  for (const auto* list : {&use.opsets, &use.operators}) {
    text += '\n';
    for (const std::string& item : *list) text += item + '\t';
  }
  return text + '\n' + result.reason;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> list;
  for (size_t end; (end = text.find('\t')) != std::string_view::npos; text.remove_prefix(end + 1))
    list.emplace_back(text.substr(0, end));
  return list;
}

void unpack(std::string_view text, ConformanceOutcome& outcome) {
  const auto line = [&] {
    const size_t end = text.find('\n');
    require(end != std::string_view::npos, ErrorCode::kInternal, "a worker answered '{}'", text);
    const std::string_view head = text.substr(0, end);
    text.remove_prefix(end + 1);
    return head;
  };
  outcome.result.verdict = static_cast<ConformanceResult::Verdict>(line()[0] - '0');
  outcome.use.opsets = split(line());
  outcome.use.operators = split(line());
  outcome.result.reason = text;
}

std::string judge(const ConformanceCase& test, const ConformanceTarget& target) {
  ConformanceUse use;
  try {
    use = conformance_use(*load_model((fs::path(test.folder) / "model.onnx").string()));
  } catch (const Error&) {
    // The target meets the same error and reports it.
  }
  return pack(target.run(test), use);
}

}  // namespace

std::vector<ConformanceTarget> conformance_targets(const BackendSet& backends) {
  std::vector<ConformanceTarget> targets;
  targets.push_back({.name = "inference",
                     .summary = "inferred types and shapes against the values that the reference computes",
                     .run = [](const ConformanceCase& test) { return run_inference_case(test.folder); },
                     .is_default = true});
  const auto add = [&](const Backend& backend, std::string name, std::string_view summary,
                       SessionOptions options) {
    options.on_warning = [](std::string_view) {};  // the verdict is enough
    targets.push_back({.name = std::move(name),
                       .summary = summary,
                       .run =
                           [&backend, options = std::move(options)](const ConformanceCase& test) {
                             return run_conformance_case(test.folder, backend, options);
                           },
                       .is_default = backend.is_own});
  };
  for (const Backend* backend : backends.all()) {
    add(*backend, std::string(backend->name), backend->summary, {});
    for (const BackendVariant& variant : backend->variants) {
      SessionOptions options;
      variant.apply(options);
      add(*backend, fmt::format("{}-{}", backend->name, variant.name), variant.summary, std::move(options));
    }
  }
  return targets;
}

std::vector<ConformanceCase> find_conformance_cases(const std::string& root) {
  require(fs::is_directory(root), ErrorCode::kNotFound, "there is no folder '{}'", root);
  std::vector<ConformanceCase> cases;
  for (const std::string& folder : conformance_cases(root)) {
    const fs::path relative = fs::relative(folder, root);
    cases.push_back({.name = relative == "." ? fs::path(folder).filename().string() : relative.string(),
                     .folder = folder});
  }
  require(!cases.empty(), ErrorCode::kNotFound, "there is no test case (a folder with model.onnx) below '{}'",
          root);
  return cases;
}

ConformanceUse conformance_use(const Model& model) {
  std::set<std::string> versions, operators;
  collect_use(*model.graph, model, model.opsets, versions, operators);
  for (const Function& f : model.functions) collect_use(*f.body, model, f.opsets, versions, operators);
  return {{versions.begin(), versions.end()}, {operators.begin(), operators.end()}};
}

std::vector<ConformanceOutcome> run_conformance_suite(std::span<const ConformanceCase> cases,
                                                      std::span<const ConformanceTarget* const> targets,
                                                      const ConformanceSuiteOptions& options) {
  std::vector<ConformanceOutcome> outcomes;
  for (const ConformanceCase& test : cases)
    for (const ConformanceTarget* target : targets)
      outcomes.push_back(
          {.test = &test, .target = target, .result = {.name = test.name, .reason = {}}, .use = {}});
  const auto work = [&](size_t i) {
    const PoolScope scope(std::make_shared<ThreadPool>(options.threads));
    return judge(*outcomes[i].test, *outcomes[i].target);
  };
  const auto done = [&](const IsolatedJobResult& r) {
    ConformanceOutcome& outcome = outcomes[r.job];
    if (r.death.empty() && !r.text.starts_with("error: ")) return unpack(r.text, outcome);
    outcome.result.verdict = ConformanceResult::Verdict::kFailed;
    outcome.result.reason = r.death.empty() ? r.text : "the process " + r.death;
  };
  run_isolated(outcomes.size(), {.workers = options.workers, .timeout_seconds = options.timeout_seconds},
               work, done);
  return outcomes;
}

}  // namespace assay
