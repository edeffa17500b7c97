// Cases of passes that lower operators of ONNX Runtime's optimiser and quantiser.
#include "passes/pass_cases.h"

namespace assay {
namespace {

constexpr PassCase kRuntimeCases[] = {
    // lower_fused: an activation behind a product
    {"lower_fused",
     "g (float[1,2,4,4] x, float[3,2,3,3] w, float[3] b) => (float[1,3,4,4] y) { y = com.microsoft.FusedConv "
     "<activation = \"Relu\", pads = [1, 1, 1, 1]> (x, w, b) }",
     "Conv<pads=[1, 1, 1, 1]>(x, w, b); Relu(%0); y = Identity(%1)"},
    {"lower_fused",
     "g (float[1,2,4] x, float[3,2,2] w, float[1,3,3] z) => (float[1,3,3] y) { y = com.microsoft.FusedConv "
     "<activation = \"Clip\", activation_params = [-0.5, 1.5]> (x, w, , z) }",
     "Conv(x, w); Add(%0, z); Clip(%1, -0.5, 1.5); y = Identity(%2)"},
    {"lower_fused",
     "g (float[1,2,4] x, float[3,2,2] w) => (float[1,3,3] y) { y = com.microsoft.FusedConv <activation = "
     "\"HardSigmoid\", activation_params = [0.25, 0.5]> (x, w) }",
     "Conv(x, w); HardSigmoid<alpha=0.25, beta=0.5>(%0); y = Identity(%1)"},
    {"lower_fused",
     "g (float[1,2,4] x, float[3,2,2] w) => (float[1,3,3] y) { y = com.microsoft.FusedConv <activation = "
     "\"LeakyRelu\", activation_params = [0.125]> (x, w) }",
     "Conv(x, w); LeakyRelu<alpha=0.125>(%0); y = Identity(%1)"},
    // Clip has its bounds as attributes.
    {"lower_fused",
     "g (float[1,2,4] x, float[3,2,2] w) => (float[1,3,3] y) { y = com.microsoft.FusedConv <activation = "
     "\"Clip\"> (x, w) }",
     "", 10},
    {"lower_fused",
     "g (float16[1,2,4] x, float16[3,2,2] w) => (float16[1,3,3] y) { y = com.microsoft.FusedConv <activation "
     "= \"Relu\"> (x, w) }",
     ""},
    {"lower_fused",
     "g (float[2,3] x, float[4,3] w, float[4] b) => (float[2,4] y) { y = com.microsoft.FusedGemm <activation "
     "= \"LeakyRelu\", activation_alpha = 0.25, transB = 1, alpha = 0.5> (x, w, b) }",
     "Gemm<transB=1, alpha=0.5>(x, w, b); LeakyRelu<alpha=0.25>(%0); y = Identity(%1)"},
    {"lower_fused",
     "g (float[2,3] x, float[3,4] w) => (float[2,4] y) { y = com.microsoft.FusedGemm <activation = \"Tanh\"> "
     "(x, w) }",
     "Gemm(x, w); Tanh(%0); y = Identity(%1)"},
    // There is no Gemm of two inputs yet.
    {"lower_fused",
     "g (float[2,3] x, float[3,4] w) => (float[2,4] y) { y = com.microsoft.FusedGemm <activation = \"Tanh\"> "
     "(x, w) }",
     "", 10},
    // lower_fused: embeddings
    {"lower_fused",
     "g (int32[2,3] i, int32[2,3] s, float[4,5] w, float[6,5] p, float[2,5] t, float[5] a, float[5] b, "
     "int32[2,3] m) => (float[2,3,5] y, int32[2] l, float[2,3,5] e) { y, l, e = "
     "com.microsoft.EmbedLayerNormalization (i, s, w, p, t, a, b, m) }",
     "Gather<axis=0>(w, i); Slice(p, {0}, {3}, {0}, {1}); Add(%0, %1); Gather<axis=0>(t, s); Add(%2, %3); "
     "ReduceMean<axes=[2], keepdims=1>(%4); Sub(%4, %5); Mul(%6, %6); ReduceMean<axes=[2], keepdims=1>(%7); "
     "Add(%8, 1e-12); Sqrt(%9); Div(%6, %10); Equal(m, 1); Cast<to=6>(%12); ReduceSum<keepdims=1>(%13, {1}); "
     "Reshape(%14, {2}); l = Identity(%15); e = Identity(%4); Mul(%11, a); Add(%18, b); y = Identity(%19)"},
    {"lower_fused",
     "g (int32[2,3] i, float[4,5] w, float[6,5] p, float[5] a, float[5] b, int32[1,3] k) => (float[2,3,5] y, "
     "int32[2] l) { y, l = com.microsoft.EmbedLayerNormalization <epsilon = 0.5> (i, , w, p, , a, b, , k) }",
     "Gather<axis=0>(w, i); Gather<axis=0>(p, k); Add(%0, %1); ReduceMean<axes=[2], keepdims=1>(%2); Sub(%2, "
     "%3); Mul(%4, %4); ReduceMean<axes=[2], keepdims=1>(%5); Add(%6, 0.5); Sqrt(%7); Div(%4, %8); l = "
     "Identity({0, 0}); Mul(%9, a); Add(%11, b); y = Identity(%12)"},
    {"lower_fused",
     "g (int32[2,3] i, float16[4,5] w, float16[6,5] p, float16[5] a, float16[5] b) => (float16[2,3,5] y) { y "
     "= "
     "com.microsoft.EmbedLayerNormalization (i, , w, p, , a, b) }",
     ""},
};

}  // namespace

std::span<const PassCase> runtime_pass_cases() { return kRuntimeCases; }

}  // namespace assay
