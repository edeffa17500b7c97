#include "engine/tactics/reduce/channel_pool_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_channel_pool {
namespace {

class PoolKernel final : public Kernel {
 public:
  PoolKernel(const kernels::Window& w, int64_t images, int64_t channels, PoolKind kind, Layout layout)
      : window_(channel_window(w, channels, layout)),
        rows_(window_, images, w.out_size() / window_.out_columns),
        kind_(kind) {}

  Status run(const KernelArgs& args) noexcept override {
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    auto* const y = static_cast<float*>(args.outputs[0]);
    rows_.run([&](const ChannelRows::Part& part) {
      kernels::pool_row(window_, kind_, x + part.image, part.row, part.first, part.count, y + part.result);
    });
    return Status::kOk;
  }

 private:
  kernels::ChannelWindow window_;
  ChannelRows rows_;
  PoolKind kind_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  const PlanValue &in = r.input(0), &out = r.output(0);
  const Layout layout = in.layout == kChannelBlocks ? kChannelBlocks : Layout::channels_last();
  StepReader::check((in.shape.rank() == 3 || in.shape.rank() == 4) && out.shape.rank() == in.shape.rank() &&
                        in.shape[0] == out.shape[0] && in.shape[1] == out.shape[1] && in.shape.numel() > 0 &&
                        out.shape.numel() > 0 && same_memory(in.shape, in.layout, layout) &&
                        same_memory(out.shape, out.layout, layout),
                    "it makes {} in {} of {} in {}", out.shape.str(), out.layout.str(), in.shape.str(),
                    in.layout.str());
  const size_t axes = in.shape.size() - 2;
  const auto p = r.read(StepFields{.window = {axes}});
  const kernels::Window w{.in = {in.shape.begin() + 2, in.shape.end()},
                          .out = {out.shape.begin() + 2, out.shape.end()},
                          .kernel = p.window.kernel,
                          .strides = p.window.strides,
                          .dilations = p.window.dilations,
                          .begin = p.window.begin,
                          .end = std::vector<int64_t>(axes, 0)};
  int64_t taps = 1;
  for (size_t a = 0; a < axes; ++a) {
    taps = r.product({taps, w.kernel[a]});
    StepReader::check(all_see_pixels(w, a), "a window lies beside {}", in.shape.str());
  }
  r.product({out.shape.numel(), taps});
  return std::make_unique<PoolKernel>(w, in.shape[0], in.shape[1], p.kind, layout);
}

}  // namespace assay::engine::tactic_channel_pool
