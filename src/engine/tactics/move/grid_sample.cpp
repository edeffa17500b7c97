// GridSample of float32 images.
#include "kernels/sample/grid_sample.h"

#include <algorithm>

#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_grid_sample {
namespace {

using kernels::GridEdge;
using kernels::GridMode;
using kernels::GridSampling;

constexpr std::string_view kOperators[] = {"GridSample"};
constexpr std::string_view kModes[] = {"nearest", "linear", "cubic"},
                           kFirstModes[] = {"nearest", "bilinear", "bicubic"};
constexpr std::string_view kEdges[] = {"zeros", "border", "reflection"};

struct StepFields {
  GridMode mode = GridMode::kNearest;
  GridEdge edge = GridEdge::kZeros;
  bool align_corners = false;

  void fields(FieldVisitor& visit) {
    visit("mode", mode, GridMode::kCubic);
    visit("edge", edge, GridEdge::kReflection);
    visit("align_corners", align_corners);
  }
};

template <size_t N>
int64_t number_of(const std::string_view (&names)[N], std::string_view name) {
  const auto at = std::find(std::begin(names), std::end(names), name);
  return at == std::end(names) ? -1 : at - std::begin(names);
}

/// False when image, grid and output do not belong together.
bool read_shapes(const Shape& image, const Shape& grid, const Shape& out, GridSampling& g) {
  const size_t rank = image.size();
  if (rank < 3 || grid.size() != rank || out.size() != rank || grid.back() != image.rank() - 2 ||
      grid[0] != image[0] || out[0] != image[0] || out[1] != image[1])
    return false;
  for (size_t d = 2; d < rank; ++d)
    if (out[d] != grid[d - 1]) return false;
  g.batch = image[0];
  g.channels = image[1];
  g.extents.assign(image.begin() + 2, image.end());
  g.points = out.numel(2, rank);
  const int64_t plane = image.numel(2, rank);
  return plane > 0 && plane <= kMaxOfWindow && g.taps() <= kernels::kMaxGridTaps;
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

class GridSampleKernel final : public Kernel {
 public:
  explicit GridSampleKernel(const StepReader& r) {
    const auto p = r.read<StepFields>();
    g_.mode = p.mode;
    g_.edge = p.edge;
    g_.align_corners = p.align_corners;
    const Shape &image = r.row_input(0).shape, &grid = r.row_input(1).shape, &out = r.row_output(0).shape;
    StepReader::check(read_shapes(image, grid, out, g_), "a grid of {} does not make {} of {}", grid.str(),
                      out.str(), image.str());
  }
  Status run(const KernelArgs& args) noexcept override {
    return kernels::grid_sample(g_, static_cast<const float*>(args.inputs[0]),
                                static_cast<const float*>(args.inputs[1]),
                                static_cast<float*>(args.outputs[0]))
               ? Status::kOk
               : Status::kOutOfMemory;
  }

 private:
  GridSampling g_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<GridSampleKernel>(StepReader(plan, step, 2));
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
