// Cases of passes that work on Loop and Scan.
#include "passes/pass_cases.h"

namespace assay {
namespace {

constexpr PassCase kLoopCases[] = {
    // capture_loop_states
    {"capture_loop_states",
     "g (float[1,2] x, float[2,2] w) => (float[1,2] y) <int64 m = {3}> { y, v = Loop <body = b (int64 i, "
     "bool "
     "c, float[1,2] s, float[2,2] k) => (bool d, float[1,2] t, float[2,2] l) { d = Identity (c) t = MatMul "
     "(s, "
     "k) j = Identity (k) l = Identity (j) }> (m, \"\", x, w) }",
     "Identity(w); y = Loop<body={d = Identity(c); t = MatMul(s, w)}>(3, -, x)"},
    {"capture_loop_states",  // the final value is used, and nothing runs; the body hides the outer name
     "g (float[1,2] x, float[2,2] w) => (float[1,2] y, float[2,2] z, float[N,2,2] u) <int64 m = {0}> { y, v, "
     "u = "
     "Loop <body = b (int64 i, bool c, float[1,2] s, float[2,2] k) => (bool d, float[1,2] t, float[2,2] k, "
     "float[2,2] k) { d = Identity (c) w = Add (s, s) t = MatMul (w, k) }> (m, \"\", x, w) z = Neg (v) }",
     "Identity(w); y, u = Loop<body={d = Identity(c); Add(s, s); t = MatMul(%1, w); k/given = "
     "Identity(w)}>(0, -, x); z = Neg(%0)"},
    {"capture_loop_states",  // from two levels up, through a loop around it
     "g (float[1,2] x, float[2,2] w) => (float[1,2] y) <int64 m = {2}> { y, v = Loop <body = b (int64 i, "
     "bool c, "
     "float[1,2] s, float[2,2] k) => (bool d, float[1,2] t, float[2,2] k) { d = Identity (c) t, l = Loop "
     "<body = "
     "e (int64 i2, bool c2, float[1,2] s2, float[2,2] k2) => (bool d2, float[1,2] t2, float[2,2] k2) { d2 = "
     "Identity (c2) t2 = MatMul (s2, k2) }> (m, \"\", s, k) }> (m, \"\", x, w) }",
     "Identity(w); y = Loop<body={d = Identity(c); Identity(w); t = Loop<body={d2 = Identity(c2); t2 = "
     "MatMul(s2, w)}>(2, -, s)}>(2, -, x)"},
    {"capture_loop_states",  // of a Scan
     "g (float[1,2] x, float[2,2] w, float[4,1,2] e) => (float[1,2] y) { y, v = Scan <num_scan_inputs = 1, "
     "body = b "
     "(float[1,2] s, float[2,2] k, float[1,2] p) => (float[1,2] t, float[2,2] k) { q = MatMul (s, k) t = Add "
     "(q, "
     "p) }> (x, w, e) }",
     "Identity(w); y = Scan<num_scan_inputs=1, body={MatMul(s, w); t = Add(%0, p)}>(x, e)"},
    {"capture_loop_states",  // two states that change places
     "g (float[1,2] x, float[1,2] w) => (float[1,2] y, float[1,2] z) <int64 m = {3}> { y, z = Loop <body = b "
     "(int64 "
     "i, bool c, float[1,2] s, float[1,2] k) => (bool d, float[1,2] k, float[1,2] s) { d = Identity (c) }> "
     "(m, "
     "\"\", x, w) }",
     ""},
    {"capture_loop_states",  // a state whose shape grows, beside its old self
     "g (float[2] x) => (float[N] y) <int64 m = {3}> { y = Loop <body = b (int64 i, bool c, float[K] s) => "
     "(bool "
     "d, float[L] t) { d = Identity (c) t = Concat <axis = 0> (s, s) }> (m, \"\", x) }",
     ""},
    // count_loop_trips
    {"count_loop_trips",
     "g (float[2] x) => (float[2] y) <bool go = {1}, int32 zero = {0}, int32 one = {1}, int32 n = {5}> { y, "
     "j = Loop "
     "<body = b (int64 i, bool c, float[2] s, int32 k) => (bool d, float[2] t, int32 l) { t = Add (s, s) l = "
     "Add "
     "(k, one) f = Cast <to = 1> (l) h = Cast <to = 1> (n) d = Less (f, h) }> (\"\", go, x, zero) }",
     "y = Loop<body={t = Add(s, s); l = Add(k, 1); Cast<to=1>(l); Cast<to=1>(5); d = Less(%2, %3)}>(5, -, x, "
     "0)"},
    {"count_loop_trips",  // states that decide through each other; the count is an upper limit
     "g (float[2] x) => (float[2] y) <int64 m = {9}, bool go = {1}, int64 one = {1}, int64 n = {20}> { y, j, "
     "k = "
     "Loop <body = b (int64 i, bool c, float[2] s, int64 p, int64 q) => (bool d, float[2] t, int64 q, int64 "
     "r) { "
     "t = Add (s, s) r = Add (p, q) d = Less (r, n) }> (m, go, x, one, one) }",
     "y = Loop<body={t = Add(s, s); r = Add(p, q); d = Less(r, 20)}>(6, -, x, 1, 1)"},
    {"count_loop_trips",  // it does not begin
     "g (float[2] x) => (float[2] y) <int64 m = {9}, bool go = {0}> { y = Loop <body = b (int64 i, bool c, "
     "float[2] "
     "s) => (bool d, float[2] t) { t = Add (s, s) d = Identity (c) }> (m, go, x) }",
     "y = Loop<body={t = Add(s, s); d = Identity(c)}>(0, -, x)"},
    {"count_loop_trips",  // what is computed of the input decides
     "g (float[2] x) => (float[2] y) <int64 m = {9}, bool go = {1}, float n = {5}> { y = Loop <body = b "
     "(int64 i, "
     "bool c, float[2] s) => (bool d, float[2] t) { t = Add (s, s) f = ReduceSum <keepdims = 0> (t) d = Less "
     "(f, n) "
     "}> (m, go, x) }",
     ""},
    {"count_loop_trips",  // the body looks at the condition
     "g (float[2] x) => (float[2] y) <int64 m = {9}, bool go = {1}, int64 n = {3}> { y = Loop <body = b "
     "(int64 i, "
     "bool c, float[2] s) => (bool d, float[2] t) { f = Cast <to = 1> (c) t = Add (s, f) d = Less (i, n) }> "
     "(m, "
     "go, x) }",
     ""},
    // hoist_loop_nodes
    {"hoist_loop_nodes",
     "g (float[1,2] x, float[2,2] w) => (float[1,2] y) <int64 m = {3}, float two = {2}> { y = Loop <body = b "
     "(int64 "
     "i, bool c, float[1,2] s) => (bool d, float[1,2] t) { d = Identity (c) o = Neg (two) a = Mul (w, o) "
     "t = MatMul (s, a)   }> (m, \"\", x) }",
     "Neg(2); Mul(w, %0); y = Loop<body={d = Identity(c); t = MatMul(s, a)}>(3, -, x)"},
    {"hoist_loop_nodes",  // a result that the body gives out, from the inner loop to the front of both
     "g (float[1,2] x, float[2,2] w) => (float[1,2] y, float[N,2,2] u) <int64 m = {2}> { y, u = Loop <body = "
     "b "
     "(int64 i, bool c, float[1,2] s) => (bool d, float[1,2] t, float[2,2] a) { d = Identity (c) a = Exp (w) "
     "t = "
     "Loop <body = e (int64 i2, bool c2, float[1,2] s2) => (bool d2, float[1,2] t2) { d2 = Identity (c2) a2 "
     "= Tanh "
     "(w) t2 = MatMul (s2, a2) }> (m, \"\", s) }> (m, \"\", x) }",
     "Tanh(w); Exp(w); y, u = Loop<body={d = Identity(c); t = Loop<body={d2 = Identity(c2); t2 = MatMul(s2, "
     "a2)}>(2, -, s); a/inside/given = Identity(a)}>(2, -, x)"},
    {"hoist_loop_nodes",  // may fail, and it is not known whether the loop runs: only what cannot fail moves
     "g (float[3,2] x, int64 m, int64 at) => (float[3,2] y) { y = Loop <body = b (int64 i, bool c, "
     "float[3,2] s) "
     "=> (bool d, float[3,2] t) { d = Identity (c) r = Gather (x, at) e = Exp (x) q = Add (r, e) t = Add (s, "
     "q) }> "
     "(m, \"\", x) }",
     "Exp(x); y = Loop<body={d = Identity(c); Gather(x, at); Add(%1, e); t = Add(s, %2)}>(m, -, x)"},
    {"hoist_loop_nodes",  // it surely runs, so what may fail would have failed
     "g (float[3,2] x, int64 at) => (float[3,2] y) <int64 m = {1}> { y = Loop <body = b (int64 i, bool c, "
     "float[3,2] "
     "s) => (bool d, float[3,2] t) { d = Identity (c) r = Gather (x, at) t = Add (s, r) }> (m, \"\", x) }",
     "Gather(x, at); y = Loop<body={d = Identity(c); t = Add(s, r)}>(1, -, x)"},
    {"hoist_loop_nodes",  // random numbers, and a branch that may not be taken
     "g (float[2] x, bool p) => (float[2] y) <int64 m = {0}> { y = Loop <body = b (int64 i, bool c, float[2] "
     "s) => "
     "(bool d, float[2] t) { d = Identity (c) r = RandomNormalLike (x) q = If <then_branch = f () => "
     "(float[2] z) { "
     "z = Exp (x) }, else_branch = h () => (float[2] z2) { z2 = Neg (x) }> (p) u = Add (s, r) t = Add (u, q) "
     "}> (m, "
     "\"\", x) }",
     ""},
    // collect_appends
    {"collect_appends",
     "g (float[A,2] s, float[1,2] x) => (float[N,2] y) <int64 m = {3}> { y = Loop <body = b (int64 i, bool "
     "c, float[K,2] p) => (bool d, float[L,2] t) { d = Identity (c) f = Cast <to = 1> (i) r = Mul (x, f) t = "
     "Concat <axis = 0> (p, r) }> (m, \"\", s) }",
     "Loop<body={d = Identity(c); Cast<to=1>(i); r = Mul(x, %1)}>(3, -); Reshape(%0, {-1, 2}); y = "
     "Concat<axis=0>(s, %1)"},
    {"collect_appends",  // what comes from outside, and two of them
     "g (float[A,2] s, float[1,2] x, int64 m) => (float[N,2] y, float[M,2] z) { y, z = Loop <body = b (int64 "
     "i, bool c, float[K,2] p, float[B,2] q) => (bool d, float[L,2] t, float[R,2] u) { d = Identity (c) t = "
     "Concat <axis = 0> (p, x) u = Concat <axis = -2> (q, x, x) }> (m, \"\", s, s) }",
     "Loop<body={d = Identity(c); t/entry = Identity(x); u/part = Concat<axis=-2>(x, x)}>(m, -); "
     "Reshape(%0.1, {-1, 2}); y = Concat<axis=0>(s, %1); Reshape(%0, {-1, 2}); z = Concat<axis=0>(s, %3)"},
    {"collect_appends",  // parts of more than one shape
     "g (float[A,2] s, float[1,2] x) => (float[N,2] y) <int64 m = {3}, int64[1] zero = {0}, int64[1] one = "
     "{1}> { y = Loop <body = b (int64 i, bool c, float[K,2] p) => (bool d, float[L,2] t) { d = Identity (c) "
     "e = Unsqueeze (i, zero) r = Expand (x, one) f = ReduceMax <keepdims=0> (e) h = Unsqueeze (f, zero) two "
     "= Concat <axis = 0> (h, one) o = Expand (r, two) t = Concat <axis = 0> (p, o) }> (m, \"\", s) }",
     "SequenceConstruct(s); Loop<body={d = Identity(c); Unsqueeze(i, {0}); Expand(x, {1}); "
     "ReduceMax<keepdims=0>(%1); Unsqueeze(%3, {0}); Concat<axis=0>(%4, {1}); Expand(%2, %5); t = "
     "SequenceInsert(p, %6)}>(3, -, %0); y = ConcatFromSequence<axis=0>(%1)"},
    {"collect_appends",  // in front, two of them, beside another state; nothing may run
     "g (float[A,2] s, float[1,2] x, int64 m) => (float[N,2] y, float[1,2] z) { y, z = Loop <body = b (int64 "
     "i, bool c, float[K,2] p, float[1,2] q) => (bool d, float[L,2] t, float[1,2] u) { d = Identity (c) f = "
     "Cast <to = 1> (i) r = Mul (x, f) u = Add (q, x) t = Concat <axis = -2> (r, x, p) }> (m, \"\", s, x) }",
     "SequenceConstruct(s); z = Loop<body={d = Identity(c); Cast<to=1>(i); Mul(x, %1); u = Add(q, x); "
     "Concat<axis=-2>(%2, x); t = SequenceInsert(p, %4, 0)}>(m, -, %0, x); y = "
     "ConcatFromSequence<axis=-2>(%1)"},
    {"collect_appends",  // the state is read
     "g (float[A,2] s, float[1,2] x) => (float[N,2] y) <int64 m = {3}> { y = Loop <body = b (int64 i, bool "
     "c, float[K,2] p) => (bool d, float[L,2] t) { d = Identity (c) f = Cast <to = 1> (i) r = Mul (x, f) n = "
     "ReduceSum <keepdims = 1> (p) o = Mul (r, n) t = Concat <axis = 0> (p, o) }> (m, \"\", s) }",
     ""},
    {"collect_appends",  // what is joined is read
     "g (float[A,2] s, float[1,2] x) => (float[N,2] y, float[M] z) <int64 m = {3}> { y, z = Loop <body = b "
     "(int64 i, bool c, float[K,2] p) => (bool d, float[L,2] t, float w) { d = Identity (c) f = Cast <to = "
     "1> (i) r = Mul (x, f) t = Concat <axis = 0> (p, r) n = ReduceSum <keepdims = 1> (t) w = Squeeze (n) }> "
     "(m, \"\", s) }",
     ""},
    {"collect_appends",  // in the middle
     "g (float[A,2] s, float[1,2] x) => (float[N,2] y) <int64 m = {3}> { y = Loop <body = b (int64 i, bool "
     "c, float[K,2] p) => (bool d, float[L,2] t) { d = Identity (c) f = Cast <to = 1> (i) r = Mul (x, f) t = "
     "Concat <axis = 0> (r, p, r) }> (m, \"\", s) }",
     ""},
};

}  // namespace

std::span<const PassCase> loop_pass_cases() { return kLoopCases; }

}  // namespace assay
