// Loops, recurrent layers and functions, out of ONNX's text form.
#include <fmt/format.h>

#include "fuzz/passes/drawn.h"

namespace assay::fuzz {
namespace {

const char* unary(Draft& d) { return d.r.one_of({"Neg", "Abs", "Relu", "Identity", "Floor"}); }
const char* binary(Draft& d) { return d.r.one_of({"Add", "Mul", "Sub", "Max", "Div"}); }

/// A Loop that carries a counter, a state that may stay as it is, and one that grows or changes.
std::string loop(Draft& d) {
  const int64_t trips = d.r.between(0, 4), limit = d.r.between(-1, 5), step = d.r.between(1, 2);
  const bool counts = d.chance(50);
  const std::string condition =
      counts ? fmt::format("k = Add (i, one) d = Less (k, limit)") : std::string("d = Identity (c)");
  const std::string kept = d.chance(70) ? "v = Identity (w)" : fmt::format("v = {} (w, x)", binary(d));
  const std::string inner =
      fmt::format("p = {} (x) q = {} (p, w) r = {} (s, q)", unary(d), binary(d), binary(d));
  const std::string scan = d.chance(50) ? "z = Identity (q)" : "z = Identity (r)";
  return fmt::format(
      "g (float[2] x, int64 m, bool start) => (float[2] y1, float[2] y2, float[?,2] y3) <int64 trips = "
      "{{{}}}, int64 one = "
      "{{{}}}, int64 limit = {{{}}}, bool yes = {{{}}}, float[2] w0 = {{{}, {}}}, float[2] s0 = {{0, 1}}> {{ "
      "y1, y2, y3 = "
      "Loop <body = b (int64 i, bool c, float[2] w, float[2] s) => (bool d, float[2] v, float[2] r, float[2] "
      "z) {{ {} {} "
      "{} {} }}> ({}, {}, {}, s0) }}",
      trips, step, limit, d.chance(85) ? 1 : 0, d.r.between(-3, 3), d.r.between(-3, 3), condition, kept,
      inner, scan, d.r.one_of({"trips", "trips", "m", counts ? "\"\"" : "trips"}),
      d.r.one_of({"yes", "yes", "\"\"", "start"}), d.chance(60) ? "w0" : "x");
}

void feed_loop(Draft& d, const std::string& text) {
  d.parse(text);
  d.give(d.tensor(DType::kFloat32, {2}, Numbers::kAny));
  d.give(Tensor::scalar<int64_t>(d.r.between(0, 3)));
  d.give(Tensor::scalar(d.chance(80)));
}

}  // namespace

void draw_capture_loop_states(Draft& d) {
  d.opset = d.r.one_of({11, 13, 17});
  feed_loop(d, loop(d));
}
void draw_count_loop_trips(Draft& d) { draw_capture_loop_states(d); }
void draw_hoist_loop_nodes(Draft& d) { draw_capture_loop_states(d); }

void draw_collect_appends(Draft& d) {
  d.opset = d.r.one_of({11, 13, 17});
  const int64_t width = d.r.between(1, 2);
  const std::string part = fmt::format("f = Cast <to = 1> (i) p = Mul (x, f)");
  const char* joined = d.r.one_of({"t, p", "t, p", "p, t", "t, p, x", "p, t, x"});
  const char* seen = d.chance(15) ? "q = ReduceSum <keepdims = 1> (t) z = Squeeze (q)" : "z = Identity (f)";
  const std::string first =
      d.chance(50) ? fmt::format("float[0,{}] s0", width) : fmt::format("float[A,{}] s0", width);
  d.parse(
      fmt::format("g (float[1,{0}] x, {1}, int64 m) => (float[?,{0}] y, float[?] u) <int64 axis = {{0}}> {{ "
                  "y, u = Loop <body = "
                  "b (int64 i, bool c, float[?,{0}] t) => (bool d, float[?,{0}] o, float z) {{ d = Identity "
                  "(c) {2} {3} o = "
                  "Concat <axis = {4}> ({5}) }}> (m, \"\", s0) }}",
                  width, first, part, seen, d.chance(80) ? 0 : -2, joined));
  d.give(d.tensor(DType::kFloat32, {1, width}, Numbers::kAny));
  d.give(d.tensor(DType::kFloat32, {first[6] == '0' ? 0 : d.r.between(0, 2), width}, Numbers::kAny));
  d.give(Tensor::scalar<int64_t>(d.r.between(0, 3)));
}

void draw_inline_functions(Draft& d) {
  const double alpha = d.r.one_of({0.5, -1.0, 0.25});
  const std::string call = d.chance(50) ? fmt::format("<slope: float = {}>", alpha) : "";
  d.parse(fmt::format(
      "g (float[2] x, float[2] z) => (float[2] y) {{ a = local.f {} (x, z) b = {} (a) y = local.f (b, {}) }} "
      "<domain: \"local\", opset_import: [\"\" : 17]> f <slope: float = 2.0> (p, q) => (r) {{ s = {} (p, q) "
      "t = "
      "LeakyRelu <alpha: float = @slope> (s) r = {} (t) }}",
      call, unary(d), d.chance(50) ? "a" : "x", binary(d), unary(d)));
  for (int i = 0; i < 2; ++i) d.give(d.tensor(DType::kFloat32, {2}, Numbers::kAny));
  d.calls_functions = true;
}

void draw_drop_zero_states(Draft& d) {
  d.opset = d.r.one_of({8, 13, 17});
  d.closeness = Closeness::kRounding;
  const DType t = d.chance(80) ? DType::kFloat32 : DType::kFloat64;
  const char* op = d.r.one_of({"LSTM", "GRU", "RNN"});
  const int64_t gates = *op == 'L'   ? 4
                        : *op == 'G' ? 3
                                     : 1,
                hidden = d.r.between(1, 2), size = d.r.between(1, 2);
  const int64_t batch = d.r.between(1, 2), steps = d.r.between(1, 3);
  const auto state = [&]() -> Value* {
    const Shape shape = {1, batch, hidden};
    switch (d.r.below(5)) {
      case 0:
        return nullptr;
      case 1:
        return d.number(t, d.r.one_of({0.0, 0.0, -0.0, 1.0}), shape);
      case 2:
        return d.node("Expand", {d.number(t, d.chance(80) ? 0 : 1), d.ints({1, batch, hidden})});
      case 3:
        return t == DType::kFloat32 ? d.node("ConstantOfShape", {d.ints({1, batch, hidden})})
                                    : d.number(t, 0, shape);
      default:
        return d.input(t, shape);
    }
  };
  std::vector<Value*> inputs = {d.input(t, {steps, batch, size}),
                                d.constant(t, {1, gates * hidden, size}, Numbers::kAny),
                                d.constant(t, {1, gates * hidden, hidden}, Numbers::kAny),
                                nullptr,
                                nullptr,
                                state()};
  if (*op == 'L') inputs.push_back(state());
  while (inputs.back() == nullptr) inputs.pop_back();
  for (Value* y : d.nodes(op, inputs, {{"hidden_size", hidden}}, 2)) d.output(y);
}

}  // namespace assay::fuzz
