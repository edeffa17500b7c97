// Cases of passes that lower operators of ONNX Runtime's
// optimizer and quantizer, or quantized values.
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
     "Less(i, 0); Where(%0, -2.14748e+09, i); Gather<axis=0>(w, %1); Slice(p, {0}, {3}, {0}, {1}); Add(%2, "
     "%3); "
     "Less(s, 0); Where(%5, -2.14748e+09, s); Gather<axis=0>(t, %6); Add(%4, %7); "
     "ReduceMean<axes=[2], keepdims=1>(%8); Sub(%8, %9); Mul(%10, %10); ReduceMean<axes=[2], "
     "keepdims=1>(%11); "
     "Add(%12, 1e-12); Sqrt(%13); Div(%10, %14); Equal(m, 1); Cast<to=1>(%16); ReduceSum<keepdims=1>(%17, "
     "{1}); "
     "Reshape(%18, {2}); Cast<to=6>(%19); l = Identity(%20); e = Identity(%8); Mul(%15, a); Add(%23, b); y = "
     "Identity(%24)"},
    {"lower_fused",
     "g (int32[2,3] i, float[4,5] w, float[6,5] p, float[5] a, float[5] b, int32[1,3] k) => (float[2,3,5] y, "
     "int32[2] l) { y, l = com.microsoft.EmbedLayerNormalization <epsilon = 0.5> (i, , w, p, , a, b, , k) }",
     "Less(i, 0); Where(%0, -2.14748e+09, i); Gather<axis=0>(w, %1); Less(k, 0); Where(%3, -2.14748e+09, k); "
     "Gather<axis=0>(p, %4); Add(%2, %5); ReduceMean<axes=[2], keepdims=1>(%6); Sub(%6, "
     "%7); Mul(%8, %8); ReduceMean<axes=[2], keepdims=1>(%9); Add(%10, 0.5); Sqrt(%11); Div(%8, %12); l = "
     "Identity({0, 0}); Mul(%13, a); Add(%15, b); y = Identity(%16)"},
    // Positions do not count from the end.
    {"lower_fused",
     "g (float[1,2,4] x, int64[1,2] i, float[3,2] c) => (float[1,2,4] y) { y = RotaryEmbedding <num_heads = "
     "1> (x, c, "
     "c, i) }",
     "Reshape(x, {1, 2, 1, 4}); Less(i, 0); Where(%1, -9.22337e+18, i); Gather<axis=0>(c, %2); "
     "Reshape(%3, {1, 2, "
     "1, 2}); Gather<axis=0>(c, %2); Reshape(%5, {1, 2, 1, 2}); Slice(%0, {0}, {2}, {3}, {1}); Slice(%0, "
     "{2}, {4}, "
     "{3}, {1}); Mul(%7, %4); Mul(%8, %6); Sub(%9, %10); Mul(%7, %6); Mul(%8, %4); Add(%12, %13); "
     "Concat<axis=3>(%11, %14); Reshape(%15, {1, 2, 4}); y = Identity(%16)",
     23},
    {"lower_fused",
     "g (int32[2,3] i, float16[4,5] w, float16[6,5] p, float16[5] a, float16[5] b) => (float16[2,3,5] y) { y "
     "= "
     "com.microsoft.EmbedLayerNormalization (i, , w, p, , a, b) }",
     ""},
    // lower_attention: a mask by lengths, as EmbedLayerNormalization gives it
    {"lower_attention",
     "g (float[1,2,4] q, float[1,3,4] k, float[1,3,4] v, int32[1] m) => (float[1,2,4] y) "
     "{ y = com.microsoft.MultiHeadAttention <num_heads = 1, scale = 1.0> (q, k, v, , m) }",
     "Reshape(q, {1, 2, 1, 4}); Transpose<perm=[0, 2, 1, 3]>(%0); Reshape(k, {1, 3, 1, 4}); "
     "Transpose<perm=[0, 2, 1, 3]>(%2); Reshape(v, {1, 3, 1, 4}); Transpose<perm=[0, 2, 1, 3]>(%4); "
     "Reshape(m, {1, 1}); Greater(%6, {0, 1, 2}); Where(%7, 0, -10000); Reshape(%8, {1, 1, 1, 3}); "
     "Transpose<perm=[0, 1, 3, 2]>(%3); MatMul(%1, %10); Add(%11, %9); Softmax<axis=3>(%12); MatMul(%13, "
     "%5); Transpose<perm=[0, 2, 1, 3]>(%14); Reshape(%15, {1, 2, 4}); y = Identity(%16)"},
    // lower_integer_products
    {"lower_integer_products",
     "g (uint8[2,3] a, float[1] s) => (float[2,2] y) <int8[3,2] b = {1, -2, 3, 4, -5, 6}, float t = {0.5}> { "
     "y = "
     "com.microsoft.MatMulIntegerToFloat (a, b, s, t) }",
     "MatMulInteger(a, {1, -2, 3, 4, -5, 6}); Mul(s, 0.5); Cast<to=1>(%0); Mul(%2, %1); y = Identity(%3)"},
    {"lower_integer_products",
     "g (int8[1,2,3] a, float s, int8 z, float[1,2,2] c) => (float[1,2,2] y) <uint8[3,2] b = {1, 2, 3, 4, "
     "250, "
     "6}, float[2] t = {0.5, 0.25}, uint8[2] u = {7, 8}> { y = com.microsoft.MatMulIntegerToFloat (a, b, s, "
     "t, "
     "z, u, c) }",
     "MatMulInteger(a, {1, 2, 3, 4, 250, 6}, z, {7, 8}); Mul(s, {0.5, 0.25}); Cast<to=1>(%0); Mul(%2, %1); "
     "Add(%3, c); y = Identity(%4)"},
    {"lower_integer_products",
     "g (uint8[2,3] a, float s) => (float[2,2] y) <uint8[3,2] b = {1, 2, 3, 4, 250, 6}, float t = {0.5}, "
     "uint8 "
     "u = {7}> { y = com.microsoft.MatMulIntegerToFloat (a, b, s, t, , u) }",
     "MatMulInteger(a, {1, 2, 3, 4, 250, 6}, -, 7); Mul(s, 0.5); Cast<to=1>(%0); Mul(%2, %1); y = "
     "Identity(%3)"},
    // float16
    {"lower_integer_products",
     "g (uint8[2,3] a, int8[3,2] b, float16 s) => (float16[2,2] y) { y = com.microsoft.MatMulIntegerToFloat "
     "(a, "
     "b, s, s) }",
     ""},
    // A stack of matrices on the right.
    {"lower_integer_products",
     "g (uint8[2,2,3] a, int8[2,3,2] b, float s) => (float[2,2,2] y) { y = "
     "com.microsoft.MatMulIntegerToFloat "
     "(a, b, s, s) }",
     ""},
    // The sums may need more than 32 bits.
    {"lower_integer_products",
     "g (uint8[1,33026] a, uint8[33026,1] b, float s) => (float[1,1] y) { y = "
     "com.microsoft.MatMulIntegerToFloat (a, b, s, s) }",
     ""},
    {"lower_integer_products",
     "g (float[2,3] a) => (float[2,2] y) <int8[3,2] b = {1, -2, 3, 4, -5, 6}, float[2] t = {0.5, 0.25}, "
     "int8[2] "
     "u = {1, 2}, float[2] c = {3, 4}> { y = com.microsoft.DynamicQuantizeMatMul (a, b, t, u, c) }",
     "DynamicQuantizeLinear(a); MatMulInteger(%0, {1, -2, 3, 4, -5, 6}, %0.2, {1, 2}); Mul(%0.1, {0.5, "
     "0.25}); Cast<to=1>(%1); Mul(%3, %2); Add(%4, {3, 4}); y = Identity(%5)"},
    // There is no DynamicQuantizeLinear yet.
    {"lower_integer_products",
     "g (float[2,3] a) => (float[2,2] y) <int8[3,2] b = {1, -2, 3, 4, -5, 6}, float t = {0.5}> { y = "
     "com.microsoft.DynamicQuantizeMatMul (a, b, t) }",
     "", 10},
    {"lower_integer_products",
     "g (uint8[1,2,3] x, int8[3,12] w, float[12] b, float s, float t) => (float[1,2,4] y) { y = "
     "com.microsoft.QAttention <num_heads = 2, unidirectional = 1> (x, w, b, s, t) }",
     "MatMulInteger(x, w); Mul(s, t); Cast<to=1>(%0); Mul(%2, %1); Add(%3, b); Slice(%4, {0}, {4}, {2}, "
     "{1}); Slice(%4, {4}, {8}, {2}, {1}); Slice(%4, {8}, {12}, {2}, {1}); y = "
     "com.microsoft.MultiHeadAttention<num_heads=2, unidirectional=1>(%5, %6, %7)"},
    {"lower_integer_products",
     "g (uint8[1,2,3] x, int8[3,12] w, float[12] b, float s, float t, int32[1,3] m, uint8 z, "
     "float[2,1,2,1,2] p) => (float[1,2,4] y, float[2,1,2,3,2] q) { y, q = com.microsoft.QAttention "
     "<num_heads "
     "= 2> (x, w, b, s, t, m, z, , p) }",
     "MatMulInteger(x, w, z); Mul(s, t); Cast<to=1>(%0); Mul(%2, %1); Add(%3, b); Slice(%4, {0}, {4}, {2}, "
     "{1}); Slice(%4, {4}, {8}, {2}, {1}); Slice(%4, {8}, {12}, {2}, {1}); Slice(p, {0}, {1}, {0}, {1}); "
     "Reshape(%8, {1, 2, 1, 2}); Slice(p, {1}, {2}, {0}, {1}); Reshape(%10, {1, 2, 1, 2}); "
     "com.microsoft.MultiHeadAttention<num_heads=2>(%5, %6, %7, -, m, -, %9, %11); y = Identity(%12); "
     "Reshape(%12.1, {1, 1, 2, 3, 2}); Reshape(%12.2, {1, 1, 2, 3, 2}); Concat<axis=0>(%14, %15); q = "
     "Identity(%16)"},
    {"lower_integer_products",
     "g (uint8[1,2,3] x, int8[3,12] w, float16[12] b, float16 s, float16 t) => (float16[1,2,4] y) { y = "
     "com.microsoft.QAttention <num_heads = 2> (x, w, b, s, t) }",
     ""},
    // lower_quantized
    {"lower_quantized",
     "g (uint8[1,1,2] x) => (uint8[1,2,2] y) <float xs = {0.5}, uint8 xz = {3}, int8[2,1,1] w = {1, 2}, "
     "float[2] ws = {0.25, 0.5}, "
     "int8[2] wz = {0, 0}, float ys = {2}, uint8 yz = {4}, int32[2] b = {8, 12}> { y = QLinearConv (x, xs, "
     "xz, w, ws, wz, ys, yz, b) }",
     "DequantizeLinear(x, 0.5, 3); DequantizeLinear<axis=0>({1, 2}, {0.25, 0.5}, {0, 0}); Conv(%0, %1, {1, "
     "3}); y = QuantizeLinear(%2, 2, 4)"},
    {"lower_quantized",
     "g (uint8[2,2] x, uint8[2,2] z) => (uint8[2,2] y) <float s = {0.5}, uint8 o = {3}> "
     "{ y = com.microsoft.QLinearAdd (x, s, o, z, s, o, s, o) }",
     "DequantizeLinear(x, 0.5, 3); DequantizeLinear(z, 0.5, 3); Add(%0, %1); y = QuantizeLinear(%2, 0.5, 3)"},
    {"lower_quantized",
     "g (uint8[2,2] x) => (uint8[2,1] y) <float s = {0.5}, uint8 o = {3}, int8[1,2] w = {1, 2}, int8 p = "
     "{0}, "
     "int32[1] c = {8}> { y = com.microsoft.QGemm <transB = 1> (x, s, o, w, s, p, c, s, o) }",
     "DequantizeLinear(x, 0.5, 3); DequantizeLinear({1, 2}, 0.5, 0); Gemm<transB=1>(%0, %1, {2}); y = "
     "QuantizeLinear(%2, 0.5, 3)"},
    {"lower_quantized",
     "g (uint8[2,2] x) => (float[2,1] y) <float s = {0.5}, uint8 o = {3}, int8[2,1] w = {1, 2}, int8 p = "
     "{0}> "
     "{ y = com.microsoft.QGemm (x, s, o, w, s, p) }",
     "DequantizeLinear(x, 0.5, 3); DequantizeLinear({1, 2}, 0.5, 0); y = Gemm(%0, %1)"},
    {"lower_quantized",
     "g (uint8[2,3] x) => (uint8[2,3] y) <float s = {0.5}, uint8 o = {3}, float t = {0.25}> "
     "{ y = com.microsoft.QLinearSoftmax <axis = 1, opset = 13> (x, s, o, t, o) }",
     "DequantizeLinear(x, 0.5, 3); Softmax<axis=1>(%0); y = QuantizeLinear(%1, 0.25, 3)"},
    // Over all axes from one on.
    {"lower_quantized",
     "g (uint8[2,3] x) => (uint8[2,3] y) <float s = {0.5}, uint8 o = {3}> "
     "{ y = com.microsoft.QLinearSoftmax <axis = 0, opset = 11> (x, s, o, s, o) }",
     ""},
    // A scale that is only known in the run.
    {"lower_quantized",
     "g (uint8[2,2] x, uint8[2,2] z, float r) => (uint8[2,2] y) <float s = {0.5}, uint8 o = {3}> { y = "
     "QLinearMatMul (x, r, o, z, s, o, s, o) }",
     ""},
    // move_quantized
    {"move_quantized",
     "g (uint8[1,1,4] x) => (uint8[2,1] y) <float s = {0.5}, uint8 o = {3}, int64[2] to = {2, 1}> { a = "
     "DequantizeLinear (x, s, o) b = MaxPool <kernel_shape = [2], strides = [2]> (a) c = Reshape (b, to) y = "
     "QuantizeLinear (c, s, o) }",
     "DequantizeLinear(x, 0.5, 3); MaxPool<kernel_shape=[2], strides=[2]>(x); y = Reshape(%1, {2, 1})"},
    {"move_quantized",
     "g (int8[2] x, int8[2] z) => (int8[4] y) <float s = {0.5}, int8 o = {3}> { a = DequantizeLinear (x, s, "
     "o) "
     "b = DequantizeLinear (z, s, o) c = Concat <axis = 0> (a, b) y = QuantizeLinear (c, s, o) }",
     "DequantizeLinear(x, 0.5, 3); DequantizeLinear(z, 0.5, 3); y = Concat<axis=0>(x, z)"},
    // Other scales, zero points and types are quantized again first.
    {"move_quantized",
     "g (uint8[2,3] x) => (uint8[3,2] y) <float s = {0.5}, uint8 o = {3}, float t = {0.25}> { a = "
     "DequantizeLinear (x, s, o) b = Transpose (a) y = QuantizeLinear (b, t, o) }",
     "DequantizeLinear(x, 0.5, 3); QuantizeLinear(%0, 0.25, 3); y = Transpose(%1)"},
    {"move_quantized",
     "g (int8[2] x, uint8[2] z) => (uint8[4] y) <float s = {0.5}, int8 i = {3}, uint8 o = {3}> { a = "
     "DequantizeLinear (x, s, i) b = DequantizeLinear (z, s, o) c = Concat <axis = 0> (a, b) y = "
     "QuantizeLinear "
     "(c, s, o) }",
     "DequantizeLinear(x, 0.5, 3); DequantizeLinear(z, 0.5, 3); QuantizeLinear(%0, 0.5, 3); y = "
     "Concat<axis=0>(%2, "
     "z)"},
    {"move_quantized",
     "g (uint8[1,1,4] x) => (uint8[1,1,2] y) <float s = {0.5}, uint8 o = {3}, float t = {0.25}> { a = "
     "DequantizeLinear (x, s, o) b = MaxPool <kernel_shape = [2], strides = [2]> (a) y = QuantizeLinear (b, "
     "t, o) }",
     "DequantizeLinear(x, 0.5, 3); QuantizeLinear(%0, 0.25, 3); y = MaxPool<kernel_shape=[2], "
     "strides=[2]>(%1)"},
    // A Resize that selects, also where its pixels have no 8 bits yet; not one that computes.
    {"move_quantized",
     "g (uint8[1,1,2,2] x) => (uint8[1,1,4,4] y) <float s = {0.5}, uint8 o = {3}, float[4] n = {1, 1, 2, 2}> "
     "{ "
     "a = DequantizeLinear (x, s, o) b = Resize <mode = \"nearest\"> (a, , n) y = QuantizeLinear (b, s, o) }",
     "DequantizeLinear(x, 0.5, 3); y = Resize<mode=nearest>(x, -, {1, 1, 2, 2})"},
    {"move_quantized",
     "g (float[1,1,2,2] x) => (uint8[1,1,4,4] y) <float s = {0.5}, uint8 o = {3}, float[4] n = {1, 1, 2, 2}> "
     "{ "
     "a = Relu (x) b = Resize <mode = \"nearest\"> (a, , n) y = QuantizeLinear (b, s, o) }",
     "Relu(x); QuantizeLinear(%0, 0.5, 3); y = Resize<mode=nearest>(%1, -, {1, 1, 2, 2})"},
    {"move_quantized",
     "g (uint8[1,1,2,2] x) => (uint8[1,1,4,4] y) <float s = {0.5}, uint8 o = {3}, float[4] n = {1, 1, 2, 2}> "
     "{ "
     "a = DequantizeLinear (x, s, o) b = Resize <mode = \"linear\"> (a, , n) y = QuantizeLinear (b, s, o) }",
     ""},
    // A sum; numbers that are used elsewhere, too; numbers beyond float32; nothing moves.
    {"move_quantized",
     "g (uint8[2] x) => (uint8[2] y) <float s = {0.5}, uint8 o = {3}> { a = DequantizeLinear (x, s, o) b = "
     "Neg "
     "(a) y = QuantizeLinear (b, s, o) }",
     ""},
    {"move_quantized",
     "g (uint8[2,3] x) => (uint8[3,2] y, float[3,2] b) <float s = {0.5}, uint8 o = {3}> { a = "
     "DequantizeLinear "
     "(x, s, o) b = Transpose (a) y = QuantizeLinear (b, s, o) }",
     ""},
    {"move_quantized",
     "g (uint8[2,3] x) => (uint8[3,2] y) <float s = {3e38}, uint8 o = {3}> { a = DequantizeLinear (x, s, o) "
     "b = "
     "Transpose (a) y = QuantizeLinear (b, s, o) }",
     ""},
    {"move_quantized",
     "g (uint8[2] x) => (uint8[2] y) <float s = {0.5}, uint8 o = {3}> { a = DequantizeLinear (x, s, o) y = "
     "QuantizeLinear (a, s, o) }",
     ""},
    {"move_quantized",
     "g (uint8[2,3] x) => (uint8[3,2] y) <float s = {3e38}, float t = {1}, uint8 o = {3}> { a = "
     "DequantizeLinear (x, "
     "s, o) b = Transpose (a) y = QuantizeLinear (b, t, o) }",
     ""},
    // What has no levels yet gets them where it is made, unless most of it is left out.
    {"move_quantized",
     "g (float[1,2,4] x, uint8[1,2,4] z) => (uint8[1,5,4] y) <float s = {0.5}, uint8 o = {3}, float[3,2,1] w "
     "= {1, 2, "
     "3, 4, 5, 6}> { a = Conv (x, w) b = DequantizeLinear (z, s, o) c = Concat <axis = 1> (a, b) y = "
     "QuantizeLinear "
     "(c, s, o) }",
     "Conv(x, {1, 2, 3, 4, 5, 6}); DequantizeLinear(z, 0.5, 3); QuantizeLinear(%0, 0.5, 3); y = "
     "Concat<axis=1>(%2, "
     "z)"},
    {"move_quantized",
     "g (float[1,2,4] x) => (uint8[1,2,2] y) <float s = {0.5}, uint8 o = {3}> { a = Relu (x) b = MaxPool "
     "<kernel_shape "
     "= [2], strides = [2]> (a) y = QuantizeLinear (b, s, o) }",
     "Relu(x); QuantizeLinear(%0, 0.5, 3); y = MaxPool<kernel_shape=[2], strides=[2]>(%1)"},
    {"move_quantized",
     "g (float[4] x) => (uint8[1] y) <float s = {0.5}, uint8 o = {3}, int64[1] i = {2}> { a = Relu (x) b = "
     "Gather (a, "
     "i) y = QuantizeLinear (b, s, o) }",
     ""},
    {"move_quantized",
     "g (float[2,3] x) => (uint8[3,2] y, float[2,3] a) <float s = {0.5}, uint8 o = {3}> { a = Relu (x) b = "
     "Transpose "
     "(a) y = QuantizeLinear (b, s, o) }",
     ""},
    // A Split, all parts of which are quantized alike.
    {"move_quantized",
     "g (uint8[4] x) => (uint8[1] y, uint8[3] z) <float s = {0.5}, uint8 o = {3}, float t = {0.25}, int64[2] "
     "n = {1, "
     "3}> { a = DequantizeLinear (x, s, o) b, c = Split <axis = 0> (a, n) y = QuantizeLinear (b, t, o) z = "
     "QuantizeLinear (c, t, o) }",
     "DequantizeLinear(x, 0.5, 3); QuantizeLinear(%0, 0.25, 3); y, z = Split<axis=0>(%1, {1, 3})"},
    {"move_quantized",
     "g (uint8[4] x) => (uint8[1] y, uint8[3] z) <float s = {0.5}, uint8 o = {3}, float t = {0.25}, int64[2] "
     "n = {1, "
     "3}> { a = DequantizeLinear (x, s, o) b, c = Split <axis = 0> (a, n) y = QuantizeLinear (b, t, o) z = "
     "QuantizeLinear (c, s, o) }",
     ""},
    // fuse_lookup
    {"fuse_lookup",
     "g (uint8[2,3] x) => (uint8[2,3] y) <float s = {0.5}, uint8 o = {3}> { a = DequantizeLinear (x, s, o) b "
     "= Tanh "
     "(a) y = QuantizeLinear (b, s, o) }",
     "y = assay.Lookup(x)"},
    {"fuse_lookup",  // its own inner quantization, and constants beside the function
     "g (uint8[2,3] x) => (int8[2,3] y) <float s = {0.5}, uint8 o = {3}, int8 i = {0}, float[1] c = {2}> { a "
     "= "
     "DequantizeLinear (x, s, o) b = Sigmoid (a) q = QuantizeLinear (b, s, o) d = DequantizeLinear (q, s, o) "
     "m = Mul "
     "(d, a) n = Div (m, c) y = QuantizeLinear (n, s, i) }",
     "y = assay.Lookup(x)"},
    {"fuse_lookup",  // what is used elsewhere is computed in both places
     "g (uint8[2,3] x) => (uint8[2,3] y, float[2,3] e) <float s = {0.5}, uint8 o = {3}> { a = "
     "DequantizeLinear (x, s, "
     "o) b = Tanh (a) e = Neg (b) y = QuantizeLinear (b, s, o) }",
     "DequantizeLinear(x, 0.5, 3); Tanh(%0); e = Neg(%1); y = assay.Lookup(x)"},
    {"fuse_silu fuse_lookup",
     "g (uint8[2,3] x) => (uint8[2,3] y) <float s = {0.5}, uint8 o = {3}> { a = DequantizeLinear (x, s, o) b "
     "= Sigmoid "
     "(a) m = Mul (a, b) y = QuantizeLinear (m, s, o) }",
     "y = assay.Lookup(x)"},
    // Two tensors; a constant of several elements, or of more axes; a scale for each channel; elements that
    // mix.
    {"fuse_lookup",
     "g (uint8[2,3] x, uint8[2,3] z) => (uint8[2,3] y) <float s = {0.5}, uint8 o = {3}> { a = "
     "DequantizeLinear (x, s, "
     "o) b = DequantizeLinear (z, s, o) c = Mul (a, b) y = QuantizeLinear (c, s, o) }",
     ""},
    {"fuse_lookup",
     "g (uint8[2,3] x) => (uint8[2,3] y) <float s = {0.5}, uint8 o = {3}, float[3] c = {1, 2, 3}> { a = "
     "DequantizeLinear (x, s, o) b = Mul (a, c) y = QuantizeLinear (b, s, o) }",
     ""},
    {"fuse_lookup",
     "g (uint8[3] x) => (uint8[1,3] y) <float s = {0.5}, uint8 o = {3}, float[1,1] c = {2}> { a = "
     "DequantizeLinear "
     "(x, s, o) b = Mul (a, c) y = QuantizeLinear (b, s, o) }",
     ""},
    {"fuse_lookup",
     "g (uint8[2,3] x) => (uint8[2,3] y) <float s = {0.5}, uint8 o = {3}, float[3] t = {1, 2, 3}, uint8[3] p "
     "= {0, 0, "
     "0}> { a = DequantizeLinear <axis = 1> (x, t, p) b = Tanh (a) y = QuantizeLinear (b, s, o) }",
     ""},
    {"fuse_lookup",
     "g (uint8[2,3] x) => (uint8[2,3] y) <float s = {0.5}, uint8 o = {3}> { a = DequantizeLinear (x, s, o) b "
     "= Softmax "
     "(a) y = QuantizeLinear (b, s, o) }",
     ""},
    // gather_quantized
    {"gather_quantized",
     "g (uint8[2,8] w, int64[3] i, float[2,1] s, uint8[2,1] z) => (float[3,16] y) { y = "
     "com.microsoft.GatherBlockQuantized <block_size = 16> (w, i, s, z) }",
     "Gather<axis=0>(w, i); Gather<axis=0>(s, i); Gather<axis=0>(z, i); y = "
     "com.microsoft.GatherBlockQuantized<block_size=16>(%0, {0, 1, 2}, %1, %2)"},
    {"gather_quantized",
     "g (uint8[2,8] w, int64[1,2] i, float[2,1] s) => (float[1,2,16] y) { y = "
     "com.microsoft.GatherBlockQuantized <block_size = 16> (w, i, s) }",
     "Reshape(i, {2}); Gather<axis=0>(w, %0); Gather<axis=0>(s, %0); "
     "com.microsoft.GatherBlockQuantized<block_size=16>(%1, {0, 1}, %2); y = Reshape(%3, {1, 2, 16})"},
    // All rows; levels of a type of their own.
    {"gather_quantized",
     "g (uint8[2,8] w, float[2,1] s) => (float[2,16] y) <int64[2] i = {0, 1}> { y = "
     "com.microsoft.GatherBlockQuantized <block_size = 16> (w, i, s) }",
     ""},
    {"gather_quantized",
     "g (int4[2,16] w, int64[2] i, float[2,1] s) => (float[2,16] y) { y = "
     "com.microsoft.GatherBlockQuantized <block_size = 16> (w, i, s) }",
     ""},
};

}  // namespace

std::span<const PassCase> runtime_pass_cases() { return kRuntimeCases; }

}  // namespace assay
