// FusedGemm: the activation of alpha * A' * B' + beta * C, where A' and B' are A and B or their transposes.
#include "ops/contrib/fused_activation.h"
#include "ops/op_list.h"
#include "ops/op_set.h"
#include "ops/work.h"

namespace assay {

ActivationParameters fused_gemm_parameters(const OpContext& c) {
  ActivationParameters out;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (!c.has_attr(name)) break;
    out.push_back(c.attr_float(name));
  }
  return out;
}

}  // namespace assay

namespace assay::op_ms_FusedGemm {
namespace {

std::string activation(const OpContext& c) {
  return c.has_attr("activation") ? c.attr_string("activation") : "";
}

void infer(InferContext& c) {
  check_activation(activation(c));
  version_for(op_onnx_Gemm::def, 13)->infer(c);
}

/// Gemm's result for the inputs or, for `magnitudes`, of their magnitudes.
Tensor gemm(const EvalContext& c, bool magnitudes) {
  EvalContext inner(c.node(), op_onnx_Gemm::def, c.version(), c.inputs());
  if (magnitudes)
    op_onnx_Gemm::def.numerics.magnitude(inner);
  else
    version_for(op_onnx_Gemm::def, 13)->eval(inner);
  return inner.outputs()[0];
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  c.check(c.input(0).dtype() == DType::kFloat64, "there is no evaluation for {}",
          dtype_name(c.input(0).dtype()));
  const Tensor y = gemm(c, false);
  const auto terms = static_cast<double>(c.shape(0)[c.attr_int("transA") != 0 ? 0 : 1] + 2);
  const Traced sum = steps.accumulated(
      y, [&] { return gemm(c, true); }, terms);
  outputs[0] = activate(steps, sum, activation(c), fused_gemm_parameters(c));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
in  C: T ?
out Y: T
attr activation_beta: float
attr activation_alpha: float
attr activation: string
attr activation_gamma: float
attr beta: float = 1
attr transB: int = 0
attr alpha: float = 1
attr transA: int = 0
type T: @float uint32 uint64 int32 int64)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "FusedGemm",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .extra_steps = row_product_steps,
        },
};

}  // namespace assay::op_ms_FusedGemm
