// GridSample of float32 images.
#include <algorithm>

#include "engine/tactics/move/grid_sample_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_grid_sample {
namespace {

constexpr std::string_view kOperators[] = {"GridSample"};

constexpr std::string_view kModes[] = {"nearest", "linear", "cubic"},
                           kFirstModes[] = {"nearest", "bilinear", "bicubic"};
constexpr std::string_view kEdges[] = {"zeros", "border", "reflection"};

template <size_t N>
int64_t number_of(const std::string_view (&names)[N], std::string_view name) {
  const auto at = std::find(std::begin(names), std::end(names), name);
  return at == std::end(names) ? -1 : at - std::begin(names);
}

std::string propose(const Problem& p, Proposals& proposals) {
  const Node& n = p.node();
  const Shape *image = p.input_shape(0), *grid = p.input_shape(1), *out = p.output_shape(0);
  if (image == nullptr || grid == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32 || p.input_dtype(1) != DType::kFloat32)
    return "image or grid is not float32";
  const OpContext c = p.attributes();
  const std::string& mode = c.attr_string("mode");
  const int64_t number = std::max(number_of(kModes, mode), number_of(kFirstModes, mode));
  const int64_t edge = number_of(kEdges, c.attr_string("padding_mode"));
  if (number < 0 || edge < 0) return "its modes are unknown";
  GridSampling g{.mode = static_cast<GridMode>(number), .extents = {}};
  if (!read_shapes(*image, *grid, *out, g)) return "the image is empty, too large or mixes too many elements";
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  b.add_input(n.input(0));
  b.add_input(n.input(1));
  b.add_output(n.output(0));
  b.write(StepFields{.mode = g.mode,
                     .edge = static_cast<GridEdge>(edge),
                     .align_corners = c.attr_int("align_corners") != 0});
  b.estimate = estimate_seconds(4.0 * static_cast<double>(out->numel() * g.taps()), 0, 0.05);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "grid_sample",
    .summary = "images at the places of a grid",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_grid_sample
