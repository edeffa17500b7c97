// Convolutions and pools, with what stands before and behind them.
#include <algorithm>
#include <limits>

#include "fuzz/passes/drawn.h"

namespace assay::fuzz {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<int64_t> list(Draft& d, int axes, int64_t usual, int64_t most) {
  std::vector<int64_t> l;
  for (int a = 0; a < axes; ++a)
    l.push_back(d.chance(70) ? usual : d.r.between(std::min<int64_t>(usual, 1), most));
  return l;
}

/// Numbers of weights: large and tiny ones, too.
Numbers of_weights(Draft& d) {
  return d.r.one_of({Numbers::kPlain, Numbers::kPlain, Numbers::kPlain, Numbers::kWhole, Numbers::kLarge,
                     Numbers::kTiny, Numbers::kAny});
}

struct Linear {
  Value* y;
  int64_t channels;
  int rank;
  DType dtype;
};

/// A convolution, at times a Gemm, whose weights are constants.
Linear linear(Draft& d, bool with_gemm) {
  const DType t = some_float(d.r);
  const int64_t in = d.r.between(1, 2), out = d.r.between(1, 3);
  const Numbers numbers = d.r.one_of({Numbers::kPlain, Numbers::kPlain, Numbers::kWhole, Numbers::kAny});
  if (with_gemm && d.chance(25)) {
    const bool turned = d.chance(50);
    std::vector<Value*> inputs = {d.input(t, {d.r.between(1, 3), in}, numbers),
                                  d.constant(t, turned ? Shape{out, in} : Shape{in, out}, of_weights(d)),
                                  d.constant(t, d.chance(90) ? Shape{out} : Shape{1}, of_weights(d))};
    AttributeList attributes = {{"transB", int64_t{turned}}};
    if (d.chance(10)) attributes.emplace_back("beta", 0.5F);
    return {d.node("Gemm", inputs, attributes), out, 2, t};
  }
  const int axes = static_cast<int>(d.r.between(1, 2));
  Shape image = {d.r.between(1, 2), in}, kernel = {out, in};
  const bool turned = d.chance(20);
  if (turned) kernel = {in, out};
  for (int a = 0; a < axes; ++a) {
    image.push_back(d.r.between(2, 4));
    kernel.push_back(d.r.between(1, 2));
  }
  std::vector<Value*> inputs = {d.input(t, image, numbers),
                                d.chance(95) ? d.constant(t, kernel, of_weights(d)) : d.input(t, kernel)};
  const bool trick = d.chance(10);
  if (d.chance(60))
    inputs.push_back(trick ? d.number(t, d.r.one_of({8388608.0, 12582912.0, 1536.0}), {out})
                           : d.constant(t, {out}, of_weights(d)));
  return {d.node(turned ? "ConvTranspose" : "Conv", inputs), out, axes + 2, t};
}

Value* batch_norm(Draft& d, Value* x, DType t, int64_t channels) {
  const Shape of = {channels};
  Value* variance =
      d.chance(85) ? d.number(t, d.r.one_of({1.0, 0.25, 4.0, 1e-3}), of) : d.constant(t, of, Numbers::kAny);
  return d.node("BatchNormalization",
                {x, d.constant(t, of, of_weights(d)), d.constant(t, of, of_weights(d)),
                 d.constant(t, of, of_weights(d)), variance},
                d.chance(50) ? AttributeList{{"epsilon", d.r.one_of({0.0F, 1e-3F})}} : AttributeList{});
}

}  // namespace

void draw_fold_batch_norm(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.may_overflow = d.rounds_constants = true;
  d.opset = d.r.one_of({9, 13, 15, 17});
  const Linear l = linear(d, true);
  if (d.chance(5)) d.output(l.y);
  d.output(d.follow(batch_norm(d, l.y, l.dtype, l.channels)));
}

