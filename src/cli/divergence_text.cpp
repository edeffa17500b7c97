#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/python_repr.h"
#include "cli/layer_sides.h"
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
  text += "\nThe first that differs although its operands agree:\n" + text_of(report.divergences.front());
  constexpr size_t kMost = 10;
  for (size_t i = 1; i < std::min(report.divergences.size(), kMost + 1); ++i) {
    const Divergence& d = report.divergences[i];
    text += fmt::format("{}\n{}, node {}: {}", i == 1 ? "\nBesides:" : "", d.first_tensor,
                        fmt::join(d.first_nodes, ", "), difference_text(d.difference));
  }
  if (report.divergences.size() > kMost + 1)
    text += fmt::format("\nand {} more", report.divergences.size() - kMost - 1);
  return text;
}

}  // namespace assay::cli
