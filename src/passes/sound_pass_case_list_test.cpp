// Cases that look like others but must stay as they are: types, ranges, ranks and windows for which an edit
// would give other results; each beside one that holds.
#include "passes/pass_cases.h"

namespace assay {
namespace {

constexpr PassCase kSound[] = {
    // eliminate_idempotent: where min is above max, max wins
    {"eliminate_idempotent",
     "g (float[4] x) => (float[4] y) <float a = {0}, float b = {-1}> { k = Clip (x, a, b) y = Relu (k) }",
     ""},
    {"eliminate_idempotent",
     "g (float[4] x) => (float[4] y) { k = Clip <min = 0.0, max = -1.0> (x) y = Relu (k) }", "", 10},
    {"eliminate_idempotent",
     "g (float[4] x, float b) => (float[4] y) <float a = {0}> { k = Clip (x, a, b) y = Relu (k) }", ""},
    {"eliminate_idempotent",
     "g (float[4] x) => (float[4] y) <float b = {2}> { k = Clip (x, \"\", b) y = Relu (k) }", ""},
    {"eliminate_idempotent",
     "g (float[4] x) => (float[4] y) <float b = {-1}> { k = Relu (x) y = Clip (k, \"\", b) }", ""},
    {"eliminate_idempotent",
     "g (float[4] x) => (float[4] y) <float a = {1}> { k = Clip (x, a) y = Relu (k) }", "y = Clip(x, 1)"},
    {"eliminate_idempotent",
     "g (float[4] x) => (float[4] y) <float a = {0}, float b = {-1}> { k = Relu (x) y = Clip (k, a, b) }",
     "y = Clip(x, 0, -1)"},
    // eliminate_neutral: -0 + 0 is 0, and a sum may be divided by
    {"eliminate_neutral",
     "g (float[2] x) => (float[2] y) <float zero = {0}> { a = Add (x, zero) y = Reciprocal (a) }", ""},
    {"eliminate_neutral",
     "g (float[2] x) => (float[2] y) <float zero = {-0.0}> { a = Sub (x, zero) y = Reciprocal (a) }", ""},
    {"eliminate_neutral",
     "g (float[2] x) => (float[2] y) <float zero = {-0.0}> { a = Add (x, zero) y = Neg (a) }", "y = Neg(x)"},
    {"eliminate_neutral",
     "g (float[2] x) => (float[2] y) <float zero = {0}> { e = Exp (x) y = Add (zero, e) }", "y = Exp(x)"},
    {"eliminate_neutral",
     "g (int64[2] x) => (int64[2] y) <int64 zero = {0}> { a = Add (zero, x) y = Neg (a) }", "y = Neg(x)"},
    {"eliminate_neutral",
     "g (float[2] x) => (float[1,2] y) <float[1,1] one = {1}> { a = Mul (x, one) y = Neg (a) }", ""},
    // fold_batch_norm, fold_channel_affine: weights that leave the range, and roundings on purpose
    {"fold_batch_norm",
     "g (float[1,1,2,2] x) => (float[1,1,2,2] y) <float[1,1,1,1] w = {1e20}, float[1] s = {1e20}, float[1] b "
     "= {0}, float[1] m = {0}, float[1] v = {1}> { a = Conv (x, w) y = BatchNormalization (a, s, b, m, v) }",
     ""},
    {"fold_batch_norm",
     "g (float[1,1,2,2] x) => (float[1,1,2,2] y) <float[1,1,1,1] w = {1e-20}, float[1] s = {1e-20}, float[1] "
     "b = {0}, float[1] m = {0}, float[1] v = {1}> { a = Conv (x, w) y = BatchNormalization (a, s, b, m, v) "
     "}",
     ""},
    {"fold_batch_norm",
     "g (float[1,1,2,2] x) => (float[1,1,2,2] y) <float[1,1,1,1] w = {2}, float[1] s = {1}, float[1] b = "
     "{0}, float[1] m = {0}, float[1] v = {-1}> { a = Conv (x, w) y = BatchNormalization (a, s, b, m, v) }",
     ""},
    {"fold_channel_affine",
     "g (float[1,1,2,2] x) => (float[1,1,2,2] y) <float[1,1,1,1] w = {2}, float[1] b = {12582912}, float m = "
     "{12582912}> { a = Conv (x, w, b) y = Sub (a, m) }",
     ""},
    {"fold_channel_affine",
     "g (float[1,1,2,2] x) => (float[1,1,2,2] y) <float[1,1,1,1] w = {1e-25}, float f = {1e-25}> "
     "{ a = Conv (x, w) y = Mul (a, f) }",
     ""},
    {"fold_channel_affine",
     "g (float16[1,1,2,2] x) => (float16[1,1,2,2] y) <float16[1,1,1,1] w = {23728}, float16 f = {23728}> "
     "{ a = Conv (x, w) y = Mul (a, f) }",
     ""},
    // fold_batch_norm, fold_channel_affine, merge_convolutions: a product of integers stays one
    {"fold_batch_norm",
     "g (int8[1,1,2,2] q) => (float[1,1,2,2] y) <float[1,1,1,1] w = {2}, float r = {0.5}, float[1] f "
     "= {3}, float[1] b = {0}, float[1] m = {0}, float[1] v = {1}> "
     "{ x = DequantizeLinear (q, r) a = Conv (x, w) y = BatchNormalization (a, f, b, m, v) }",
     ""},
    {"fold_channel_affine",
     "g (int8[1,1,2,2] q) => (float[1,1,2,2] y) <float[1,1,1,1] w = {2}, float r = {0.5}, float f = {3}> "
     "{ x = DequantizeLinear (q, r) a = Conv (x, w) y = Mul (a, f) }",
     ""},
    {"fold_channel_affine",
     "g (int8[1,1,2,2] q) => (float[1,1,2,2] y) <float[1,1,1,1] w = {2}, float r = {0.5}> "
     "{ x = DequantizeLinear (q, r) a = Conv (x, w) y = Neg (a) }",
     ""},
    {"merge_convolutions",
     "g (int8[1,1,4] q) => (float[1,1,4] y) <float[1,1,1] w = {2}, float r = {0.5}> "
     "{ x = DequantizeLinear (q, r) a = Conv (x, w) y = Add (a, x) }",
     ""},
    // formulas: a constant of more dimensions raises the rank
    {"fuse_gelu",
     "g (float[5] x) => (float[1,5] y) <float r = {1.4142135}, float one = {1}, float[1,1] half = {0.5}> "
     "{ a = Div (x, r) e = Erf (a) p = Add (e, one) q = Mul (x, p) y = Mul (q, half) }",
     "", 20},
    {"fuse_gelu",
     "g (float[5] x) => (float[1,5] y) <float[1,1] r = {1.4142135}, float one = {1}, float half = {0.5}> "
     "{ a = Div (x, r) e = Erf (a) p = Add (e, one) q = Mul (x, p) y = Mul (q, half) }",
     "", 20},
    {"fuse_gelu",
     "g (float[5] x) => (float[1,5] y) <float r = {1.4142135}, float[1,1] one = {1}, float half = {0.5}> "
     "{ a = Div (x, r) e = Erf (a) p = Add (e, one) q = Mul (x, p) y = Mul (q, half) }",
     "", 20},
    {"fuse_gelu",
     "g (float[5] x) => (float[1,5] y) <float[1,1] three = {3}, float c = {0.044715}, float k = {0.7978846}, "
     "float one = {1}, float half = {0.5}> { p = Pow (x, three) m = Mul (p, c) s = Add (x, m) z = Mul (s, k) "
     "t = Tanh (z) o = Add (t, one) q = Mul (x, o) y = Mul (q, half) }",
     "", 20},
    {"fuse_hard_swish",
     "g (float[4] x) => (float[1,4] y) <float[1,1] three = {3}, float zero = {0}, float six = {6}> "
     "{ a = Add (x, three) c = Clip (a, zero, six) m = Mul (x, c) y = Div (m, six) }",
     ""},
    {"fuse_hard_swish",
     "g (float[4] x) => (float[1,4] y) <float three = {3}, float zero = {0}, float six = {6}, float[1,1] d = "
     "{6}> { a = Add (x, three) c = Clip (a, zero, six) m = Mul (x, c) y = Div (m, d) }",
     ""},
    {"fuse_layer_norm",
     "g (float[2,8] x) => (float[1,2,8] y) <float two = {2}, float[1,1,1] e = {0.00001}, int64[1] a = {-1}> "
     "{ m = ReduceMean (x, a) d = Sub (x, m) p = Pow (d, two) v = ReduceMean (p, a) s = Add (v, e) r = Sqrt "
     "(s) y = Div (d, r) }",
     "", 18},
    {"fuse_layer_norm",
     "g (float[2,8] x) => (float[1,2,8] y) <float[1,1,1] two = {2}, float e = {0.00001}, int64[1] a = {-1}> "
     "{ m = ReduceMean (x, a) d = Sub (x, m) p = Pow (d, two) v = ReduceMean (p, a) s = Add (v, e) r = Sqrt "
     "(s) y = Div (d, r) }",
     "", 18},
    {"fuse_layer_norm",
     "g (double[2,8] x) => (double[2,8] y) <double two = {2}, double e = {0.00001}, int64[1] a = {-1}> "
     "{ m = ReduceMean (x, a) d = Sub (x, m) p = Pow (d, two) v = ReduceMean (p, a) s = Add (v, e) r = Sqrt "
     "(s) y = Div (d, r) }",
     "", 18},
    {"fuse_rms_norm",
     "g (float[2,4] x) => (float[1,2,4] y) <float two = {2}, float[1,1,1] e = {0.00001}, float[4] w = {1, 2, "
     "3, 4}, int64[1] a = {-1}> { p = Pow (x, two) v = ReduceMean (p, a) s = Add (v, e) r = Sqrt (s) n = Div "
     "(x, r) y = Mul (n, w) }",
     "", 23},
    {"fuse_rms_norm",
     "g (float[2,4] x) => (float[1,2,4] y) <float two = {2}, float[1,1,1] one = {1}, float e = {0.00001}, "
     "float[4] w = {1, 2, 3, 4}, int64[1] a = {-1}> { p = Pow (x, two) v = ReduceMean (p, a) s = Add (v, e) "
     "r "
     "= Sqrt (s) i = Div (one, r) n = Mul (x, i) y = Mul (n, w) }",
     "", 23},
    {"fuse_rms_norm",
     "g (double[2,4] x) => (double[2,4] y) <double two = {2}, double e = {0.00001}, double[4] w = {1, 2, 3, "
     "4}, int64[1] a = {-1}> { p = Pow (x, two) v = ReduceMean (p, a) s = Add (v, e) r = Sqrt (s) n = Div "
     "(x, "
     "r) y = Mul (n, w) }",
     "", 23},
    // fuse_pad: windows that step over the image, and what may be negative
    {"fuse_pad",
     "g (float[1,1,2] x) => (float[1,1,1] y) <int64[6] p = {0, 0, 1, 0, 0, 1}> "
     "{ r = Relu (x) a = Pad (r, p) y = MaxPool <dilations = [3], kernel_shape = [2]> (a) }",
     ""},
    {"fuse_pad",
     "g (float[1,1,N] x) => (float[1,1,M] y) <int64[6] p = {0, 0, 1, 0, 0, 1}> "
     "{ r = Relu (x) a = Pad (r, p) y = MaxPool <dilations = [2], kernel_shape = [2]> (a) }",
     ""},
    {"fuse_pad",
     "g (float[1,1,4] x) => (float[1,1,4] y) <int64[6] p = {0, 0, 1, 0, 0, 1}> "
     "{ r = Relu (x) a = Pad (r, p) y = MaxPool <dilations = [2], kernel_shape = [2]> (a) }",
     "Relu(x); y = MaxPool<dilations=[2], kernel_shape=[2], pads=[1, 1]>(%0)"},
    {"fuse_pad",
     "g (float[1,1,4] x) => (float[1,1,5] y) <int64[6] p = {0, 0, 1, 0, 0, 1}, float a = {0}, float b = "
     "{-1}> "
     "{ r = Clip (x, a, b) q = Pad (r, p) y = MaxPool <kernel_shape = [2]> (q) }",
     ""},
    {"fuse_pad",
     "g (float[1,1,4] x) => (float[1,1,6] y) <int64[6] p = {0, 0, 1, 0, 0, 1}, float[1,1,1] w = {inf}> "
     "{ a = Pad (x, p) y = Conv (a, w) }",
     ""},
    // merge_convolutions
    {"merge_convolutions",
     "g (float[1,1,4] x) => (float[1,1,4] y) <float[1,1,1] v = {2}, float[1,1,1] w = {3}, float[1] a = "
     "{8388608}, float[1] b = {-8388608}> { p = Conv (x, v, a) q = Conv (x, w, b) y = Add (p, q) }",
     ""},
    {"merge_convolutions",
     "g (float16[1,1,4] x) => (float16[1,1,4] y) <float16[1,1,1] v = {30946}, float16[1,1,1] w = {30946}> "
     "{ p = Conv (x, v) q = Conv (x, w) y = Add (p, q) }",
     ""},
    // merge_reductions: integers round and wrap around at each step
    {"merge_reductions",
     "g (int32[4,2,2] x) => (int32[4,1,1] y) { p = ReduceMean <axes = [2]> (x) y = ReduceMean <axes = [1]> "
     "(p) }",
     ""},
    {"merge_reductions",
     "g (int64[4,2,2] x) => (int64[4] y) <int64[1] b = {2}, int64[1] c = {1}> "
     "{ p = ReduceL2 <keepdims = 0> (x, b) y = ReduceL2 <keepdims = 0> (p, c) }",
     "", 18},
    {"merge_reductions",
     "g (int32[4,2,2] x) => (int32[4,1,1] y) { p = ReduceL1 <axes = [2]> (x) y = ReduceL1 <axes = [1]> (p) }",
     ""},
    {"merge_reductions",
     "g (float[4,2,2] x) => (float[4,1,1] y) { p = ReduceProd <axes = [2]> (x) y = ReduceProd <axes = [1]> "
     "(p) }",
     ""},
    {"merge_reductions",
     "g (int32[4,2,2] x) => (int32[4,1,1] y) { p = ReduceMax <axes = [2]> (x) y = ReduceMax <axes = [1]> (p) "
     "}",
     "y = ReduceMax<keepdims=1, axes=[1, 2]>(x)"},
    // merge_scalings: constants that leave the range, cancel, or round on purpose
    {"merge_scalings", "g (float[2] x) => (float[2] y) <float a = {1e20}> { p = Mul (x, a) y = Mul (p, a) }",
     ""},
    {"merge_scalings", "g (float[2] x) => (float[2] y) <float a = {1e-25}> { p = Mul (x, a) y = Mul (p, a) }",
     ""},
    {"merge_scalings",
     "g (float16[2] x) => (float16[2] y) <float16 a = {23728}> { p = Mul (x, a) y = Mul (p, a) }", ""},
    {"merge_scalings",
     "g (float16[2] x) => (float16[2] y) <float16 a = {23728}> { p = Div (x, a) y = Div (p, a) }", ""},
    {"merge_scalings", "g (float[2] x) => (float[2] y) <float a = {1e30}> { p = Mul (x, a) y = Div (p, a) }",
     ""},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {12582912}> { p = Add (x, a) y = Sub (p, a) }", ""},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {100}, float b = {1}> { p = Add (x, a) y = Add (p, b) }", ""},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float[2] a = {8388608, 1}, float b = {8388608}> { p = Add (x, a) y = "
     "Sub (p, b) }",
     ""},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {0.5}, float b = {0.25}> { p = Mul (x, a) y = Mul (p, b) }",
     "y = Mul(x, 0.125)"},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {3}, float b = {2}> { p = Add (x, a) y = Add (b, p) }",
     "y = Add(x, 5)"},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {0.5}, float b = {10}> { p = Mul (x, a) y = Mul (p, b) }",
     "y = Mul(x, 5)"},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {0.5}, float b = {1e30}> { p = Mul (x, a) y = Mul (p, b) }",
     ""},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {2}, float b = {10}> { p = Div (x, a) y = Mul (b, p) }",
     "y = Mul(x, 5)"},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {0.1}, float b = {10}> { p = Mul (x, a) y = Mul (p, b) }",
     ""},
    {"merge_scalings",
     "g (float[2] x) => (float[2] y) <float a = {10}, float b = {0.5}> { p = Mul (x, a) y = Mul (p, b) }",
     ""},
    // lower_batch_norm: 64 and 8 in float16, whose largest number 64 moves
    {"lower_batch_norm",
     "g (float16[1,1,2,2] x) => (float16[1,1,2,2] y) <float16[1] s = {15360}, float16[1] b = {21504}, "
     "float16[1] m = {0}, float16[1] v = {15360}> { y = BatchNormalization <epsilon = 0.0> (x, s, b, m, v) }",
     ""},
    {"lower_batch_norm",
     "g (float16[1,1,2,2] x) => (float16[1,1,2,2] y) <float16[1] s = {15360}, float16[1] b = {18432}, "
     "float16[1] m = {0}, float16[1] v = {15360}> { y = BatchNormalization <epsilon = 0.0> (x, s, b, m, v) }",
     "Mul(x, {1}); y = Add(%0, {8})"},
    // widen_halves: 1536 in float16 rounds what it is added to; 1 does not
    {"widen_halves",
     "g (float16[2] x) => (float16[2] y) <float16 c = {26112}> { a = Add (x, c) y = Sub (a, c) }",
     "Cast<to=1>(1536); Cast<to=1>(x); Add(%1, %0); Cast<to=10>(%2); Cast<to=1>(%3); Sub(%4, %0); y = "
     "Cast<to=10>(%5)"},
    {"widen_halves",
     "g (float16[2] x) => (float16[2] y) <float16 c = {26112}> { a = Sub (c, x) y = Sub (c, a) }",
     "Cast<to=1>(x); Cast<to=1>(1536); Sub(%1, %0); Cast<to=10>(%2); Cast<to=1>(%3); Sub(%1, %4); y = "
     "Cast<to=10>(%5)"},
    {"widen_halves",
     "g (float16[2] x) => (float16[2] y) <float16 c = {15360}> { a = Add (x, c) y = Sub (a, c) }",
     "Cast<to=1>(1); Cast<to=1>(x); Add(%1, %0); Cast<to=10>(%2); Sub(%2, %0); y = Cast<to=10>(%4)"},
};

}  // namespace

std::span<const PassCase> sound_pass_cases() { return kSound; }

}  // namespace assay