void draw_lower_batch_norm(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.opset = d.r.one_of({7, 9, 15});
  const DType t = some_float(d.r);
  const Shape shape = d.shape(static_cast<int>(d.r.between(2, 4)));
  d.output(batch_norm(d, d.input(t, shape, d.chance(70) ? Numbers::kPlain : Numbers::kAny), t, shape[1]));
}

void draw_fold_channel_affine(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.may_overflow = d.rounds_constants = true;
  d.opset = d.r.one_of({9, 13, 17});
  Linear l = linear(d, false);
  const Value* const convolved = l.y;
  for (size_t i = d.r.below(2) + 1; i > 0; --i) {
    if (d.chance(5)) d.output(l.y);
    if (d.chance(10)) {
      l.y = d.node("Neg", {l.y});
      continue;
    }
    Shape of = {l.channels};
    for (int a = 2; a < l.rank; ++a) of.push_back(1);
    if (d.chance(30)) of = d.single();
    if (d.chance(8)) of = Shape{l.channels};
    const double trick = d.r.one_of({8388608.0, -8388608.0, 12582912.0, 1536.0, 0.0});
    Value* c = d.chance(12) ? d.number(l.dtype, trick, of) : d.constant(l.dtype, of, of_weights(d));
    const char* op = d.r.one_of({"Add", "Sub", "Mul", "Div"});
    // A division by a result tells both zeros apart, whose sign the edit does not keep.
    const bool shows_zeros = *op == 'D' && l.y != convolved;
    l.y = shows_zeros || d.chance(70) ? d.node(op, {l.y, c}) : d.node(op, {c, l.y});
  }
  d.output(l.y);
}

void draw_merge_convolutions(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.may_overflow = d.rounds_constants = d.joins_infinities = true;
  d.opset = d.r.one_of({11, 15, 17});
  const DType t = some_float(d.r);
  const int64_t c = d.r.between(1, 2), groups = c > 1 && d.chance(40) ? c : 1;
  const int axes = static_cast<int>(d.r.between(1, 2));
  Shape image = {1, c};
  for (int a = 0; a < axes; ++a) image.push_back(d.r.between(3, 5));
  Value* x = d.input(t, image, d.r.one_of({Numbers::kPlain, Numbers::kWhole, Numbers::kAny}));
  const auto convolution = [&](int64_t k) {
    const int64_t kernel = d.chance(90) ? k : d.r.between(1, 3), dilation = d.chance(80) ? 1 : 2;
    Shape w = {c, c / groups};
    std::vector<int64_t> pads(static_cast<size_t>(2 * axes),
                              d.chance(85) ? (kernel - 1) * dilation / 2 : d.r.between(0, 1));
    for (int a = 0; a < axes; ++a) w.push_back(kernel);
    std::vector<Value*> inputs = {x, d.constant(t, w, of_weights(d))};
    if (d.chance(60))
      inputs.push_back(d.chance(85) ? d.constant(t, {c}, of_weights(d))
                                    : d.number(t, d.r.one_of({8388608.0, -8388608.0}), {c}));
    AttributeList attributes = {{"group", groups}, {"pads", pads}};
    if (dilation != 1)
      attributes.emplace_back("dilations", std::vector<int64_t>(static_cast<size_t>(axes), dilation));
    return d.node("Conv", inputs, attributes);
  };
  Value* a = convolution(3);
  Value* b = d.chance(60) ? convolution(d.chance(50) ? 1 : 3) : d.chance(50) ? x : batch_norm(d, x, t, c);
  if (d.chance(5)) d.output(b);
  Value* y = d.chance(50) ? d.node("Add", {a, b}) : d.node("Add", {b, a});
  if (d.chance(30)) y = d.node("Add", {y, convolution(1)});
  d.output(y);
}

