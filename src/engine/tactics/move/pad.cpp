// Pad: copies rows, and fills their padding.
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cstring>

#include "analysis/match.h"
#include "engine/tactics/move/pad_kernel.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_pad {
namespace {

constexpr std::string_view kOperators[] = {"Pad"};

/// Elements added before and after each axis, negative where they are cut off; nothing when not constant.
std::optional<std::vector<int64_t>> pads_of(const Problem& p) {
  const Node& n = p.node();
  const auto given = ints_parameter(n, n.find_attribute("paddings") != nullptr ? "paddings" : "pads", 1);
  const size_t rank = p.input_shape(0)->size();
  if (!given) return std::nullopt;
  std::vector<int64_t> pads(2 * rank);
  if (n.input(3) == nullptr) return given->size() == 2 * rank ? given : std::nullopt;
  const auto axes = integers_of(n.input(3));
  if (!axes || given->size() != 2 * axes->size()) return std::nullopt;
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis((*axes)[i], static_cast<int>(rank)));
    pads[axis] = (*given)[i];
    pads[rank + axis] = (*given)[axes->size() + i];
  }
  return pads;
}

std::string mode_of(const Node& n) { return std::string(string_attribute(n, "mode", "constant")); }

/// Whether something is left of each axis that is padded from itself.
bool keeps_elements(const Shape& shape, const std::vector<int64_t>& pads) {
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t begin = pads[d], end = pads[shape.size() + d];
    const int64_t left = shape[d] + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0);
    if (left <= 0 && shape[d] + begin + end != 0) return false;
  }
  return true;
}

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  const std::string mode = mode_of(p.node());
  if (std::find(kernels::kPadModes.begin(), kernels::kPadModes.end(), mode) == kernels::kPadModes.end())
    return fmt::format("the mode '{}' is unknown", mode);
  if (p.node().find_attribute("value") != nullptr && p.input_dtype(0) != DType::kFloat32)
    return "a number of another type is an attribute";
  if (p.input_count() > 2 && p.has_input(2) &&
      (p.input_shape(2) == nullptr || p.input_shape(2)->numel() != 1))
    return "the number that is padded with is not one";
  const auto pads = pads_of(p);
  if (!pads) return "the padding is not a constant";
  return mode == "constant" || keeps_elements(*p.input_shape(0), *pads)
             ? ""
             : "the plain evaluation says of which axis nothing is left";
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const std::string mode = mode_of(p.node());
  Candidate& b = proposals.add(mode, NumericsClass::kExact);
  b.add_input(p.node().input(0));
  if (mode == "constant" && p.input_count() > 2 && p.has_input(2)) b.add_input(p.node().input(2));
  b.add_output(p.node().output(0));
  const auto number = std::ranges::find(kernels::kPadModes, mode) - kernels::kPadModes.begin();
  b.write(StepFields{.mode = static_cast<kernels::PadMode>(number),
                     .pads = *pads_of(p),
                     .value = float_attribute(p.node(), "value", 0)});
  b.estimate = estimate_seconds(0,
                                2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), 1)) *
                                    static_cast<double>(p.output_shape(0)->numel()),
                                1);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "pad",
    .summary = "Pad in all its modes",
    .version = 2,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_pad
