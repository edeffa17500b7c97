#include <algorithm>
#include <map>

#include "base/log.h"
#include "run/arbiter.h"

namespace assay {
namespace {

/// With more outputs than this, only conspicuous ones are shown.
constexpr size_t kShowAll = 16;
/// Makers and inheritors listed per runner, unless at -v.
constexpr size_t kListed = 8;

std::string position(int64_t at, const Shape& shape) {
  Shape index = shape;
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = at % shape[d];
    at /= shape[d];
  }
  return index.str();
}

const char* verdict_name(Verdict v) {
  switch (v) {
    case Verdict::kAgrees:
      return "agrees";
    case Verdict::kRounding:
      return "rounding only";
    case Verdict::kWrong:
      return "WRONG";
  }
  return "";
}

std::string overflow_text(const ArbiterVerdict& o) {
  if (o.overflows == 0) return {};
  return fmt::format(" | {} element(s) are infinite because {} cannot hold the exact value", o.overflows,
                     dtype_name(o.dtype));
}

std::string describe(const ArbiterVerdict& o) {
  if (!o.problem.empty())
    return fmt::format("{} | {}{}", verdict_name(o.verdict), o.problem,
                       o.worst_at >= 0 ? " first at " + position(o.worst_at, o.shape) : "");
  if (o.verdict == Verdict::kAgrees)
    return fmt::format("agrees | Every element is the exact value, rounded (max error={:.5g}){}", o.max_error,
                       overflow_text(o));
  std::string text = fmt::format("{} | Max error={:.5g} (exact value {:.5g})", verdict_name(o.verdict),
                                 o.max_error, o.exact);
  if (o.worst_at >= 0)
    text += fmt::format(
        " | Worst at {}: error={:.5g}, rounding explains {:.5g} ({:.3g}x), exact={:.9g}, result={:.9g}",
        position(o.worst_at, o.shape), o.worst_error, o.worst_explained, o.worst_ratio, o.worst_exact,
        o.worst_result);
  return text + overflow_text(o);
}

void report_outputs(const Arbitration& a) {
  std::map<std::string, int> per_output;
  for (const ArbiterVerdict& o : a.outputs) per_output[o.output] = 0;
  const bool all = per_output.size() <= kShowAll;
  std::string current;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const ArbiterVerdict& o = a.outputs[i];
    const bool wrong = o.verdict == Verdict::kWrong;
    const auto severity = wrong             ? log::Severity::kError
                          : o.overflows > 0 ? log::Severity::kWarning
                          : all             ? log::Severity::kInfo
                                            : log::Severity::kVerbose;
    if (o.output != current && (all || severity != log::Severity::kVerbose || log::enabled(severity))) {
      log::info("Output: '{}' (shape={})", o.output, o.shape.str());
      current = o.output;
    }
    const log::Indent indent;
    log::message(severity, "{} | {}", o.runner, describe(o));
  }
}

std::string origin_text(const NodeFinding& f) {
  switch (f.origin) {
    case NodeFinding::Origin::kMade:
      if (!f.own_problem.empty()) return "made here: on this runner's own inputs, " + f.own_problem;
      return fmt::format(
          "made here: on this runner's own inputs the node is off by {:.3g}x what its arithmetic explains{}",
          f.own_ratio, f.proven ? " (beyond the worst-case bound)" : "");
    case NodeFinding::Origin::kInherited:
      return "inherited: the result follows from this runner's own inputs";
    case NodeFinding::Origin::kUnknown:
      return "origin unknown: " + f.missing + "; mark more outputs (--onnx-outputs mark all)";
  }
  return "";
}

std::string list_nodes(const std::vector<const NodeFinding*>& list) {
  std::string text;
  const size_t shown = log::enabled(log::Severity::kVerbose) ? list.size() : std::min(list.size(), kListed);
  for (size_t i = 0; i < shown; ++i) text += (i ? ", " : "") + list[i]->node;
  if (list.size() > shown) text += fmt::format(", and {} more", list.size() - shown);
  return text;
}

void report_findings(const Arbitration& a) {
  std::vector<std::string> runners;
  for (const NodeFinding& f : a.findings)
    if (std::find(runners.begin(), runners.end(), f.runner) == runners.end()) runners.push_back(f.runner);
  for (const std::string& runner : runners) {
    std::vector<const NodeFinding*> made, inherited;
    const NodeFinding* first = nullptr;
    for (const NodeFinding& f : a.findings) {
      if (f.runner != runner) continue;
      if (first == nullptr) first = &f;
      if (f.origin == NodeFinding::Origin::kMade) made.push_back(&f);
      if (f.origin == NodeFinding::Origin::kInherited) inherited.push_back(&f);
    }
    const std::string difference =
        first->problem.empty() ? fmt::format("{:.3g}x what rounding explains", first->ratio) : first->problem;
    log::error("First Divergence | {} | Node {} | Output: '{}' | {} | {}", runner, first->node, first->output,
               difference, origin_text(*first));
    const log::Indent indent;
    if (!made.empty()) log::error("Error made by {} node(s): {}", made.size(), list_nodes(made));
    if (!inherited.empty())
      log::info("Error inherited by {} node(s): {}", inherited.size(), list_nodes(inherited));
  }
}

}  // namespace

void report(const Arbitration& a, const ArbiterOptions& options) {
  log::start("Float64 Verdict | Reference in float64, {} noisy evaluation(s), explained range {} x spread",
             options.samples, kExplainedFactor);
  const log::Indent indent;
  report_outputs(a);
  report_findings(a);
  struct Count {
    int agrees = 0, rounding = 0, wrong = 0;
  };
  std::vector<std::pair<std::string, Count>> counts;
  for (const ArbiterVerdict& o : a.outputs) {
    auto it = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == o.runner; });
    if (it == counts.end()) it = counts.insert(counts.end(), {o.runner, {}});
    (o.verdict == Verdict::kAgrees     ? it->second.agrees
     : o.verdict == Verdict::kRounding ? it->second.rounding
                                       : it->second.wrong)++;
  }
  for (const auto& [runner, c] : counts) {
    const std::string text = fmt::format("{} | {} output(s) agree, {} differ by rounding only, {} wrong",
                                         runner, c.agrees, c.rounding, c.wrong);
    if (c.wrong > 0)
      log::error("FAILED | {}", text);
    else
      log::finish("PASSED | {}", text);
  }
}

}  // namespace assay
