// Between row-major and blocked memory. The builder adds these steps itself; no operator asks for them.
#include "engine/tactics/dnnl_util.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine {
namespace {

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const dnnl::memory::desc from = memory_desc(plan, step.inputs[0]), to = memory_desc(plan, step.outputs[0]);
  const dnnl::reorder::primitive_desc pd(dnnl_engine(), from, dnnl_engine(), to);
  auto kernel = std::make_unique<DnnlKernel>(dnnl::reorder(pd));
  kernel->add_input(DNNL_ARG_FROM, from, 0);
  kernel->add_output(DNNL_ARG_TO, to, 0);
  return kernel;
}

}  // namespace

constinit const TacticDef tactic_reorder = {
    .name = "reorder",
    .numerics = NumericsClass::kExact,
    .factory = {.create = create},
};

}  // namespace assay::engine
