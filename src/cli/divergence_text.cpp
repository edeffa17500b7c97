#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/python_repr.h"
#include "cli/layer_sides.h"
#include "cli/options/generation.h"
#include "debug/places.h"

namespace assay::cli {
namespace {

using debug::Divergence;
using debug::TensorDifference;

std::string difference_text(const TensorDifference& d) {
  if (!d.problem.empty()) return d.problem;
  return fmt::format("{} of {} element(s) beyond the tolerance, the largest error {}{}: {} and {} at {}",
                     d.beyond, d.elements, format_g(d.error, 4),
                     d.scale > 0 && std::isfinite(d.error)
                         ? fmt::format(" ({} of the largest number)", format_g(d.error / d.scale, 3))
                         : "",
                     format_g(d.first, 6), format_g(d.second, 6), debug::place_text("", d.index));
}

std::string own_error_text(const Divergence& d) {
  const auto text = [](const std::optional<double>& error) {
    return error ? fmt::format("{} of the largest number off", format_g(*error, 3)) : "not known";
  };
  if (!d.first_own_error && !d.second_own_error) return "";
  const std::string errs = debug::erring_side(d);
  return fmt::format("\nBy what float64 gives on its own operands, the first is {}, the second {}{}.",
                     text(d.first_own_error), text(d.second_own_error),
                     errs == "neither" ? ": each is right for its own node"
                     : errs == "both"  ? ": both err"
                     : errs.empty()    ? ""
                                       : ": the " + errs + " errs");
}

std::string text_of(const Divergence& d) {
  std::string text = fmt::format("{}: {}", d.first_tensor, difference_text(d.difference));
  if (d.second_tensor != d.first_tensor)
    text += fmt::format("\nThe second one calls it {}, found by its {}.", d.second_tensor,
                        debug::matched_by_name(d.by));
  if (!d.first_nodes.empty()) text += fmt::format("\nIt comes from node {}", fmt::join(d.first_nodes, ", "));
  if (d.second_nodes != d.first_nodes)
    text += fmt::format("\nin the second one from node {}", fmt::join(d.second_nodes, ", "));
  if (!d.first_nodes.empty())
    text += fmt::format("\nwhose operands agree: they come to {} of the tolerance.",
                        format_g(d.excess_of_operands, 3));
  text += own_error_text(d);
  text += fmt::format("\n{} tensor(s) behind it differ, {} agree again.", d.followers, d.recovered);
  for (const Divergence::Reached& reached : d.outputs)
    text += fmt::format("\nThe output {}: {}", reached.output, difference_text(reached.difference));
  if (d.outputs.empty()) text += "\nNo output differs for it.";
  return text;
}

std::string parting_text(const generate::Parting& p) {
  return fmt::format("\nPrompt {} parts at token {}.\n{}\n{}\n{}", p.prompt, p.index, side_text(p.first),
                     side_text(p.second), explanation_text(p));
}

/// The divergences, the first one in full.
std::string divergences_text(const std::vector<Divergence>& all) {
  std::string text = "\nThe first that differs although its operands agree:\n" + text_of(all.front());
  constexpr size_t kMost = 10;
  for (size_t i = 1; i < std::min(all.size(), kMost + 1); ++i)
    text += fmt::format("{}\n{}, node {}: {}", i == 1 ? "\nBesides:" : "", all[i].first_tensor,
                        fmt::join(all[i].first_nodes, ", "), difference_text(all[i].difference));
  if (all.size() > kMost + 1) text += fmt::format("\nand {} more", all.size() - kMost - 1);
  return text;
}

std::string step_text(const debug::StepDivergence& s) {
  std::string text =
      fmt::format("\nThe step for token {} of prompt {}, which is fed {} token(s) behind {} position(s)",
                  s.index, s.prompt, s.added.size(), s.positions);
  text += s.outputs.empty() ? ":" : ", is the first whose outputs differ:";
  for (const debug::OutputDifference& o : s.outputs)
    text += fmt::format("\nThe output {}: {}", o.first, difference_text(o.difference));
  text += fmt::format("\nOf its {} tensor(s) that were compared {} differ, {}.", s.layers.compared,
                      s.layers.differing,
                      s.from_one_cache ? "with the first one's cache on both sides"
                                       : "with each side on its own cache, since they have other forms");
  if (!s.layers.divergences.empty()) return text + divergences_text(s.layers.divergences);
  return text + (s.from_one_cache
                     ? " What differs is what steps before it left in the cache, each within the tolerance."
                     : "");
}

}  // namespace

std::string divergence_text(const debug::DivergenceReport& report) {
  std::string text = fmt::format(
      "First: {}\nSecond: {}\n{} tensor(s) were compared in {} iteration(s), {} differ.", report.first_name,
      report.second_name, report.compared, report.iterations, report.differing);
  for (const auto& [by, count] : report.matched_by)
    text += fmt::format("\n{} have another name in the second one, and were found by their {}.", count, by);
  if (report.first_alone + report.second_alone > 0)
    text += fmt::format("\n{} tensor(s) of the first one and {} of the second were not found in the other.",
                        report.first_alone, report.second_alone);
  if (report.divergences.empty()) return text;
  return text + divergences_text(report.divergences);
}

std::string sequence_divergence_text(const debug::SequenceDivergence& found) {
  std::string text = fmt::format(
      "First: {}\nSecond: {}\n{} prompt(s) were looked at: {} equal token(s), the largest difference of "
      "logits {}",
      found.first_name, found.second_name, found.prompts, found.equal_tokens,
      format_g(found.largest_difference, 3));
  if (std::isfinite(found.smallest_margin))
    text += fmt::format(", the smallest distance between the two most likely tokens {}",
                        format_g(found.smallest_margin, 3));
  text += ".";
  for (const generate::Parting& p : found.partings) text += parting_text(p);
  if (!found.stopped.empty()) text += "\nThere is no further token: " + found.stopped;
  for (const debug::StepDivergence& s : found.steps) text += step_text(s);
  if (found.steps.empty()) text += "\nNo step gives anything that differs beyond the tolerance.";
  return text;
}

}  // namespace assay::cli
