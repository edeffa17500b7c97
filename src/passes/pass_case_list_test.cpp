#include <fmt/format.h>

#include "graph/import.h"
#include "ops/infer.h"
#include "passes/pass_cases.h"

namespace assay {
namespace {

constexpr PassCase kCases[] = {
    // canonicalize_views
    {"canonicalize_views", "g (float[2,3,4] x) => (float[2,12] y) { y = Flatten (x) }",
     "y = Reshape(x, {2, 12})"},
    {"canonicalize_views",
     "g (float[2,3,4] x) => (float[2,12] y) <int64[2] s = {2, 12}> { y = Reshape (x, s) }", ""},
    {"canonicalize_views", "g (float[2,1,4] x) => (float[1,2,4] y) { y = Transpose <perm = [1, 0, 2]> (x) }",
     "y = Reshape(x, {1, 2, 4})"},
    // constants_to_initializers
    {"constants_to_initializers",
     "g (float[2] x) => (float[2] y) { c = Constant <value_float: float = 2.0> () y = Mul (x, c) }",
     "y = Mul(x, 2)"},
    // constant_shapes
    {"constant_shapes",
     "g (float[N,4,6] x) => (float[N,24] y) <int64 zero = {0}, int64[1] axis = {0}, int64[1] rest = {24}> "
     "{ s = Shape (x) b = Gather (s, zero) u = Unsqueeze (b, axis) t = Concat <axis = 0> (u, rest) y = "
     "Reshape (x, t) }",
     "Shape(x); Gather(%0, 0); Unsqueeze(%1, {0}); Concat<axis=0>(%2, {24}); y = Reshape(x, {0, 24})"},
    {"constant_shapes",
     "g (float[N,M,4] x, float[M,K,2] z) => (float[M,K,2,2] y) <int64[1] a = {2}> "
     "{ s = Shape (z) t = Concat <axis = 0> (s, a) y = Reshape (x, t) }",
     ""},
    {"constant_shapes",
     "g (float[1,N,1] x, float[4,N,2] z) => (float[4,N,2] y) { s = Shape (z) y = Expand (x, s) }",
     "Shape(z); y = Expand(x, {4, 1, 2})"},
    // drop_zero_states
    {"drop_zero_states",
     "g (float[5,2,3] x) => (float[5,1,2,2] y) <float[1,8,3] w = "
     "{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6}, "
     "float[1,8,2] r = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}, int64[3] s = {1, 2, 2}, float h = {0}, "
     "float[1,2,2] c = {0,0,0,0}> "
     "{ e = Expand (h, s) y = LSTM <hidden_size = 2> (x, w, r, \"\", \"\", e, c) }",
     "Expand(0, {1, 2, 2}); y = LSTM<hidden_size=2>(x, float32(1, 8, 3), float32(1, 8, 2))"},
    {"drop_zero_states",
     "g (float[5,2,3] x) => (float[5,1,2,2] y) <float[1,2,3] w = {1,2,3,4,5,6}, float[1,2,2] r = {1,2,3,4}, "
     "float[1,2,2] h = {0,0,1,0}> { y = RNN <hidden_size = 2> (x, w, r, \"\", \"\", h) }",
     ""},
    // eliminate_common_subexpressions
    {"eliminate_common_subexpressions",
     "g (float[2] x, float[2] z) => (float[2] y) { a = Add (x, z) b = Add (z, x) y = Mul (a, b) }",
     "Add(x, z); y = Mul(%0, %0)"},
    {"eliminate_common_subexpressions",
     "g (float[2] x) => (float[2] y) { a = LeakyRelu <alpha = 0.5> (x) b = LeakyRelu <alpha = 0.25> (x) y = "
     "Mul (a, b) }",
     ""},
    // eliminate_dead_code
    {"eliminate_dead_code", "g (float[2] x) => (float[2] y) { a = Relu (x) b = Neg (a) y = Abs (x) }",
     "y = Abs(x)"},
    // eliminate_idempotent
    {"eliminate_idempotent", "g (float[2] x) => (float[2] y) { a = Relu (x) b = Relu (a) y = Neg (b) }",
     "Relu(x); y = Neg(%0)"},
    {"inline_functions",
     "g (bool c, float[2] x) => (float[2] y) { y = If <then_branch = t () => (float[2] a) { a = local.f (x) "
     "}, "
     "else_branch = e () => (float[2] z) { z = Neg (x) }> (c) } <domain: \"local\", opset_import: [\"\" : "
     "17]> "
     "f (a) => (b) { b = Relu (a) }",
     "y = If<then_branch={a = Relu(x)}, else_branch={z = Neg(x)}>(c)"},
    {"eliminate_idempotent",
     "g (float[4] x) => (float[4] y) <float low = {0}, float high = {1}> { a = Relu (x) y = Clip (a, low, "
     "high) }",
     "y = Clip(x, 0, 1)"},
    {"eliminate_idempotent",
     "g (float[4] x) => (float[4] y) <float low = {-1}, float high = {1}> { a = Relu (x) y = Clip (a, low, "
     "high) }",
     ""},
    {"eliminate_idempotent", "g (float[2] x) => (float[2] y) { a = Abs (x) b = Relu (a) y = Neg (b) }",
     "Abs(x); y = Neg(%0)"},
    {"eliminate_idempotent", "g (int32[2] x) => (int32[2] y) { a = Abs (x) b = Relu (a) y = Neg (b) }", ""},
    // eliminate_identity
    {"eliminate_identity", "g (float[2] x) => (float[2] y) { a = Identity (x) y = Neg (a) }", "y = Neg(x)"},
    {"eliminate_identity", "g (float[2] x) => (float[2] y) { a = Neg (x) y = Identity (a) }", "y = Neg(x)"},
    {"eliminate_identity", "g (float[2] x) => (float[2] y) { y = Identity (x) }", ""},
    {"eliminate_identity",
     "g (float[N,M] x) => (float[N,M] y) "
     "{ a = Dropout (x) c = Cast <to = 1> (a) d = Concat <axis = 0> (c) t = Transpose <perm = [0, 1]> (d) y "
     "= Neg (t) }",
     "y = Neg(x)"},
    {"eliminate_identity",
     "g (float[N,M] x) => (float[N,M] y) <int64[1] s = {0}, int64[1] e = {9223372036854775807}, int64[1] a = "
     "{1}> "
     "{ t = Slice (x, s, e, a) y = Neg (t) }",
     "y = Neg(x)"},
    {"eliminate_identity",
     "g (float[N,M] x) => (float[N,M] y) <int64[1] s = {0}, int64[1] e = {4}, int64[1] a = {1}> "
     "{ t = Slice (x, s, e, a) y = Neg (t) }",
     ""},
    {"eliminate_identity",
     "g (float[N,M] x) => (float[N,M] y) <int64[4] p = {0,0,0,0}, int64[2] r = {1, 1}> "
     "{ a = Pad (x, p) b = Tile (a, r) s = Shape (b) c = Reshape (b, s) y = Neg (c) }",
     "Shape(x); y = Neg(x)"},
    {"eliminate_identity",
     "g (float[N,1] x) => (float[N,1] y) <int64[1] i = {1}> { a = ReduceSum (x, i) y = Neg (a) }",
     "y = Neg(x)"},
    {"eliminate_identity",
     "g (float[4] x) => (float[4] y) <int64[2] p = {-1, 1}> { a = Pad (x, p) y = Neg (a) }", ""},
    {"eliminate_identity", "g (float[4] x, int64[2] p) => (float[4] y) { a = Neg (x) y = Pad (a, p) }", ""},
    {"eliminate_identity",
     "g (float[1,1,5,5] x) => (float[1,1,5,5] y) <float[4] f = {1, 1, 1, 1.1}> "
     "{ a = Resize <mode = \"linear\"> (x, , f) y = Neg (a) }",
     ""},
    {"eliminate_identity",
     "g (float[1,1,5,5] x) => (float[1,1,5,5] y) <int64[4] e = {1, 1, 5, 5}> "
     "{ a = Resize <mode = \"linear\"> (x, , , e) y = Neg (a) }",
     "y = Neg(x)"},
    // eliminate_neutral
    {"eliminate_neutral",
     "g (float[N,2] x) => (float[N,2] y) <float zero = {0}, float[1,2] one = {1, 1}> "
     "{ a = Sub (x, zero) b = Mul (a, one) c = Sub (b, zero) d = Div (c, one) e = Pow (d, one) y = Neg (e) }",
     "y = Neg(x)"},
    {"eliminate_neutral",
     "g (float[1,2] x) => (float[3,2] y) <float[3,1] zero = {0, 0, 0}> { a = Add (x, zero) y = Neg (a) }",
     ""},
    {"eliminate_neutral",
     "g (float[2] x, float[2] z) => (float[2] y) <bool[2] c = {0, 0}> { a = Where (c, x, z) y = Neg (a) }",
     "y = Neg(z)"},
    // fold_batch_norm
    {"fold_batch_norm",
     "g (float[1,1,2,2] x) => (float[1,2,2,2] y) <float[2,1,1,1] w = {2, 3}, float[2] s = {1, 2}, float[2] b "
     "= {0, 1}, "
     "float[2] m = {1, 1}, float[2] v = {1, 4}> "
     "{ a = Conv (x, w) y = BatchNormalization <epsilon = 0.0> (a, s, b, m, v) }",
     "y = Conv(x, {2, 3}, {-1, 0})"},
    {"fold_batch_norm",
     "g (float[1,1,2,2] x) => (float[1,2,2,2] y, float[1,2,2,2] a) <float[2,1,1,1] w = {2, 3}, float[2] s = "
     "{1, 2}, "
     "float[2] b = {0, 1}, float[2] m = {1, 1}, float[2] v = {1, 4}> "
     "{ a = Conv (x, w) y = BatchNormalization <epsilon = 0.0> (a, s, b, m, v) }",
     ""},
    {"fold_batch_norm",
     "g (float[1,2,2,2] x) => (float[1,2,2,2] y) <float[2,1,1,1] w = {2, 3}, float[2] s = {1, 2}, float[2] b "
     "= {0, 1}, "
     "float[2] m = {1, 1}, float[2] v = {1, 4}> "
     "{ a = ConvTranspose <group = 2> (x, w) y = BatchNormalization <epsilon = 0.0> (a, s, b, m, v) }",
     "y = ConvTranspose<group=2>(x, {2, 3}, {-1, 0})"},
    {"fold_batch_norm",
     "g (float[1,2,2,2] x) => (float[1,4,2,2] y) <float[2,2,1,1] w = {1, 2, 3, 4}, float[4] s = {1, 2, 3, "
     "4}, float[4] b = {0, 1, 2, 3}, "
     "float[4] m = {1, 1, 2, 2}, float[4] v = {1, 4, 1, 4}> "
     "{ a = ConvTranspose <group = 2> (x, w) y = BatchNormalization <epsilon = 0.0> (a, s, b, m, v) }",
     "y = ConvTranspose<group=2>(x, {1, 2, 9, 8}, {-1, 0, -4, -1})"},
    // fold_channel_affine
    {"fold_channel_affine",
     "g (float[1,1,2,2] x) => (float[1,2,2,2] y) <float[2,1,1,1] w = {2, 3}, float[2,1,1] f = {10, 20}, "
     "float[1] c = {1}> "
     "{ a = Conv (x, w) m = Mul (a, f) y = Add (m, c) }",
     "y = Conv(x, {20, 60}, {1, 1})"},
    {"fold_channel_affine",
     "g (float[1,1,2,2] x) => (float[1,2,2,2] y) <float[2,1,1,1] w = {2, 3}, float[2] b = {1, -1}> { a = "
     "Conv (x, w, b) y = Neg (a) }",
     "y = Conv(x, {-2, -3}, {-1, 1})"},
    {"fold_channel_affine",
     "g (float[1,1,2,2] x) => (float[1,2,2,2] y) <float[2,1,1,1] w = {2, 3}, float[2] f = {10, 20}> "
     "{ a = Conv (x, w) y = Mul (a, f) }",
     ""},
    // fold_constants
    {"fold_constants",
     "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}> { c = Add (a, b) d = Neg (c) "
     "y = Mul (x, d) }",
     "y = Mul(x, {-4, -6})"},
    {"fold_constants", "g (float[2,3] x, float[6] z) => (float[2,3] y) { s = Shape (x) y = Reshape (z, s) }",
     "y = Reshape(z, {2, 3})"},
    // fold_empty
    {"fold_empty",
     "g (float[0,3] x, float[3,4] w, float[2,4] z) => (float[2,4] y) { a = MatMul (x, w) b = Relu (a) "
     "y = Concat <axis = 0> (b, z) }",
     "y = Concat<axis=0>({}, z)"},
    {"fold_empty", "g (float[2,0] x, float[0,3] w) => (float[2,3] y) { y = MatMul (x, w) }", ""},
    {"fold_empty", "g (float[N,3] x) => (float[N,3] y) { y = Relu (x) }", ""},
    // fold_extents
    {"fold_extents",
     "g (float[N,4] x) => (float[N,4] y) <int64 one = {1}, int64[1] axis = {0}, int64[1] more = {-1}> "
     "{ s = Shape (x) c = Gather (s, one) u = Unsqueeze (c, axis) t = Concat <axis = 0> (more, u) y = "
     "Reshape (x, t) }",
     "Shape(x); Concat<axis=0>({-1}, {4}); y = Reshape(x, %1)"},
    {"fold_extents",
     "g (float[N,M] x, float[N,K] z) => (int64[2] y) <int64[1] zero = {0}> "
     "{ s = Shape (x) a = Gather (s, zero) t = Shape (z) b = Gather (t, zero) y = Concat <axis = 0> (a, b) }",
     "Shape(x); Gather(%0, {0}); Shape(z); y = Concat<axis=0>(%1, %1)"},
    {"fold_extents",
     "g (float[N,1] x) => (float[?,4] y) <int64[1] zero = {0}, int64[1] four = {4}, int64[2] minus = {-1, "
     "-1}, int64[2] ones = {1, 1}> "
     "{ s = Shape (x) n = Gather (s, zero) t = Concat <axis = 0> (n, four) q = Equal (t, minus) w = Where "
     "(q, ones, t) "
     "y = Expand (x, w) }",
     "Shape(x); Gather(%0, {0}); Concat<axis=0>(%1, {4}); y = Expand(x, %2)"},
    // the idioms of the engine
    {"fuse_gelu",
     "g (float[4] x) => (float[4] y) <float root = {1.41421356}, float one = {1}, float half = {0.5}> "
     "{ a = Div (x, root) e = Erf (a) s = Add (e, one) m = Mul (x, s) y = Mul (m, half) }",
     "y = assay.Gelu(x)"},
    {"fuse_gelu",
     "g (float[4] x) => (float[4] y) <float c = {0.044715}, float three = {3}, float r = {0.7978845608}, "
     "float one = {1}, "
     "float half = {0.5}> { p = Pow (x, three) q = Mul (p, c) i = Add (x, q) j = Mul (i, r) t = Tanh (j) s = "
     "Add (t, one) "
     "h = Mul (x, half) y = Mul (h, s) }",
     "y = assay.GeluTanh(x)"},
    {"fuse_gelu",
     "g (float[4] x) => (float[4] y) <float root = {1.4143}, float one = {1}, float half = {0.5}> "
     "{ a = Div (x, root) e = Erf (a) s = Add (e, one) m = Mul (x, s) y = Mul (m, half) }",
     ""},
    {"fuse_hard_swish",
     "g (float[4] x) => (float[4] y) { a = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) y = Mul (x, a) }",
     "y = assay.HardSwish(x)"},
    {"fuse_hard_swish",
     "g (float[4] x) => (float[4] y) <float three = {3}, float zero = {0}, float six = {6}> "
     "{ a = Add (x, three) c = Clip (a, zero, six) m = Mul (x, c) y = Div (m, six) }",
     "y = assay.HardSwish(x)"},
    {"fuse_hard_swish",
     "g (float[4] x) => (float[4] y) { a = HardSigmoid <alpha = 0.2, beta = 0.5> (x) y = Mul (x, a) }", ""},
    {"fuse_layer_norm",
     "g (float[N,4] x) => (float[N,4] y) <float two = {2}, float e = {0.00001}, float[4] w = {1, 2, 3, 4}, "
     "float[4] b = {4, 3, 2, 1}> "
     "{ m = ReduceMean <axes = [-1]> (x) d = Sub (x, m) p = Pow (d, two) v = ReduceMean <axes = [-1]> (p) a "
     "= Add (v, e) "
     "s = Sqrt (a) q = Div (d, s) r = Mul (q, w) y = Add (r, b) }",
     "y = assay.LayerNorm<axes=1, epsilon=1e-05, has_scale=1, has_shift=1>(x, {1, 2, 3, 4}, {4, 3, 2, 1})"},
    {"fuse_mish", "g (float[4] x) => (float[4] y) { a = Softplus (x) t = Tanh (a) y = Mul (x, t) }",
     "y = assay.Mish(x)"},
    {"fuse_silu", "g (float[4] x) => (float[4] y) { a = Sigmoid (x) y = Mul (x, a) }", "y = assay.Silu(x)"},
    {"fuse_silu", "g (float[4] x, float[4] z) => (float[4] y) { a = Sigmoid (x) y = Mul (z, a) }", ""},
    {"fuse_softmax",
     "g (float[2,4] z, float[1,4] m) => (float[2,4] y) <float f = {0.5}> { x = Neg (z) s = Mul (x, f) a = "
     "Add (s, m) y = Softmax (a) }",
     "Neg(z); y = assay.Softmax<scale=0.5, has_mask=1>(%0, m)"},
    // fuse_gemm
    {"fuse_gemm",
     "g (float[2,2,3] x) => (float[2,2] y) <int64[3] i = {1, 4, 3}, float[3,1] w = {1, 2, 3}, float[1] b = "
     "{4}, int64[2] j = {2, 2}> "
     "{ a = Reshape (x, i) p = MatMul (a, w) s = Add (b, p) y = Reshape (s, j) }",
     "Reshape(x, {-1, 3}); Gemm(%0, {1, 2, 3}, {4}); y = Reshape(%1, {2, 2})"},
    {"fuse_gemm",  // extents that the second one keeps
     "g (float[B,2,3] x) => (float[B,2,1,2] y) <int64[3] i = {0, 2, 3}, float[3,2] w = {1, 2, 3, 4, 5, 6}, "
     "float[2] b = {4, 5}, "
     "int64[4] j = {0, 0, 1, 2}> { a = Reshape (x, i) p = MatMul (a, w) s = Add (p, b) y = Reshape (s, j) }",
     "Reshape(x, {-1, 3}); Gemm(%0, {1, 2, 3, 4, 5, 6}, {4, 5}); y = Reshape(%1, {-1, 2, 1, 2})"},
    {"fuse_gemm",  // a bias for every row
     "g (float[2,2,3] x) => (float[2,2] y) <int64[3] i = {1, 4, 3}, float[3,1] w = {1, 2, 3}, float[4,1] b = "
     "{4, 5, 6, 7}, int64[2] j = {2, 2}> "
     "{ a = Reshape (x, i) p = MatMul (a, w) s = Add (b, p) y = Reshape (s, j) }",
     ""},
    {"fuse_gemm",
     "g (float[N,2] x) => (float[N,3] y) <float[2,3] w = {1, 2, 3, 4, 5, 6}, float[3] b = {1, 2, 3}> "
     "{ a = MatMul (x, w) y = Add (b, a) }",
     "y = Gemm(x, {1, 2, 3, 4, 5, 6}, {1, 2, 3})"},
    {"fuse_gemm",
     "g (float[N,4,2] x) => (float[N,4,3] y) <float[2,3] w = {1, 2, 3, 4, 5, 6}, float[3] b = {1, 2, 3}> "
     "{ a = MatMul (x, w) y = Add (b, a) }",
     ""},
    {"fuse_gemm",
     "g (float[1,2] x, float[4,3] c) => (float[4,3] y) <float[2,3] w = {1, 2, 3, 4, 5, 6}> { a = MatMul (x, "
     "w) y = Add (a, c) }",
     ""},
    {"fuse_gemm",
     "g (float[2,4] x, float[3,2] w) => (float[4,3] y) "
     "{ t = Transpose (x) u = Transpose <perm = [1, 0]> (w) y = Gemm (t, u) }",
     "y = Gemm<transA=1, transB=1>(x, w)"},
    // fuse_pad
    {"fuse_pad",
     "g (float[1,1,3,3] x) => (float[1,1,4,5] y) <float[1,1,2,2] w = {1, 2, 3, 4}, int64[8] p = {0, 0, 1, 1, "
     "0, 0, 1, 2}> "
     "{ a = Pad (x, p) y = Conv (a, w) }",
     "y = Conv<pads=[1, 1, 1, 2]>(x, {1, 2, 3, 4})"},
    {"fuse_pad",
     "g (float[1,1,3,3] x) => (float[1,1,4,4] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> "
     "{ a = Pad (x, p) y = AveragePool <kernel_shape = [2, 2]> (a) }",
     "y = AveragePool<kernel_shape=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1>(x)"},
    {"fuse_pad",
     "g (float[1,1,3,3] x) => (float[1,1,4,4] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> "
     "{ r = Relu (x) a = Pad (r, p) y = MaxPool <kernel_shape = [2, 2]> (a) }",
     "Relu(x); y = MaxPool<kernel_shape=[2, 2], pads=[1, 1, 1, 1]>(%0)"},
    {"fuse_pad",
     "g (float[1,1,3,3] x) => (float[1,1,4,4] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> "
     "{ a = Pad (x, p) y = MaxPool <kernel_shape = [2, 2]> (a) }",
     ""},
    {"fuse_pad",
     "g (float[1,1,3,3] x) => (float[1,1,6,6] y) <int64[8] p = {0, 0, 2, 2, 0, 0, 2, 2}> "
     "{ a = Pad (x, p) y = AveragePool <kernel_shape = [2, 2]> (a) }",
     ""},
    // fuse_rms_norm
    {"fuse_rms_norm",
     "g (float[N,4] x) => (float[N,4] y) <float two = {2}, float one = {1}, float e = {0.00001}, float[4] w "
     "= {1, 2, 3, 4}, int64[1] a = {-1}> "
     "{ p = Pow (x, two) v = ReduceMean (p, a) s = Add (v, e) r = Sqrt (s) i = Div (one, r) n = Mul (x, i) y "
     "= Mul (w, n) }",
     "y = assay.RmsNorm<axes=1, epsilon=1e-05>(x, {1, 2, 3, 4})", 18},
    {"fuse_rms_norm",
     "g (float[N,4] x) => (float[N,4] y, float[N,1] r) <float two = {2}, float e = {0.00001}, float[4] w = "
     "{1, 2, 3, 4}, int64[1] a = {-1}> "
     "{ p = Pow (x, two) v = ReduceMean (p, a) s = Add (v, e) r = Sqrt (s) n = Div (x, r) y = Mul (w, n) }",
     "", 18},
    // inline_functions
    {"inline_functions",
     "g (float[2] x) => (float[2] y) { y = local.f (x) } <domain: \"local\", opset_import: [\"\" : 17]> "
     "f (a) => (b) { c = Relu (a) b = Neg (c) }",
     "Relu(x); y = Neg(%0)"},
    // lower_batch_norm
    {"lower_batch_norm",
     "g (float[1,2,2,2] x) => (float[1,2,2,2] y) <float[2] s = {1, 2}, float[2] b = {0, 1}, float[2] m = {1, "
     "1}, "
     "float[2] v = {1, 4}> { y = BatchNormalization <epsilon = 0.0> (x, s, b, m, v) }",
     "Mul(x, {1, 1}); y = Add(%0, {-1, 0})"},
    // lower_formulas
    {"lower_formulas",
     "g (float[2,3,4] x) => (float[2,4] y) { y = ReduceLogSumExp <axes = [1], keepdims = 0> (x) }",
     "ReduceMax<axes=[1], keepdims=1>(x); Abs(%0); Less(%1, inf); Where(%2, %0, 0); Sub(x, %3); Exp(%4); "
     "ReduceSum<keepdims=1>(%5, {1}); Log(%6); Add(%3, %7); Reshape(%8, {2, 4}); y = Identity(%9)"},
    {"lower_formulas", "g (float[2,3] x) => (float[1,1] y) { y = ReduceLogSum (x) }",
     "ReduceSum<keepdims=1>(x, {0, 1}); Log(%0); y = Identity(%1)"},
    {"lower_formulas", "g (float[2,3] x) => (float[2,3] y) { y = LpNormalization <axis = 0> (x) }",
     "Abs(x); ReduceMax<axes=[0], keepdims=1>(%0); Equal(%1, 0); Less(%1, inf); Where(%3, %1, 1); Where(%2, "
     "1, %4); "
     "Div(x, %5); ReduceL2<axes=[0], keepdims=1>(%6); Div(%6, %7); Where(%2, 0, %8); y = Identity(%9)"},
    {"lower_formulas", "g (float[2,3,2,2] x) => (float[2,3,2,2] y) { y = MeanVarianceNormalization (x) }",
     "Transpose<perm=[1, 0, 2, 3]>(x); Reshape(%0, {3, 8}); ReduceMean<axes=[1], keepdims=1>(%1); Sub(%1, "
     "%2); "
     "Mul(%3, %3); ReduceMean<axes=[1], keepdims=1>(%4); Sqrt(%5); Add(%6, 1e-09); Div(%3, %7); Reshape(%8, "
     "{3, 2, 2, "
     "2}); Transpose<perm=[1, 0, 2, 3]>(%9); y = Identity(%10)"},
    // Not float32.
    {"lower_formulas", "g (double[2,3] x) => (double[1,1] y) { y = ReduceLogSum (x) }", ""},
    // lower_fused
    {"lower_fused", "g (float[2,3] x, float[3] b) => (float[2,3] y) { y = com.microsoft.BiasGelu (x, b) }",
     "Add(x, b); Div(%0, 1.41421); Erf(%1); Mul(%0, 0.5); Add(%2, 1); Mul(%3, %4); y = Identity(%5)"},
    {"lower_fused", "g (float[2,3] x) => (float[2,3] y) { y = com.microsoft.QuickGelu (x) }",
     "Mul(x, 1.702); Sigmoid(%0); Mul(x, %1); y = Identity(%2)"},
    {"lower_fused",
     "g (float[2,3] x, float[2,3] z, float[3] a, float[3] b) => (float[2,3] y, float[2,3] s) "
     "{ y, , , s = com.microsoft.SkipLayerNormalization (x, z, a, b) }",
     "Add(x, z); ReduceMean<axes=[1], keepdims=1>(%0); Sub(%0, %1); Mul(%2, %2); ReduceMean<axes=[1], "
     "keepdims=1>(%3); Add(%4, 1e-12); Sqrt(%5); Div(%2, %6); Mul(%7, a); Add(%8, b); s = Identity(%0); y = "
     "Identity(%9)"},
    {"lower_fused",
     "g (float[2,3] x, float[4,3] z) => (float[2,4] y) { y = com.microsoft.FusedMatMul <transB = 1, alpha = "
     "0.5> (x, z) }",
     "Transpose<perm=[1, 0]>(z); MatMul(x, %0); Mul(%1, 0.5); y = Identity(%2)"},
    {"lower_fused",
     "g (float[1,2,3,4] x, float[1,3,2] c, float[1,3,2] s) => (float[1,2,3,4] y) { y = RotaryEmbedding (x, "
     "c, s) }",
     "Reshape(c, {1, 1, 3, 2}); Reshape(s, {1, 1, 3, 2}); Slice(x, {0}, {2}, {3}, {1}); Slice(x, {2}, {4}, "
     "{3}, {1}); Mul(%2, %0); Mul(%3, %1); Sub(%4, %5); Mul(%2, %1); Mul(%3, %0); Add(%7, %8); "
     "Concat<axis=3>(%6, %9); y = Identity(%10)",
     23},
    {"lower_fused",
     "g (float[2,4,3] x, float[4] s, float[4] b) => (float[2,4,3] y) { y = GroupNormalization <num_groups = "
     "2> (x, s, b) }",
     "Reshape(x, {2, 2, 6}); InstanceNormalization<epsilon=1e-05>(%0, {1, 1}, {0, 0}); Reshape(%1, {2, 4, "
     "3}); "
     "Reshape(s, {4, 1}); Mul(%2, %3); Reshape(b, {4, 1}); Add(%4, %5); y = Identity(%6)",
     21},
    // The mean is asked for, too.
    {"lower_fused",
     "g (float[2,3] x, float[2,3] z, float[3] a) => (float[2,3] y, float[2,1] m) "
     "{ y, m = com.microsoft.SkipLayerNormalization (x, z, a) }",
     ""},
    // lower_attention
    {"lower_attention",
     "g (float[1,4,2,8] q, float[1,2,3,8] k, float[1,2,3,5] v) => (float[1,4,2,5] y) { y = Attention <scale "
     "= 1.0> (q, k, v) }",
     "Reshape(q, {1, 2, 4, 8}); Transpose<perm=[0, 1, 3, 2]>(k); MatMul(%0, %1); Reshape(%2, {1, 4, 2, 3}); "
     "Softmax<axis=3>(%3); Reshape(%4, {1, 2, 4, 3}); MatMul(%5, v); Reshape(%6, {1, 4, 2, 5}); y = "
     "Identity(%7)",
     23},
    {"lower_attention",
     "g (float[1,2,8] q, float[1,2,8] k, float[1,2,8] v, int32[1,2] m) => (float[1,2,8] y) "
     "{ y = com.microsoft.MultiHeadAttention <num_heads = 2, scale = 1.0> (q, k, v, , m) }",
     "Reshape(q, {1, 2, 2, 4}); Transpose<perm=[0, 2, 1, 3]>(%0); Reshape(k, {1, 2, 2, 4}); "
     "Transpose<perm=[0, 2, 1, 3]>(%2); Reshape(v, {1, 2, 2, 4}); Transpose<perm=[0, 2, 1, 3]>(%4); "
     "Greater(m, 0); Where(%6, 0, -10000); Reshape(%7, {1, 1, 1, 2}); Transpose<perm=[0, 1, 3, 2]>(%3); "
     "MatMul(%1, %9); Add(%10, %8); Softmax<axis=3>(%11); MatMul(%12, %5); Transpose<perm=[0, 2, 1, "
     "3]>(%13); Reshape(%14, {1, 2, 8}); y = Identity(%15)"},
    {"lower_attention",
     "g (float[1,4,2,8] q, float[1,2,3,8] k, float[1,2,3,5] v) => (float[1,4,2,5] y) { y = Attention "
     "<softcap = 2.0> (q, k, v) }",
     "", 23},
    // lower_moves
    {"lower_moves", "g (float[1,8,2,3] x) => (float[1,2,4,6] y) { y = DepthToSpace <blocksize = 2> (x) }",
     "Reshape(x, {1, 2, 2, 2, 2, 3}); Transpose<perm=[0, 3, 4, 1, 5, 2]>(%0); y = Reshape(%1, {1, 2, 4, 6})"},
    {"lower_moves",
     "g (float[1,8,2,3] x) => (float[1,2,4,6] y) { y = DepthToSpace <blocksize = 2, mode = \"CRD\"> (x) }",
     "Reshape(x, {1, 2, 2, 2, 2, 3}); Transpose<perm=[0, 1, 4, 2, 5, 3]>(%0); y = Reshape(%1, {1, 2, 4, 6})"},
    {"lower_moves", "g (int64[1,2,4,6] x) => (int64[1,8,2,3] y) { y = SpaceToDepth <blocksize = 2> (x) }",
     "Reshape(x, {1, 2, 2, 2, 3, 2}); Transpose<perm=[0, 3, 5, 1, 2, 4]>(%0); y = Reshape(%1, {1, 8, 2, 3})"},
    {"lower_moves", "g (float[2,1,3] x) => (float[4,5,3] y) <int64[3] r = {2, 5, 1}> { y = Tile (x, r) }",
     "Reshape(x, {1, 2, 1, 3}); Expand(%0, {2, 2, 5, 3}); y = Reshape(%1, {4, 5, 3})"},
    {"lower_moves", "g (float[2,3] x) => (float[0,3] y) <int64[2] r = {0, 1}> { y = Tile (x, r) }", ""},
    // lower_products
    {"lower_products", "g (float[2,3] x, float[4,3,5] z) => (float[4,2,5] y) { y = MatMul (x, z) }",
     "Reshape(x, {1, 2, 3}); MatMul(%0, z); y = Identity(%1)"},
    {"lower_products", "g (float[4,2,3] x, float[3,5] z) => (float[4,2,5] y) { y = MatMul (x, z) }",
     "Reshape(x, {8, 3}); MatMul(%0, z); Reshape(%1, {4, 2, 5}); y = Identity(%2)"},
    {"lower_products", "g (float[3] x, float[2,3,5] z) => (float[2,5] y) { y = MatMul (x, z) }",
     "Reshape(x, {1, 1, 3}); MatMul(%0, z); Reshape(%1, {2, 5}); y = Identity(%2)"},
    {"lower_products", "g (float[4,2,3] x, float[3] z) => (float[4,2] y) { y = MatMul (x, z) }",
     "Reshape(x, {8, 3}); Reshape(z, {3, 1}); MatMul(%0, %1); Reshape(%2, {4, 2}); y = Identity(%3)"},
    {"lower_products", "g (float[2,3] x, float[3,5] z) => (float[2,5] y) { y = MatMul (x, z) }", ""},
    {"lower_products",
     "g (float[2,3,4,5] q, float[2,6,4,5] k) => (float[2,4,3,6] y) { y = Einsum <equation = \"bihd, bjhd -> "
     "bhij\"> (q, k) }",
     "Transpose<perm=[0, 2, 1, 3]>(q); Reshape(%0, {8, 3, 5}); Transpose<perm=[0, 2, 3, 1]>(k); Reshape(%2, "
     "{8, 5, 6}); "
     "MatMul(%1, %3); Reshape(%4, {2, 4, 3, 6}); y = Identity(%5)"},
    {"lower_products",
     "g (float[2,3] x, float[2,3] z) => (float[2] y) { y = Einsum <equation = \"ij,ij->i\"> (x, z) }",
     "Reshape(x, {2, 1, 3}); Reshape(z, {2, 3, 1}); MatMul(%0, %1); Reshape(%2, {2}); y = Identity(%3)"},
    {"lower_products",
     "g (float[2,2] x, float[2,3] z) => (float[3] y) { y = Einsum <equation = \"ii,ij->j\"> (x, z) }", ""},
    {"lower_products",
     "g (float[2,3] x, float[4,3] z) => (float[2] y) { y = Einsum <equation = \"ij,kj->i\"> (x, z) }", ""},
    {"lower_products",
     "g (float[1,3] x, float[2,3] z) => (float[2] y) { y = Einsum <equation = \"ij,ij->i\"> (x, z) }", ""},
    // merge_casts
    {"merge_casts", "g (float16[2] x) => (int32[2] y) { a = Cast <to = 1> (x) y = Cast <to = 6> (a) }",
     "Cast<to=1>(x); y = Cast<to=6>(x)"},
    {"merge_casts", "g (float[2] x) => (int32[2] y) { a = Cast <to = 10> (x) y = Cast <to = 6> (a) }", ""},
    // merge_concats
    {"merge_concats",
     "g (float[2,1] x, float[2,3] z) => (float[2,5] y) { a = Concat <axis = -1> (x, z) y = Concat <axis = 1> "
     "(a, x) }",
     "y = Concat<axis=1>(x, z, x)"},
    {"merge_concats",
     "g (float[2,2] x) => (float[2,4] y) { a = Concat <axis = 1> (x, x) y = Concat <axis = 0> (a, a) }", ""},
    // merge_convolutions
    {"merge_convolutions",
     "g (float[1,1,4] x) => (float[1,1,4] y) <float[1,1,3] w = {1, 2, 3}, float[1,1,1] v = {10}, float[1] b "
     "= {5}> "
     "{ a = Conv <pads = [1, 1]> (x, w) c = Conv (x, v, b) y = Add (a, c) }",
     "y = Conv<pads=[1, 1]>(x, {1, 12, 3}, {5})"},
    {"merge_convolutions",  // the smaller one first, with steps that meet the larger one's
     "g (float[1,1,9] x) => (float[1,1,4] y) <float[1,1,3] w = {1, 2, 3}, float[1,1,2] v = {10, 20}> "
     "{ c = Conv <strides = [2], dilations = [2]> (x, v) a = Conv <strides = [2], dilations = [2], pads = "
     "[2, 0]> (x, w) "
     "y = Add (c, a) }",
     "y = Conv<strides=[2], dilations=[2], pads=[2, 0]>(x, {1, 12, 23}, {0})"},
    {"merge_convolutions",  // the value and its normalisation
     "g (float[1,2,4] x) => (float[1,2,4] y) <float[2,1,3] w = {1, 2, 3, 4, 5, 6}, float[2] s = {1, 2}, "
     "float[2] b = "
     "{0, 1}, float[2] m = {1, 1}, float[2] v = {1, 4}> "
     "{ a = Conv <group = 2, pads = [1, 1]> (x, w) n = BatchNormalization <epsilon = 0.0> (x, s, b, m, v) c "
     "= Add (n, a) "
     "y = Add (c, x) }",
     "y = Conv<group=2, pads=[1, 1]>(x, {1, 4, 3, 4, 7, 6}, {-1, 0})"},
    {"merge_convolutions",  // all terms of a result
     "g (float[1,2,4] x) => (float[1,2,4] y) <float[2,2,1] w = {1, 2, 3, 4}> { a = Conv (x, w) y = Add (x, "
     "a) }",
     "y = Conv(x, {2, 2, 3, 5}, {0, 0})"},
    {"merge_convolutions",  // in two dimensions
     "g (float[1,1,4,4] x) => (float[1,1,4,4] y) <float[1,1,2,3] w = {1, 2, 3, 4, 5, 6}, float[1,1,2,1] v = "
     "{10, 20}> "
     "{ a = Conv <pads = [0, 1, 1, 1]> (x, w) c = Conv <pads = [0, 0, 1, 0]> (x, v) y = Add (a, c) }",
     "y = Conv<pads=[0, 1, 1, 1]>(x, {1, 12, 3, 4, 25, 6}, {0})"},
    {"merge_convolutions",  // with a third summand between them
     "g (float[1,1,4] x, float[1,1,4] z) => (float[1,1,4] y) <float[1,1,3] w = {1, 2, 3}, float[1,1,1] v = "
     "{10}> "
     "{ a = Conv <pads = [1, 1]> (x, w) p = Add (z, a) c = Conv (x, v) y = Add (p, c) }",
     "Conv<pads=[1, 1]>(x, {1, 12, 3}, {0}); y = Add(z, %0)"},
    {"merge_convolutions",  // neither lies within the other
     "g (float[1,1,4,4] x) => (float[1,1,4,4] y) <float[1,1,1,3] w = {1, 2, 3}, float[1,1,3,1] v = {10, 20, "
     "30}> "
     "{ a = Conv <pads = [0, 1, 0, 1]> (x, w) c = Conv <pads = [1, 0, 1, 0]> (x, v) y = Add (a, c) }",
     ""},
    {"merge_convolutions",  // other elements
     "g (float[1,1,8] x) => (float[1,1,4] y) <float[1,1,3] w = {1, 2, 3}, float[1,1,3] v = {10, 20, 30}> "
     "{ a = Conv <strides = [2], pads = [1, 1]> (x, w) c = Conv <dilations = [2]> (x, v) y = Add (a, c) }",
     ""},
    {"merge_convolutions",  // a result that others want
     "g (float[1,1,4] x) => (float[1,1,4] y, float[1,1,4] c) <float[1,1,3] w = {1, 2, 3}, float[1,1,1] v = "
     "{10}> "
     "{ a = Conv <pads = [1, 1]> (x, w) c = Conv (x, v) y = Add (a, c) }",
     ""},
    {"merge_convolutions",  // a weight with another use
     "g (float[1,1,4] x) => (float[1,1,4] y, float[1,1,4] z) <float[1,1,3] w = {1, 2, 3}, float[1,1,1] v = "
     "{10}> "
     "{ a = Conv <pads = [1, 1]> (x, w) z = Conv <pads = [1, 1]> (x, w) c = Conv (x, v) y = Add (a, c) }",
     ""},
    {"merge_convolutions",  // one number for all
     "g (float[1,1,3] x) => (float[1,1,3] y) <float[1,1,3] w = {1, 2, 3}, float[1,1,1] v = {10}> "
     "{ a = Conv (x, w) c = Conv (x, v) y = Add (a, c) }",
     ""},
    // merge_equal_constants
    {"merge_equal_constants",
     "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {1, 2}, float[2] c = {1, 3}> "
     "{ p = Add (x, a) q = Mul (p, b) y = Sub (q, c) }",
     "Add(x, {1, 2}); Mul(%0, {1, 2}); y = Sub(%1, {1, 3})"},
    // merge_gathers
    {"merge_gathers",
     "g (float[3,4] x) => (float[3,1] y) <int64 i = {2}, int64[1] a = {1}> { s = Gather <axis = 1> (x, i) y "
     "= Unsqueeze (s, a) }",
     "y = Gather<axis=1>(x, {2})"},
    {"merge_gathers",
     "g (float[3,4] x) => (float[1,3] y) <int64 i = {2}, int64[1] a = {0}> { s = Gather <axis = 1> (x, i) y "
     "= Unsqueeze (s, a) }",
     ""},
    {"merge_gathers",
     "g (float[6] x) => (float[4] y) <int64[1] i = {2}, int64[1] j = {0}, float[2] c = {7, 8}> "
     "{ s = Gather (x, i) t = Gather (x, j) y = Concat <axis = 0> (s, t, c) }",
     "Gather<axis=0>(x, {2, 0}); y = Concat<axis=0>(%0, {7, 8})"},
    {"merge_gathers",
     "g (float[N,M,4] x) => (int64[2] y) <int64[2] i = {1, 2}> { s = Shape (x) y = Gather (s, i) }",
     "Shape(x); y = Shape<start=1, end=3>(x)"},
    // merge_products
    {"merge_products",
     "g (float[B,3,2] x) => (float[B,3,1] p, float[B,3,2] q) <float[2,1] v = {1, 2}, float[2,2] w = {3, 4, "
     "5, 6}, float[1] b = {7}, "
     "float[2] c = {8, 9}> { s = MatMul (x, v) p = Add (s, b) t = MatMul (x, w) q = Add (c, t) }",
     "MatMul(x, {1, 3, 4, 2, 5, 6}); Add(%0, {7, 8, 9}); p, q = Split<axis=2>(%1, {1, 2})"},
    {"merge_products",  // zeros for the product without a bias; equal parts need no list
     "g (float[2,2] x) => (float[2,1] p, float[2,1] q, float[2,1] r) <float[2,1] u = {1, 2}, float[2,1] v = "
     "{3, 4}, float[2,1] w = {5, 6}, "
     "float[1,1] b = {7}> { s = MatMul (x, u) p = Add (s, b) q = MatMul (x, v) r = MatMul (x, w) }",
     "MatMul(x, {1, 3, 5, 2, 4, 6}); Add(%0, {7, -0, -0}); p, q, r = Split<axis=1>(%1)"},
    {"merge_products",
     "g (float[2,2] x) => (float[2,1] p, float[2,1] q, float[2,1] r) <float[1,2] u = {1, 2}, float[1,2] v = "
     "{3, 4}, float[1,2] w = {5, 6}, "
     "float[1] b = {7}> { p = Gemm <transB = 1> (x, u) q = Gemm <transB = 1> (x, v, b) r = Gemm <transB = 1> "
     "(x, w) }",
     "Gemm<transB=1>(x, {1, 2, 3, 4, 5, 6}, {-0, 7, -0}); p, q, r = Split<axis=1, num_outputs=3>(%0)", 18},
    {"merge_products",  // two products and a Split are no fewer
     "g (float[2,2] x) => (float[2,1] p, float[2,1] q) <float[2,1] v = {3, 4}, float[2,1] w = {5, 6}> { p = "
     "MatMul (x, v) q = MatMul (x, w) }",
     ""},
    {"merge_products",  // a weight with another use stays
     "g (float[2,2] x) => (float[2,1] p, float[2,1] q, float[2,1] r, float[2,1] z) <float[2,1] u = {1, 2}, "
     "float[2,1] v = {3, 4}, "
     "float[2,1] w = {5, 6}> { p = MatMul (x, u) q = MatMul (x, v) r = MatMul (x, w) z = Neg (w) }",
     ""},
    {"merge_products",  // a vector that makes more of the result, a factor
     "g (float[2] x) => (float[3,1] p, float[1] q) <float[2,1] u = {1, 2}, float[2,1] v = {3, 4}, float[3,1] "
     "b = {7, 8, 9}, float[1] c = {1}> "
     "{ s = MatMul (x, u) p = Add (s, b) t = MatMul (x, v) q = Mul (t, c) }",
     ""},
    {"merge_products",
     "g (float[2,2] x) => (float[2,1] p, float[2,1] q, float[2,1] r) <float[2,1] u = {1, 2}, float[2,1] v = "
     "{3, 4}, float[2,1] w = {5, 6}> "
     "{ p = Gemm <alpha = 2.0> (x, u) q = Gemm (x, v) r = Gemm (x, w) }",
     ""},
    // merge_reductions
    {"merge_reductions",
     "g (float[2,3,4] x) => (float[2] y) { a = ReduceMean <axes = [2], keepdims = 0> (x) y = ReduceMean "
     "<axes = [1], keepdims = 0> (a) }",
     "y = ReduceMean<keepdims=0, axes=[1, 2]>(x)"},
    {"merge_reductions",
     "g (float[2,3,4] x) => (float[2,1,4] y) <int64[1] a = {1}> { r = ReduceMax <axes = [1], keepdims = 0> "
     "(x) y = Unsqueeze (r, a) }",
     "y = ReduceMax<keepdims=1, axes=[1]>(x)"},
    {"merge_reductions",
     "g (float[2,3,4] x) => (float[2,4] y) <int64[1] a = {1}> { r = ReduceSum (x, a) y = Squeeze (r, a) }",
     "y = ReduceSum<keepdims=0>(x, {1})"},
    {"merge_reductions",
     "g (float[N,3,4] x) => (float[N,1,1] y) <int64[3] s = {0, 1, 1}> { r = ReduceMean <axes = [1, 2], "
     "keepdims = 0> (x) y = Reshape (r, s) }",
     "y = ReduceMean<keepdims=1, axes=[1, 2]>(x)"},
    {"merge_reductions",
     "g (float[2,3,4] x) => (float[1,2,4] y) <int64[1] a = {0}> { r = ReduceMax <axes = [1], keepdims = 0> "
     "(x) y = Unsqueeze (r, a) }",
     ""},
    // merge_scalings
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {0.75}, float[2] b = {2, 4}> { p = Mul (a, x) y = Div (p, b) "
     "}",
     "y = Mul(x, {0.375, 0.1875})"},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {3}, float b = {-2}> { p = Sub (x, a) y = Add (b, p) }",
     "y = Add(x, -5)"},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {3}, float b = {2}> { p = Sub (a, x) y = Add (b, p) }", ""},
    {"merge_scalings",
     "g (int64[2] x) => (int64[2] y) <int64 a = {3}, int64 b = {2}> { p = Mul (x, a) y = Div (p, b) }", ""},
    // merge_slices
    {"merge_slices",
     "g (float[8,N] x) => (float[3,?] y) <int64[1] s = {2}, int64[1] e = {7}, int64[1] a = {0}, int64[1] t = "
     "{1}, int64[1] f = {4}> "
     "{ p = Slice (x, s, e, a) q = Slice (p, t, f, a) y = Slice (q, t, e, t) }",
     "y = Slice(x, {3, 1}, {6, 7}, {0, 1})"},
    {"merge_slices",
     "g (float[N] x) => (float[?] y) <int64[1] s = {-4}, int64[1] e = {100}, int64[1] a = {0}, int64[1] t = "
     "{1}> "
     "{ p = Slice (x, s, e, a) y = Slice (p, t, e, a) }",
     ""},
    // merge_transposes
    {"merge_transposes",
     "g (float[2,3,4] x) => (float[4,2,3] y) { a = Transpose <perm = [1, 0, 2]> (x) y = Transpose <perm = "
     "[2, 1, 0]> (a) }",
     "Transpose<perm=[1, 0, 2]>(x); y = Transpose<perm=[2, 0, 1]>(x)"},
    // merge_views
    {"merge_views",
     "g (float[N,4,6] x) => (float[N,24] y) <int64[1] a = {0}> "
     "{ f = Flatten (x) u = Unsqueeze (f, a) y = Squeeze (u, a) }",
     "y = Reshape(x, {0, 24})"},
    {"merge_views",
     "g (float[N,4,6] x) => (float[N,4,6] y) <int64[1] a = {0}> { u = Unsqueeze (x, a) s = Squeeze (u, a) y "
     "= Neg (s) }",
     "Unsqueeze(x, {0}); y = Neg(x)"},
    {"merge_views",
     "g (float[N,4,6] x) => (float[N,12,2] y) <int64[2] s = {-1, 24}, int64[3] t = {-1, 12, 2}> "
     "{ r = Reshape (x, s) y = Reshape (r, t) }",
     "y = Reshape(x, {0, 12, 2})"},
    {"merge_views",
     "g (float[2,1,3] x) => (float[6] y) <int64[1] s = {-1}> { r = Transpose <perm = [1, 0, 2]> (x) y = "
     "Reshape (r, s) }",
     "y = Reshape(x, {6})"},
    // nest_concats: the longest prefix, whatever it has become itself; the same axis only
    {"nest_concats",
     "g (float[2,1] x, float[2,3] z) => (float[2,4] a, float[2,5] b, float[2,8] c) { a = Concat <axis = -1> "
     "(x, z) b = Concat <axis = 1> (x, z, x) c = Concat <axis = 1> (x, z, x, z) }",
     "a = Concat<axis=-1>(x, z); b = Concat<axis=1>(a, x); c = Concat<axis=1>(b, z)"},
    {"nest_concats",
     "g (float[2,2] x, float[2,2] z) => (float[4,2] a, float[2,6] b, float[2,6] c) { a = Concat <axis = 0> "
     "(x, z) b = Concat <axis = 1> (x, z, x) c = Concat <axis = 1> (z, x, x) }",
     ""},
    {"nest_concats",  // one that comes later
     "g (float[2,2] x, float[2,2] z) => (float[2,6] a, float[2,4] b) { a = Concat <axis = 1> (x, z, x) b = "
     "Concat <axis = 1> (x, z) }",
     ""},
    // raise_opset
    {"raise_opset",
     "g (float[2,3] x) => (float[2,3] y) <float[3] b = {1, 2, 3}> { y = Add <broadcast = 1> (x, b) }",
     "y = Add(x, {1, 2, 3})", 6},
    // regions_to_operators
    {"fuse_gelu regions_to_operators",
     "g (float[4] x) => (float[4] y) <float root = {1.41421356}, float one = {1}, float half = {0.5}> "
     "{ a = Div (x, root) e = Erf (a) s = Add (e, one) m = Mul (x, s) y = Mul (m, half) }",
     "y = Gelu(x)", 20},
    {"fuse_gelu regions_to_operators",
     "g (float[4] x) => (float[4] y) <float c = {0.044715}, float three = {3}, float r = {0.7978845608}, "
     "float one = {1}, "
     "float half = {0.5}> { p = Pow (x, three) q = Mul (p, c) i = Add (x, q) j = Mul (i, r) t = Tanh (j) s = "
     "Add (t, one) "
     "h = Mul (x, half) y = Mul (h, s) }",
     "y = Gelu<approximate=tanh>(x)", 20},
    {"fuse_layer_norm regions_to_operators",
     "g (float[N,2] x) => (float[N,2] y) <float two = {2}, float e = {0.00001}, float[2] b = {4, 3}> "
     "{ m = ReduceMean <axes = [-1]> (x) d = Sub (x, m) p = Pow (d, two) v = ReduceMean <axes = [-1]> (p) a "
     "= Add (v, e) "
     "s = Sqrt (a) q = Div (d, s) y = Add (q, b) }",
     "y = LayerNormalization<axis=-1, epsilon=1e-05>(x, {1, 1}, {4, 3})"},
    {"fuse_rms_norm regions_to_operators",
     "g (float[N,4] x) => (float[N,4] y) <float two = {2}, float one = {1}, float e = {0.00001}, float[4] w "
     "= {1, 2, 3, 4}, int64[1] a = {-1}> "
     "{ p = Pow (x, two) v = ReduceMean (p, a) s = Add (v, e) r = Sqrt (s) i = Div (one, r) n = Mul (x, i) y "
     "= Mul (w, n) }",
     "y = RMSNormalization<axis=-1, epsilon=1e-05>(x, {1, 2, 3, 4})", 23},
    {"fuse_hard_swish regions_to_operators",
     "g (float[4] x) => (float[4] y) { a = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) y = Mul (x, a) }",
     "y = HardSwish(x)"},
    {"fuse_mish regions_to_operators",
     "g (float[4] x) => (float[4] y) { a = Softplus (x) t = Tanh (a) y = Mul (x, t) }", "y = Mish(x)", 18},
    {"fuse_silu regions_to_operators", "g (float[4] x) => (float[4] y) { a = Sigmoid (x) y = Mul (x, a) }",
     "y = Swish(x)", 24},
    // scale_queries: of two heads, a mask behind
    {"scale_queries",
     "g (float[1,2,3,4] q, float[1,2,4,3] k, float[1,1,3,3] m) => (float[1,2,3,3] y) <float[2,1,1] c = "
     "{0.5, 2}> { s = MatMul (q, k) f = Mul (s, c) a = Add (f, m) y = Softmax (a) }",
     "Mul(q, {0.5, 2}); MatMul(%0, k); Add(%1, m); y = Softmax(%2)"},
    // No softmax; a factor of each key; scores that others use, too
    {"scale_queries",
     "g (float[2,3,4] q, float[2,4,3] k) => (float[2,3,3] y) <float[2,1,1] c = {0.5, 2}> { s = MatMul "
     "(q, k) f = Mul (s, c) y = Relu (f) }",
     ""},
    {"scale_queries",
     "g (float[2,3,4] q, float[2,4,3] k) => (float[2,3,3] y) <float[1,1,3] c = {0.5, 2, 1}> { s = MatMul "
     "(q, k) f = Mul (s, c) y = Softmax (f) }",
     ""},
    {"scale_queries",
     "g (float[2,3,4] q, float[2,4,3] k) => (float[2,3,3] y, float[2,3,3] s) <float[2,1,1] c = {0.5, 2}> "
     "{ s = MatMul (q, k) f = Mul (s, c) y = Softmax (f) }",
     ""},
    {"scale_queries",
     "g (float[2,3,4] q, float[2,4,3] k) => (float[2,3,3] y) <float[2,1,1] c = {0.5, 20000}> { s = "
     "MatMul (q, k) f = Mul (s, c) y = Softmax (f) }",
     ""},
    // sink_transposes
    {"sink_transposes",
     "g (float[1,2,3,4] x) => (float[1,2,3,4] y) <float[2] b = {1, 2}, float low = {0}> "
     "{ t = Transpose <perm = [0, 2, 3, 1]> (x) a = Add (t, b) c = Clip (a, low) y = Transpose <perm = [0, "
     "3, 1, 2]> (c) }",
     "Add(x, {1, 2}); y = Clip(%0, 0)"},
    {"sink_transposes",
     "g (float[1,2,3,4] x) => (float[1,3,2,6] y) <int64[8] p = {0, 0, 1, 0, 0, 0, 1, 0}> "
     "{ t = Transpose <perm = [0, 2, 3, 1]> (x) a = Pad (t, p) y = Transpose <perm = [0, 1, 3, 2]> (a) }",
     "Pad(x, {0, 0, 0, 1, 0, 0, 0, 1}); y = Transpose<perm=[0, 2, 1, 3]>(%0)"},
    {"sink_transposes",
     "g (float[2,3] x) => (float[2,3] y, float[3,2] a) { t = Transpose (x) a = Relu (t) y = Transpose (a) }",
     ""},
    // split_variadic
    {"split_variadic", "g (float[2] x, float[2] z) => (float[2] y) { y = Sum (x, z, x) }",
     "Add(x, z); y = Add(%0, x)"},
    // widen_halves
    {"widen_halves", "g (float16[2] x, float16[2] z) => (float16[2] y) { a = Relu (x) y = Add (a, z) }",
     "Cast<to=1>(z); Cast<to=1>(x); Relu(%1); Cast<to=10>(%2); Add(%2, %0); y = Cast<to=10>(%4)"},
    {"widen_halves", "g (bfloat16[2] x) => (float[2] y) { a = Relu (x) y = Cast <to = 1> (a) }",
     "Cast<to=1>(x); Relu(%0); Cast<to=16>(%1); y = Identity(%1)"},
    {"widen_halves", "g (float[2] x) => (float16[2] y) { a = Cast <to = 10> (x) y = Neg (a) }",
     "Cast<to=10>(x); Cast<to=1>(%0); Neg(%1); y = Cast<to=10>(%2)"},
    {"widen_halves", "g (float[2] x) => (float[2] y) { a = Cast <to = 10> (x) y = Cast <to = 1> (a) }", ""},
    {"widen_halves",
     "g (float16[2] x) => (float16[2] y) <int64 i = {0}> { s = SequenceConstruct (x) y = SequenceAt (s, i) }",
     ""},
    {"widen_halves", "g (float16[2] x) => (float[2] y) { a = Neg (x) y = Cast <to = 1> (a) }",
     "Cast<to=1>(x); Neg(%0); Cast<to=10>(%1); y = Identity(%1)"},
};

}  // namespace

std::span<const PassCase> pass_cases() {
  static const std::vector<PassCase> kAll = [] {
    std::vector<PassCase> all(std::begin(kCases), std::end(kCases));
    for (const std::span<const PassCase> more :
         {loop_pass_cases(), runtime_pass_cases(), packed_pass_cases(), sound_pass_cases()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kAll;
}

std::shared_ptr<Model> model_of(const PassCase& c) {
  const std::string text =
      fmt::format("<ir_version: 8, opset_import: [\"\" : {}, \"local\" : 1, \"com.microsoft\" : 1]>\n{}",
                  c.opset, c.graph);
  std::shared_ptr<Model> model = parse_text(text, c.pass);
  infer_shapes(*model);
  return model;
}

}  // namespace assay
