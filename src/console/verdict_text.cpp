#include "console/verdict_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "arbiter/causes.h"
#include "arbiter/cut_out.h"
#include "base/log.h"
#include "base/wording.h"
#include "reference/error_bound.h"
#include "tensor/position.h"

namespace assay {
namespace {

/// With more outputs than this, or if makers have been described, only outputs with findings are shown.
constexpr size_t kShowAll = 16;
/// Makers described, and nodes listed per runner, unless at -v.
constexpr size_t kDescribed = 3, kListed = 8;
/// Results with findings that have a line of their own, unless at -v.
constexpr size_t kLines = 20;
/// Nodes that are ranked, unless at -v.
constexpr size_t kRanked = 20;
/// Maximum number of nodes to list as the origin of an error.
constexpr size_t kRegionNodes = 24;

std::string position(int64_t at, const Shape& shape) { return index_at(shape, at).str(); }

std::string in_body(const ArbiterVerdict& o) { return o.body.empty() ? "" : ", " + o.body; }

/// The ratio of the error to the explained one, in words if a number is not informative.
std::string times(double ratio) {
  if (std::isnan(ratio)) return "not comparable with";
  if (std::isinf(ratio)) return "where nothing is explained";
  if (ratio >= 1e6) return "more than a million times";
  return fmt::format("{:.3g}x", ratio);
}

std::string overflow_text(const ArbiterVerdict& o) {
  std::string text;
  if (o.overflows > 0)
    text = fmt::format(" | {} element(s) are infinite because {} cannot hold the exact value", o.overflows,
                       dtype_name(o.dtype));
  if (o.follows > 0)
    text +=
        fmt::format(" | {} element(s) are no finite numbers because results before overflowed", o.follows);
  if (o.untold > 0)
    text +=
        fmt::format(" | {} element(s) cannot be judged: they depend on what overflows on the way", o.untold);
  return text;
}

std::string describe(const ArbiterVerdict& o) {
  const std::string note = o.note.empty() ? "" : " | " + o.note;
  std::string name(verdict_name(o.verdict));
  if (o.verdict == Verdict::kRounding && !o.computed_in.empty()) name += ", in " + o.computed_in;
  if (!o.problem.empty())
    return fmt::format("{} | {}{}{}", name, o.problem,
                       o.worst_at >= 0 ? " first at " + position(o.worst_at, o.shape) : "", note);
  if (o.verdict == Verdict::kNotJudged || o.verdict == Verdict::kOpen) return fmt::format("{}{}", name, note);
  if (o.verdict == Verdict::kAgrees)
    return fmt::format("agrees | Every element is the exact value, rounded (max error={:.5g}){}{}",
                       o.own_error, overflow_text(o), note);
  std::string text = fmt::format("{} | Max error={:.5g} (exact value {:.5g})", name, o.max_error, o.exact);
  if (o.worst_at >= 0)
    text += fmt::format(" | Worst at {}: {}exact={:.9g}, result={:.9g}{}", position(o.worst_at, o.shape),
                        std::isfinite(o.worst_error)
                            ? fmt::format("error={:.5g}, rounding explains {:.5g} ({}), ", o.worst_error,
                                          o.worst_explained, times(o.worst_ratio))
                            : "no rounding explains it, ",
                        o.worst_exact, o.worst_result,
                        o.basis == Basis::kNode && !o.node.empty() ? " (on its own inputs)" : "");
  if (o.verdict == Verdict::kWrong && !o.pattern.empty()) text += " | " + o.pattern;
  return text + overflow_text(o) + note;
}

std::string excuses_text(const ArbiterVerdict& o) {
  std::string text;
  for (const std::string& name : o.excuses) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Which results have a line of their own.
struct ShownOutputs {
  bool all;  ///< with few outputs, of which no node has been described

  explicit ShownOutputs(const Arbitration& a) {
    std::set<std::string> names;
    for (const ArbiterVerdict& o : a.outputs) names.insert(o.output + " " + o.body);
    const bool has_maker = std::any_of(a.outputs.begin(), a.outputs.end(), [](const ArbiterVerdict& o) {
      return o.verdict == Verdict::kWrong && o.basis == Basis::kNode;
    });
    all = names.size() <= kShowAll && !has_maker;
  }
  bool is_bad(const ArbiterVerdict& o) const {
    switch (o.verdict) {
      case Verdict::kUnclear:
      case Verdict::kCannotTell:
      case Verdict::kNotJudged:
        return true;
      case Verdict::kWrong:  // the makers have been described
        return all || o.basis != Basis::kNode;
      default:
        return false;
    }
  }
  log::Severity severity(const ArbiterVerdict& o) const {
    if (is_bad(o)) return log::Severity::kError;
    if (o.overflows > 0 || (all && o.follows > 0) || o.verdict == Verdict::kOpen)
      return log::Severity::kWarning;
    return all ? log::Severity::kInfo : log::Severity::kVerbose;
  }
  bool has_title(log::Severity severity) const {
    return all || severity != log::Severity::kVerbose || log::enabled(severity);
  }
};

void report_outputs(const Arbitration& a, VerdictLength length) {
  const ShownOutputs shown(a);
  const bool has_limit = length == VerdictLength::kScreen && !log::enabled(log::Severity::kVerbose);
  std::string current;
  size_t lines = 0, left_out = 0;
  for (const ArbiterVerdict& o : a.outputs) {
    if (!o.lacking.empty()) continue;  // report_lacking() says it
    const auto severity = shown.severity(o);
    if (severity != log::Severity::kVerbose && has_limit && ++lines > kLines) {
      ++left_out;
      continue;
    }
    if (o.output + o.body != current && shown.has_title(severity)) {
      log::info("Output: '{}' (shape={}){}", o.output, o.shape.str(), in_body(o));
      current = o.output + o.body;
    }
    const log::Indent indent;
    log::message(severity, "{} | {}", o.runner, describe(o));
    if (!o.excuses.empty()) log::message(severity, "{} | Excused by: {}", o.runner, excuses_text(o));
  }
  if (left_out > 0) log::info("{} more result(s) with findings are not shown", left_out);
}

/// A summary where outputs have no lines of their own.
void report_overflown(const Arbitration& a) {
  const auto follows = [](const ArbiterVerdict& o) { return o.follows > 0; };
  const auto count = std::ranges::count_if(a.outputs, follows);
  if (count == 0 || a.outputs.size() <= kShowAll) return;
  log::warning(
      "{} result(s), the first of them '{}', hold elements that are no finite numbers because results before "
      "overflowed",
      count, std::ranges::find_if(a.outputs, follows)->output);
}

/// For a runner in narrow types: the nodes that cause its error.
void report_shares(const Arbitration& a, VerdictLength length) {
  const bool has_limit = length == VerdictLength::kScreen && !log::enabled(log::Severity::kVerbose);
  for (size_t first = 0; first < a.shares.size();) {
    size_t end = first;
    while (end < a.shares.size() && a.shares[end].runner == a.shares[first].runner) ++end;
    log::info("Final error | {} | {} node(s) make it, by their share of it:", a.shares[first].runner,
              end - first);
    const log::Indent indent;
    const size_t last = has_limit ? std::min(end, first + kRanked) : end;
    double rest = 1;
    for (size_t i = first; i < last; ++i) {
      const ErrorShare& s = a.shares[i];
      rest -= s.share;
      log::info("{:5.1f} % | {}{} | adds {:.2g} % of its result", 100 * s.share, s.node,
                s.computed_in.empty() ? "" : ", in " + s.computed_in, 100 * s.own_error);
    }
    if (last < end) log::info("{:5.1f} % | {} more", 100 * std::max(rest, 0.0), end - last);
    first = end;
  }
}

using Group = std::vector<const ArbiterVerdict*>;

/// The node labels, each once.
std::string list_nodes(const Group& list) {
  std::vector<std::string> nodes;
  for (const ArbiterVerdict* o : list)
    if (std::find(nodes.begin(), nodes.end(), o->node) == nodes.end()) nodes.push_back(o->node);
  const size_t shown = log::enabled(log::Severity::kVerbose) ? nodes.size() : std::min(nodes.size(), kListed);
  std::string text = fmt::format("{} node(s): ", nodes.size());
  for (size_t i = 0; i < shown; ++i) text += (i ? ", " : "") + nodes[i];
  if (nodes.size() > shown) text += fmt::format(", and {} more", nodes.size() - shown);
  return text;
}

void describe_maker(const ArbiterVerdict& o, const char* title, const RunFiles& files) {
  const std::string type =
      o.dtype == DType::kUndefined ? "" : fmt::format(" (shape={}, {})", o.shape.str(), dtype_name(o.dtype));
  log::error("{} | {} | Node {}{} | Output: '{}'{} | made here{}", title, o.runner, o.node, in_body(o),
             o.output, type,
             o.certain ? ", certainly: no order of its operations explains it"
                       : ", very likely: far beyond the rounding to expect");
  const log::Indent indent;
  if (!o.problem.empty())
    log::error("On this runner's own inputs, {}{}", o.problem,
               o.worst_at >= 0 ? fmt::format("; at {}: exact={:.9g}, result={:.9g}",
                                             position(o.worst_at, o.shape), o.worst_exact, o.worst_result)
                               : "");
  else
    log::error("Worst at {}: exact={:.9g} on this runner's own inputs, result={:.9g}{}",
               position(o.worst_at, o.shape), o.worst_exact, o.worst_result,
               std::isfinite(o.worst_error)
                   ? fmt::format("; off by {:.5g}, rounding explains {:.5g} ({})", o.worst_error,
                                 o.worst_explained, times(o.worst_ratio))
                   : ", which no rounding explains");
  if (o.beyond > 0)
    log::error("Wrong: {} of {} elements{}", o.beyond, o.elements,
               o.pattern.empty() ? "" : " (" + o.pattern + ")");
  const auto tell = [](const char* title, const std::string& text) {
    if (!text.empty()) log::error("{}: {}", title, text);
  };
  tell("Likely", likely_cause(o));
  tell("Note", o.note);
  tell(o.body.empty() ? "To cut it out" : "To cut the node around it out", extract_command(o, files));
  tell("Its inputs", inputs_command(o, files));
}

/// A wrong result whose origin is unknown.
void report_region(const ArbiterVerdict& o) {
  if (o.region.empty() || o.region.size() > kRegionNodes) {
    log::error("{} | '{}' is wrong{}; {}", o.runner, o.output,
               o.basis == Basis::kRegion ? ", between the values that are known" : "",
               say(Say::kMarkOutputs));
    return;
  }
  std::string nodes;
  for (const std::string& label : o.region) nodes += (nodes.empty() ? "" : ", ") + label;
  log::error("{} | '{}' is wrong: the error is made between the values that are known, by {}", o.runner,
             o.output, nodes);
}

/// Outputs that cannot be judged because of an unknown operator, one line per node.
void report_lacking(const Arbitration& a) {
  std::vector<const ArbiterVerdict*> firsts;
  for (const ArbiterVerdict& o : a.outputs) {
    const auto is_same = [&](const ArbiterVerdict* f) {
      return f->runner == o.runner && f->lacking == o.lacking;
    };
    if (!o.lacking.empty() && std::none_of(firsts.begin(), firsts.end(), is_same)) firsts.push_back(&o);
  }
  for (const ArbiterVerdict* f : firsts) {
    std::vector<std::string> names;
    bool is_alone = true;
    for (const ArbiterVerdict& o : a.outputs) {
      if (o.runner != f->runner || o.lacking != f->lacking) continue;
      names.push_back(o.output);
      is_alone = is_alone && o.node == o.lacking;
    }
    const size_t shown =
        log::enabled(log::Severity::kVerbose) ? names.size() : std::min(names.size(), kListed);
    std::string list;
    for (size_t i = 0; i < shown; ++i) list += fmt::format("{}'{}'", i ? ", " : "", names[i]);
    if (names.size() > shown) list += fmt::format(" and {} more", names.size() - shown);
    log::error("Not judged | {} | {}: the reference does not know the operator of node {}. {}", f->runner,
               list, f->lacking, say(is_alone ? Say::kDefineByExtension : Say::kMarkAllOutputs));
  }
}

/// Nodes in bodies repeat an error in each iteration.
bool was_described(const Group& made, size_t i) {
  return std::any_of(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(i), [&](const auto* o) {
    return !o->body.empty() && o->node == made[i]->node && o->output == made[i]->output;
  });
}

void describe_makers(const Group& made, const RunFiles& files) {
  const bool describes_all = log::enabled(log::Severity::kVerbose);
  size_t described = 0;
  for (size_t i = 0; i < made.size() && (describes_all || described < kDescribed); ++i)
    if (describes_all || !was_described(made, i))
      describe_maker(*made[i], described++ == 0 ? "First Divergence" : "Another Maker", files);
}

bool is_traced(const Arbitration& a, const std::string& runner) {
  return a.traced != nullptr && std::ranges::any_of(a.traced->outputs, [&](const ArbiterVerdict& o) {
           return o.runner == runner && o.verdict == Verdict::kWrong;
         });
}

void report_makers_of(const Arbitration& a, const std::string& runner) {
  Group made, between, inherited;
  for (const ArbiterVerdict& o : a.outputs) {
    if (o.runner != runner) continue;
    if (o.verdict == Verdict::kWrong) (o.basis == Basis::kNode ? made : between).push_back(&o);
    if (o.verdict == Verdict::kInherited) inherited.push_back(&o);
  }
  describe_makers(made, a.files);
  const log::Indent indent;
  if (!made.empty()) log::error("Error made by {}", list_nodes(made));
  if (inherited.size() > kListed && !log::enabled(log::Severity::kVerbose))
    log::info("Error inherited by {} node(s) behind", inherited.size());
  else if (!inherited.empty())
    log::info("Error inherited by {}", list_nodes(inherited));
  if (!between.empty() && !is_traced(a, runner)) report_region(*between[0]);
}

void report_makers(const Arbitration& a) {
  std::vector<std::string> runners;
  for (const ArbiterVerdict& o : a.outputs)
    if (std::ranges::find(runners, o.runner) == runners.end()) runners.push_back(o.runner);
  for (const std::string& runner : runners)
    if (std::ranges::find(a.unsteady, runner) == a.unsteady.end()) report_makers_of(a, runner);
}

}  // namespace

void report(const Arbitration& result, const ArbiterOptions& options) { print_verdict(result, options); }

void print_verdict(const Arbitration& a, const ArbiterOptions& options, VerdictLength length) {
  log::start("Float64 Verdict | Reference in float64, {} noisy evaluation(s), explained range {} x spread",
             a.samples > 0 ? a.samples : options.samples, kExplainedFactor);
  const log::Indent indent;
  for (const std::string& runner : a.unsteady)
    log::error(
        "Not reproducible | {} | With the same inputs it gave other results when it ran again: no node is "
        "to blame for that{}",
        runner, a.threads == 1 ? "" : ", but perhaps the threads");
  if (!a.processor.empty())
    log::verbose("Computed on {}, {}", a.processor,
                 a.threads == 0 ? "as many threads as it has" : fmt::format("{} thread(s)", a.threads));
  report_lacking(a);
  report_outputs(a, length);
  report_overflown(a);
  report_shares(a, length);
  report_makers(a);
  if (a.lanes_lost > 0)
    log::warning(
        "Noise led {} evaluation(s) of a node astray (an index out of range, a shape that does not fit): "
        "they were left out",
        a.lanes_lost);
  std::vector<std::pair<std::string, std::array<int, 8>>> counts;
  for (const ArbiterVerdict& o : a.outputs) {
    auto it = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == o.runner; });
    if (it == counts.end()) it = counts.insert(counts.end(), {o.runner, {}});
    ++it->second[static_cast<size_t>(o.verdict)];
  }
  for (const auto& [runner, c] : counts) {
    const auto of = [&](Verdict v) { return c[static_cast<size_t>(v)]; };
    std::string text = fmt::format("{} | {} output(s) agree, {} differ by rounding only, {} wrong", runner,
                                   of(Verdict::kAgrees), of(Verdict::kRounding), of(Verdict::kWrong));
    for (const Verdict v :
         {Verdict::kInherited, Verdict::kOpen, Verdict::kUnclear, Verdict::kCannotTell, Verdict::kNotJudged})
      if (of(v) > 0) text += fmt::format(", {} {}", of(v), verdict_name(v));
    if (of(Verdict::kWrong) > 0)
      log::error("FAILED | {}", text);
    else if (of(Verdict::kUnclear) + of(Verdict::kCannotTell) + of(Verdict::kNotJudged) > 0)
      log::warning("UNCLEAR | {}", text);
    else
      log::finish("PASSED | {}", text);
  }
}

}  // namespace assay