void draw_fuse_pad(Draft& d) {
  d.opset = d.r.one_of({10, 11, 13, 19});
  const DType t = some_float(d.r);
  const int axes = static_cast<int>(d.r.between(1, 2));
  const int64_t c = d.r.between(1, 2);
  Shape image = {1, c};
  for (int a = 0; a < axes; ++a) image.push_back(d.r.between(1, 5));
  Value* x = d.input(t, image, d.r.one_of({Numbers::kPlain, Numbers::kPlain, Numbers::kAny}));
  const auto bound = [&] { return d.r.one_of({0.0, 1.0, -1.0, 2.0}); };
  if (d.chance(75)) {
    if (d.chance(60))
      x = d.node(d.r.one_of({"Relu", "Sigmoid"}), {x});
    else if (d.opset < 11)
      x = d.node("Clip", {x}, {{"min", static_cast<float>(bound())}, {"max", static_cast<float>(bound())}});
    else
      x = d.node("Clip", {x, d.chance(85) ? d.number(t, bound()) : nullptr,
                          d.chance(70) ? d.number(t, bound()) : nullptr});
  }
  std::vector<int64_t> pads(static_cast<size_t>(2 * (axes + 2)), 0);
  for (const int side : {0, 1})
    for (int a = 0; a < axes; ++a) pads[static_cast<size_t>(side * (axes + 2) + 2 + a)] = d.r.between(0, 2);
  if (d.chance(4)) pads[d.r.below(pads.size())] = d.r.between(-1, 1);
  const double value = d.r.one_of({0.0, 0.0, 0.0, -kInfinity, -kInfinity, 1.0, -0.0});
  const AttributeList mode = {{"mode", std::string(d.chance(92) ? "constant" : "edge")}};
  if (d.opset < 11) {
    AttributeList attributes = mode;
    attributes.emplace_back("pads", pads);
    attributes.emplace_back("value", static_cast<float>(value));
    x = d.node("Pad", {x}, attributes);
  } else {
    std::vector<Value*> inputs = {x, d.ints(pads)};
    if (value != 0 || d.chance(50)) inputs.push_back(d.number(t, value));
    x = d.node("Pad", inputs, mode);
  }
  if (d.chance(4)) d.output(x);
  AttributeList attributes = {{"kernel_shape", list(d, axes, d.r.between(1, 3), 3)}};
  if (d.chance(40)) attributes.emplace_back("strides", list(d, axes, 1, 2));
  if (d.chance(25)) attributes.emplace_back("pads", list(d, 2 * axes, 0, 1));
  if (d.chance(10))
    attributes.emplace_back("auto_pad", std::string(d.r.one_of({"VALID", "SAME_UPPER", "NOTSET"})));
  switch (d.r.below(3)) {
    case 0: {
      d.closeness = Closeness::kRounding;
      Shape w = {d.r.between(1, 2), c};
      for (const int64_t k : std::get<std::vector<int64_t>>(attributes[0].second)) w.push_back(k);
      if (d.chance(30)) attributes.emplace_back("dilations", list(d, axes, 2, 3));
      d.output(
          d.node("Conv", {x, d.chance(95) ? d.constant(t, w, of_weights(d)) : d.input(t, w)}, attributes));
      return;
    }
    case 1:
      if (d.chance(40)) attributes.emplace_back("dilations", list(d, axes, d.r.between(1, 4), 4));
      if (d.chance(15)) attributes.emplace_back("ceil_mode", int64_t{1});
      d.output(d.nodes("MaxPool", {x}, attributes, d.chance(5) ? 2 : 1)[0]);
      return;
    default:
      d.closeness = Closeness::kRounding;
      if (d.chance(50)) attributes.emplace_back("count_include_pad", int64_t{1});
      if (d.chance(15)) attributes.emplace_back("ceil_mode", int64_t{1});
      if (d.opset >= 19 && d.chance(30)) attributes.emplace_back("dilations", list(d, axes, 2, 3));
      d.output(d.node("AveragePool", {x}, attributes));
  }
}

}  // namespace assay::fuzz
