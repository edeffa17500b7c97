// Between row-major and blocked memory. The builder adds these steps itself; no operator asks for them.
#include "engine/tactics/dnnl_util.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine {
namespace {

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  const PlanValue &in = r.input(0), &out = r.output(0);
  StepReader::check(in.shape == out.shape && in.layout.is_blocked() != out.layout.is_blocked(),
                    "it brings {} in {} into {} in {}", in.shape.str(), in.layout.str(), out.shape.str(),
                    out.layout.str());
  const Layout blocked = in.layout.is_blocked() ? in.layout : out.layout;
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  auto kernel = std::make_unique<DnnlKernel>();
  const OneThread alone;
  for (const Box& part : channel_parts(out.shape, blocked, plan.threads)) {
    const dnnl::memory::desc from = part_desc(in.shape, in.layout, part),
                             to = part_desc(out.shape, out.layout, part);
    kernel->add_primitive(
        dnnl::reorder(dnnl::reorder::primitive_desc(dnnl_engine(), from, dnnl_engine(), to)));
    kernel->add_input(DNNL_ARG_FROM, from, 0, part_offset(in.shape, in.layout, part) * kWidth);
    kernel->add_output(DNNL_ARG_TO, to, 0, part_offset(out.shape, out.layout, part) * kWidth);
  }
  return kernel;
}

}  // namespace

constinit const TacticDef tactic_reorder = {
    .name = "reorder",
    .factory = {.create = dnnl_kernel<create>},
};

}  // namespace assay::engine
