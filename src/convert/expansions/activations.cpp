// Activations by their definitions.
#include <cmath>
#include <numbers>

#include "convert/rewrite.h"
#include "convert/steps.h"

namespace assay {
namespace {

/// x for the positive part; alpha * (exp(x / alpha) - 1) for the negative.
void expand_celu(Rewrite& r) {
  Value* alpha = r.number(r.get_float("alpha", 1), r.dtype(0), "alpha");
  Value* negative = r.add("Min", {r.input(0), r.number(0, r.dtype(0), "zero")});
  Value* curve = r.add("Mul", {r.add("Elu", {r.add("Div", {negative, alpha})}, {{"alpha", 1.0F}}), alpha});
  r.replace({r.add("Add", {r.add("Relu", {r.input(0)}), curve})});
}

void expand_gelu(Rewrite& r) {
  const DType t = r.dtype(0);
  Value* x = r.input(0);
  Value* inner = nullptr;
  if (r.get_string("approximate", "none") == "tanh") {
    Value* cube = r.add("Mul", {r.add("Mul", {x, x}), x});
    Value* sum = r.add("Add", {x, r.add("Mul", {cube, r.number(0.044715, t, "cubic")})});
    inner = r.add("Tanh", {r.add("Mul", {sum, r.number(std::sqrt(2 / std::numbers::pi), t, "scale")})});
  } else {
    inner = r.add("Erf", {r.add("Mul", {x, r.number(std::sqrt(0.5), t, "scale")})});
  }
  Value* half = r.add("Mul", {x, r.number(0.5, t, "half")});
  r.replace({r.add("Mul", {half, r.add("Add", {inner, r.number(1, t, "one")})})});
}

void expand_hard_swish(Rewrite& r) {
  Value* gate = r.add("HardSigmoid", {r.input(0)}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}});
  r.replace({r.add("Mul", {r.input(0), gate})});
}

void expand_mish(Rewrite& r) {
  r.replace({r.add("Mul", {r.input(0), r.add("Tanh", {r.add("Softplus", {r.input(0)})})})});
}

Value* swish(Rewrite& r) {
  Value* x = r.input(0);
  const double alpha = r.get_float("alpha", 1);
  Value* scaled = alpha == 1 ? x : r.add("Mul", {x, r.number(alpha, r.dtype(0), "alpha")});
  return r.add("Mul", {x, r.add("Sigmoid", {scaled})});
}

void expand_swish(Rewrite& r) { r.replace({swish(r)}); }
void expand_swi_glu(Rewrite& r) { r.replace({r.add("Mul", {swish(r), r.input(1)})}); }

void expand_thresholded_relu(Rewrite& r) {
  const DType t = r.dtype(0);
  Value* above = r.add("Greater", {r.input(0), r.number(r.get_float("alpha", 1), t, "alpha")});
  r.replace({r.add("Where", {above, r.input(0), r.number(0, t, "zero")})});
}

}  // namespace

constinit const Expansion expansion_onnx_Celu = {"", "Celu", 8, "Relu, and Elu of the negative part",
                                                 expand_celu};
constinit const Expansion expansion_onnx_Gelu = {"", "Gelu", 13, "Erf or Tanh", expand_gelu};
constinit const Expansion expansion_onnx_HardSwish = {"", "HardSwish", 13, "HardSigmoid", expand_hard_swish};
constinit const Expansion expansion_onnx_Mish = {"", "Mish", 13, "Softplus and Tanh", expand_mish};
constinit const Expansion expansion_onnx_Swish = {"", "Swish", 13, "Sigmoid", expand_swish};
constinit const Expansion expansion_onnx_SwiGLU = {"", "SwiGLU", 13, "Sigmoid", expand_swi_glu};
constinit const Expansion expansion_onnx_ThresholdedRelu = {"", "ThresholdedRelu", 9, "Greater and Where",
                                                            expand_thresholded_relu};

}  // namespace assay
