#include "engine/tactics/move/grid_sample_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_grid_sample {
namespace {

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

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<GridSampleKernel>(StepReader(plan, step, 2));
}

}  // namespace assay::engine::tactic_grid_sample
