// Chains of two or more nodes that one node does, and nodes that do nothing.
#include <cmath>
#include <limits>

#include "fuzz/passes/drawn.h"

namespace assay::fuzz {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

DType some_number(Random& r) { return r.chance(70) ? some_float(r) : some_integer(r); }

/// Clip in the form of the opset, with bounds of any kind.
Value* clip(Draft& d, Value* x, DType dtype) {
  const auto bound = [&] {
    return d.r.one_of({0.0, 1.0, -1.0, 2.0, -0.0, 6.0, d.draw(dtype, Numbers::kPlain), std::nan("")});
  };
  const bool low = d.chance(75), high = d.chance(75);
  if (d.opset < 11) {
    AttributeList attributes;
    if (low) attributes.emplace_back("min", static_cast<float>(bound()));
    if (high) attributes.emplace_back("max", static_cast<float>(bound()));
    return d.node("Clip", {x}, std::move(attributes));
  }
  std::vector<Value*> inputs = {x, low ? d.number(dtype, bound()) : nullptr};
  if (high)
    inputs.push_back(d.chance(10) ? d.input(d.tensor(dtype, {}, Numbers::kPlain)) : d.number(dtype, bound()));
  return d.node("Clip", std::move(inputs));
}

}  // namespace

void draw_eliminate_idempotent(Draft& d) {
  d.opset = d.r.one_of({10, 12, 13, 17, 22});
  const DType dtype = d.opset >= 14 ? some_number(d.r) : some_float(d.r);
  Value* x = d.input(dtype, d.shape(static_cast<int>(d.r.below(3))));
  const char* last = "";
  for (int i = 0; i < 3; ++i) {
    const char* op = d.chance(40) && *last != '\0'
                         ? last
                         : d.r.one_of({"Relu", "Clip", "Clip", "Abs", "Ceil", "Floor", "Round", "Sign",
                                       "Sigmoid", "ThresholdedRelu"});
    last = op;
    if (std::string_view(op) == "Clip")
      x = clip(d, x, dtype);
    else if (std::string_view(op) == "ThresholdedRelu")
      x = d.node(op, {x}, {{"alpha", d.r.one_of({0.0F, 1.0F, -1.0F, 0.5F})}});
    else
      x = d.node(op, {x});
    if (d.chance(10)) d.output(x);
  }
  d.output(d.follow(x));
}

void draw_eliminate_neutral(Draft& d) {
  d.opset = d.r.one_of({7, 12, 17});
  if (d.chance(15)) {
    Value* a = d.input(DType::kBool, d.shape(2));
    Value* b = d.constant(DType::kBool, d.chance(50) ? d.single() : d.shape(2));
    Value* y = d.node(d.r.one_of({"And", "Or"}), {a, b});
    d.output(d.node("Not", {y}));
    return;
  }
  const DType dtype = some_number(d.r);
  const Shape shape = d.shape(static_cast<int>(d.r.below(3)));
  Value* x = d.input(dtype, shape, d.chance(30) ? Numbers::kSpecial : Numbers::kAny);
  if (d.chance(20)) x = d.node(d.r.one_of({"Exp", "Abs", "Sigmoid", "Neg"}), {x});
  if (d.chance(15)) {
    Value* other = d.input(dtype, d.chance(70) ? shape : d.single());
    Tensor all = Tensor::zeros(DType::kBool, d.chance(50) ? shape : d.single());
    if (d.chance(50))
      for (bool& b : all.mutable_span<bool>()) b = true;
    d.output(d.follow(d.node("Where", {d.constant(all), x, other})));
    return;
  }
  const Shape other = d.chance(50)   ? d.single()
                      : d.chance(60) ? shape
                                     : d.shape(static_cast<int>(d.r.below(3)));
  Value* c = d.number(dtype, d.r.one_of({0.0, -0.0, 1.0, 1.0, d.nearly(1)}), other);
  const char* op = d.r.one_of({"Add", "Sub", "Mul", "Div", "Pow"});
  Value* y = d.chance(60) ? d.node(op, {x, c}) : d.node(op, {c, x});
  // It tells both zeros apart.
  d.output(d.chance(40) ? d.node("Reciprocal", {y}) : d.follow(y));
}

void draw_eliminate_identity(Draft& d) {
  d.opset = d.r.one_of({10, 11, 13, 17, 18});
  const DType dtype = some_float(d.r);
  const int rank = static_cast<int>(d.r.between(1, 4));
  const Shape shape = d.shape(rank);
  Value* x = d.input(dtype, shape);
  const auto some_ints = [&](int64_t most, int count) {
    std::vector<int64_t> list;
    for (int i = 0; i < count; ++i) list.push_back(d.chance(80) ? most : d.r.between(-1, 2));
    return list;
  };
  Value* y = x;
  switch (d.r.below(14)) {
    case 0:
      y = d.node("Identity", {x});
      break;
    case 1:
      y = d.nodes("Dropout", {x}, {}, d.chance(20) ? 2 : 1)[0];
      break;
    case 2:
      y = d.node("Cast", {x}, {{"to", static_cast<int64_t>(d.chance(60) ? dtype : some_number(d.r))}});
      break;
    case 3: {
      std::vector<int64_t> perm;
      for (int64_t a = 0; a < rank; ++a) perm.push_back(a);
      if (d.chance(30)) std::swap(perm.front(), perm.back());
      y = d.node("Transpose", {x}, {{"perm", perm}});
      break;
    }
    case 4:
      y = d.node(d.r.one_of({"Concat"}), {x}, {{"axis", int64_t{0}}});
      break;
    case 5:
      y = d.node(d.r.one_of({"Sum", "Max", "Min", "Mean"}),
                 d.chance(70) ? std::vector{x} : std::vector{x, x});
      break;
    case 6: {
      std::vector<int64_t> target(shape.begin(), shape.end());
      if (d.chance(30)) target[0] = d.r.one_of({0, -1});
      y = d.node("Reshape", {x, d.ints(target)});
      break;
    }
    case 7:
      y = d.node("Expand", {x, d.ints(some_ints(1, rank))});
      break;
    case 8:
      y = d.node("Tile", {x, d.ints(some_ints(1, rank))});
      break;
    case 9: {
      std::vector<Value*> inputs = {x, d.ints({d.chance(80) ? 0 : d.r.between(-3, 3)}),
                                    d.ints({d.r.one_of({kEnd, shape[0], int64_t{1}, int64_t{-1}, -kEnd})}),
                                    d.ints({0})};
      if (d.chance(50)) inputs.push_back(d.ints({d.r.one_of({1, 1, 2, -1})}));
      y = d.node("Slice", inputs);
      break;
    }
    case 10: {
      if (d.opset < 11) {
        y = d.node("Pad", {x}, {{"pads", some_ints(0, 2 * rank)}});
        break;
      }
      y = d.node("Pad", {x, d.ints(some_ints(0, 2 * rank))});
      break;
    }
    case 11: {
      const AttributeList attributes = {
          {"coordinate_transformation_mode",
           std::string(d.r.one_of(
               {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "tf_half_pixel_for_nn"}))},
          {"mode", std::string(d.r.one_of({"nearest", "linear"}))}};
      Tensor scales = Tensor::allocate(DType::kFloat32, {rank});
      for (float& s : scales.mutable_span<float>()) s = d.chance(85) ? 1.0F : d.r.one_of({1.1F, 2.0F, 0.5F});
      if (d.opset < 11)
        y = d.node("Resize", {x, d.constant(scales)}, {{"mode", std::string("nearest")}});
      else if (d.chance(50))
        y = d.node("Resize", {x, nullptr, d.constant(scales)}, attributes);
      else
        y = d.node("Resize", {x, nullptr, nullptr, d.ints({shape.begin(), shape.end()})}, attributes);
      break;
    }
    case 12:
      y = d.reduce(
          d.r.one_of({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1"}), x,
          d.axes(rank), d.chance(80));
      break;
    default:
      y = d.opset >= 13 ? d.node("Split", {x}, {{"axis", int64_t{0}}}) : d.node("Flatten", {x});
  }
  d.output(d.follow(y));
  if (d.chance(20)) d.output(x);
}

void draw_merge_casts(Draft& d) {
  d.opset = d.r.one_of({9, 13, 17});
  const auto type = [&] {
    return d.chance(50) ? some_float(d.r) : d.chance(15) ? DType::kBool : some_integer(d.r);
  };
  const DType from = type();
  Value* a = d.node("Cast", {d.input(from, d.shape(1))}, {{"to", static_cast<int64_t>(type())}});
  if (d.chance(20)) d.output(a);
  Value* b = d.node("Cast", {a}, {{"to", static_cast<int64_t>(d.chance(25) ? from : type())}});
  d.output(b);
}

void draw_merge_concats(Draft& d) {
  const int rank = static_cast<int>(d.r.between(1, 3));
  const DType dtype = some_number(d.r);
  const Shape shape = d.shape(rank);
  const auto axis = static_cast<int64_t>(d.r.below(static_cast<size_t>(rank)));
  const auto join = [&](std::vector<Value*> parts) {
    const int64_t at = d.chance(90) ? axis : static_cast<int64_t>(d.r.below(static_cast<size_t>(rank)));
    return d.node("Concat", std::move(parts), {{"axis", d.chance(70) ? at : at - rank}});
  };
  Value *x = d.input(dtype, shape), *z = d.input(dtype, shape);
  Value* a = join({x, d.chance(50) ? z : d.constant(dtype, shape)});
  if (d.chance(15)) d.output(a);
  Value* b = join(d.chance(50) ? std::vector{a, z} : std::vector{z, a});
  Value* c = d.chance(50) ? join({b, x}) : b;
  d.output(d.follow(c));
}

void draw_merge_slices(Draft& d) {
  d.opset = d.r.one_of({9, 10, 13});
  const int rank = static_cast<int>(d.r.between(1, 3));
  Value* x = d.input(some_number(d.r), d.shape(rank, 1, 6));
  for (int i = 0; i < 3; ++i) {
    std::vector<int64_t> axes = d.axes(rank), starts, ends, steps;
    for (size_t k = 0; k < axes.size(); ++k) {
      starts.push_back(d.chance(85) ? d.r.between(0, 3) : d.r.between(-5, 8));
      ends.push_back(d.chance(40)
                         ? d.r.one_of({kEnd, int64_t{std::numeric_limits<int32_t>::max()}, -kEnd - 1})
                     : d.chance(80) ? d.r.between(1, 6)
                                    : d.r.between(-5, 8));
      steps.push_back(d.opset < 10 || d.chance(75) ? 1 : d.r.one_of({-1, 2, -2, 3}));
    }
    if (d.opset < 10)
      x = d.node("Slice", {x}, {{"starts", starts}, {"ends", ends}, {"axes", axes}});
    else
      x = d.node("Slice", {x, d.ints(starts), d.ints(ends), d.ints(axes), d.ints(steps)});
    if (d.chance(10)) d.output(x);
  }
  d.output(x);
}

void draw_merge_transposes(Draft& d) {
  const int rank = static_cast<int>(d.r.between(1, 4));
  Value* x = d.input(some_number(d.r), d.shape(rank));
  for (int i = 0; i < 2; ++i) {
    std::vector<int64_t> perm;
    for (int64_t a = 0; a < rank; ++a)
      perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(d.r.below(perm.size() + 1)), a);
    x = d.chance(15) ? d.node("Transpose", {x}) : d.node("Transpose", {x}, {{"perm", perm}});
    if (d.chance(15)) d.output(x);
  }
  d.output(d.follow(x));
}

namespace {

/// A view of x that is valid for its shape, and the shape that it gives.
Value* view(Draft& d, Value* x, Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  switch (d.r.below(5)) {
    case 0: {
      const auto at = static_cast<size_t>(d.r.below(static_cast<size_t>(rank) + 1));
      shape.insert_at(at, 1);
      const auto axis = static_cast<int64_t>(at);
      const std::vector<int64_t> axes = {d.chance(70) ? axis : axis - rank - 1};
      return d.opset >= 13 ? d.node("Unsqueeze", {x, d.ints(axes)})
                           : d.node("Unsqueeze", {x}, {{"axes", axes}});
    }
    case 1: {
      for (size_t a = 0; a < shape.size(); ++a)
        if (shape[a] == 1) {
          shape.erase_at(a);
          const std::vector<int64_t> axes = {static_cast<int64_t>(a)};
          return d.opset >= 13 ? d.node("Squeeze", {x, d.ints(axes)})
                               : d.node("Squeeze", {x}, {{"axes", axes}});
        }
      return x;
    }
    case 2: {
      if (rank == 0) return x;
      const auto axis = static_cast<size_t>(d.r.below(static_cast<size_t>(rank) + 1));
      const Shape flat = {shape.numel(0, axis), shape.numel(axis, shape.size())};
      shape = flat;
      return d.node("Flatten", {x}, {{"axis", static_cast<int64_t>(axis)}});
    }
    case 3: {
      std::vector<int64_t> perm;
      for (int64_t a = 0; a < rank; ++a) perm.push_back(a);
      if (rank > 1) std::swap(perm[0], perm[1 + d.r.below(static_cast<size_t>(rank) - 1)]);
      Shape moved;
      for (const int64_t a : perm) moved.push_back(shape[static_cast<size_t>(a)]);
      shape = moved;
      return d.node("Transpose", {x}, {{"perm", perm}});
    }
    default: {
      std::vector<int64_t> target(shape.begin(), shape.end());
      if (d.chance(40)) target = {shape.numel()};
      if (d.chance(20)) target.insert(target.begin(), 1);
      Shape given(target);
      const bool is_empty = shape.numel() == 0;
      if (!target.empty() && !is_empty && d.chance(40)) {
        const size_t k = d.r.below(target.size());
        const bool keeps = k < shape.size() && target[k] == shape[k];
        target[k] = keeps && d.chance(50) ? 0 : -1;
      }
      AttributeList attributes;
      if (is_empty && d.opset >= 14) attributes.emplace_back("allowzero", int64_t{1});
      shape = given;
      return d.node("Reshape", {x, d.ints(target)}, std::move(attributes));
    }
  }
}

void draw_views(Draft& d) {
  d.opset = d.r.one_of({9, 13, 17});
  Shape shape = d.shape(static_cast<int>(d.r.below(4)));
  Value* x = d.input(some_number(d.r), shape);
  for (int i = 0; i < 3; ++i) {
    x = view(d, x, shape);
    if (d.chance(10)) d.output(x);
  }
  d.output(d.follow(x));
}

}  // namespace

void draw_merge_views(Draft& d) { draw_views(d); }
void draw_canonicalize_views(Draft& d) { draw_views(d); }

void draw_merge_gathers(Draft& d) {
  d.opset = d.r.one_of({11, 13, 15, 17});
  const DType dtype = some_number(d.r);
  const int rank = static_cast<int>(d.r.between(1, 3));
  const Shape shape = d.shape(rank, 2, 4);
  Value* x = d.input(dtype, shape);
  const auto axis = static_cast<int64_t>(d.r.below(static_cast<size_t>(rank)));
  const auto index = [&] { return d.r.between(-1, shape[static_cast<size_t>(axis)] > 1 ? 1 : 0); };
  const AttributeList at = {{"axis", d.chance(70) ? axis : axis - rank}};
  switch (d.r.below(4)) {
    case 0: {
      Value* g = d.node("Gather", {x, d.constant(Tensor::scalar(index()))}, at);
      const std::vector<int64_t> axes = {d.chance(80) ? axis : 0};
      d.output(d.opset >= 13 ? d.node("Unsqueeze", {g, d.ints(axes)})
                             : d.node("Unsqueeze", {g}, {{"axes", axes}}));
      return;
    }
    case 1: {
      Value* g = d.node("Gather", {x, d.ints({index()})}, at);
      const std::vector<int64_t> axes = {axis};
      d.output(d.opset >= 13 ? d.node("Squeeze", {g, d.ints(axes)})
                             : d.node("Squeeze", {g}, {{"axes", axes}}));
      return;
    }
    case 2: {
      std::vector<Value*> parts;
      for (int i = 0; i < 3; ++i) {
        std::vector<int64_t> list;
        for (size_t k = d.r.below(2) + 1; k > 0; --k) list.push_back(index());
        parts.push_back(d.chance(85) ? d.node("Gather", {x, d.ints(list)}, at) : d.node("Neg", {x}));
        if (d.chance(8)) d.output(parts.back());
      }
      if (d.chance(40)) parts.pop_back();
      Value* y = d.node("Concat", parts, {{"axis", d.chance(90) ? axis : 0}});
      d.output(d.chance(40) ? d.node("Shape", {y}) : d.follow(y));
      return;
    }
    default: {
      Value* s =
          d.node("Shape", {x},
                 d.opset >= 15 && d.chance(10) ? AttributeList{{"start", int64_t{1}}} : AttributeList{});
      if (d.chance(50)) {
        const int64_t first = d.r.between(-rank, rank - 1);
        d.output(
            d.node("Gather", {s, d.ints(d.chance(50) ? std::vector{first} : std::vector{first, first + 1})}));
      } else {
        d.output(d.node("Slice",
                        {s, d.ints({d.r.between(-4, 4)}), d.ints({d.chance(30) ? kEnd : d.r.between(-4, 4)}),
                         d.ints({0}), d.ints({d.r.one_of({1, 1, 1, 2, -1})})}));
      }
    }
  }
}

void draw_merge_reductions(Draft& d) {
  d.opset = d.r.one_of({11, 13, 18, 20});
  const int rank = static_cast<int>(d.r.between(1, 4));
  const DType dtype =
      d.chance(60) ? some_float(d.r)
                   : d.r.one_of({DType::kInt32, DType::kInt64, DType::kUInt32, DType::kInt8, DType::kBool});
  d.closeness = is_float(dtype) ? Closeness::kRounding : Closeness::kExact;
  Value* x = d.input(dtype, d.shape(rank));
  static constexpr const char* kAll[] = {"ReduceSum",       "ReduceMean",  "ReduceMax", "ReduceMin",
                                         "ReduceProd",      "ReduceL1",    "ReduceL2",  "ReduceSumSquare",
                                         "ReduceLogSumExp", "ReduceLogSum"};
  const char* op = kAll[d.r.below(std::size(kAll))];
  const bool keeps = d.chance(50);
  const std::vector<int64_t> first = d.axes(rank);
  Value* a = d.reduce(op, x, d.chance(8) ? std::vector<int64_t>() : first, keeps);
  if (d.chance(10)) d.output(a);
  const int left = keeps ? rank : rank - static_cast<int>(first.size());
  if (d.chance(65) && left > 0) {
    a = d.reduce(d.chance(92) ? op : kAll[d.r.below(std::size(kAll))], a, d.axes(left),
                 d.chance(85) ? keeps : !keeps);
  } else if (keeps) {
    a = d.opset >= 13 ? d.node("Squeeze", {a, d.ints(first)}) : d.node("Squeeze", {a}, {{"axes", first}});
  } else {
    const std::vector<int64_t> back = d.chance(80) ? first : std::vector<int64_t>{0};
    a = d.opset >= 13 ? d.node("Unsqueeze", {a, d.ints(back)}) : d.node("Unsqueeze", {a}, {{"axes", back}});
  }
  d.output(a);
}

void draw_merge_scalings(Draft& d) {
  d.opset = d.r.one_of({7, 13, 17});
  d.closeness = Closeness::kSharp;
  const DType dtype = d.chance(95) ? some_float(d.r) : DType::kInt32;
  const Shape shape = d.shape(static_cast<int>(d.r.below(3)));
  Value* x = d.input(dtype, shape);
  const bool products = d.chance(50);
  const Numbers numbers = d.r.one_of(
      {Numbers::kPlain, Numbers::kPlain, Numbers::kWhole, Numbers::kLarge, Numbers::kTiny, Numbers::kAny});
  for (int i = 0; i < 3; ++i) {
    const Shape of = d.chance(60) ? d.single() : shape;
    // Some round what they are added to, some take that away again.
    const double trick = d.r.one_of({12582912.0, -12582912.0, 8388608.0, 1536.0, -1536.0, 192.0, -192.0});
    Value* c = d.chance(12) ? d.number(dtype, trick, of)
                            : d.constant(dtype, of, d.chance(80) ? numbers : Numbers::kAny);
    const char* op =
        (d.chance(95) ? products : !products) ? d.r.one_of({"Mul", "Div"}) : d.r.one_of({"Add", "Sub"});
    // A division by a result tells what rounds to 0 from what nearly does.
    const bool shows_zeros = i > 0 && *op == 'D';
    x = shows_zeros || d.chance(75) ? d.node(op, {x, c}) : d.node(op, {c, x});
    if (d.chance(8)) d.output(x);
  }
  d.output(x);
}

void draw_sink_transposes(Draft& d) {
  d.opset = d.r.one_of({9, 13, 20});
  const DType dtype = some_float(d.r);
  const int rank = static_cast<int>(d.r.between(1, 4));
  const auto turn = [&](Value* x) {
    std::vector<int64_t> perm;
    for (int64_t a = 0; a < rank; ++a)
      perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(d.r.below(perm.size() + 1)), a);
    return d.node("Transpose", {x}, {{"perm", perm}});
  };
  Value* x = turn(d.input(dtype, d.shape(rank)));
  for (size_t i = d.r.below(3) + 1; i > 0; --i) {
    if (d.chance(40)) {
      x = d.chance(80) ? d.node(d.r.one_of({"Relu", "Neg", "Abs", "Sigmoid", "LeakyRelu", "Floor"}), {x})
                       : clip(d, x, dtype);
    } else if (d.chance(25)) {
      std::vector<int64_t> pads;
      for (int k = 0; k < 2 * rank; ++k) pads.push_back(d.chance(70) ? 0 : d.r.between(-1, 2));
      const AttributeList mode = {{"mode", std::string(d.r.one_of({"constant", "edge", "reflect"}))}};
      x = d.opset >= 11 ? d.node("Pad", {x, d.ints(pads)}, mode)
                        : d.node("Pad", {x}, {{"pads", pads}, {"mode", std::string("edge")}});
    } else {
      const char* op = d.r.one_of({"Add", "Sub", "Mul", "Div", "PRelu", "Max", "Min", "Pow"});
      Shape of;
      for (int k = static_cast<int>(d.r.below(static_cast<size_t>(rank) + 1)); k > 0; --k)
        of.push_back(d.chance(60) ? 1 : d.r.between(1, 3));
      Value* c = d.constant(dtype, of);
      x = d.chance(75) ? d.node(op, {x, c}) : d.node(op, {c, x});
    }
    if (d.chance(5)) d.output(x);
  }
  d.output(turn(x));
}

void draw_nest_concats(Draft& d) {
  const DType dtype = some_number(d.r);
  const Shape shape = d.shape(2);
  std::vector<Value*> all;
  for (int i = 0; i < 4; ++i) all.push_back(d.input(dtype, shape));
  const AttributeList axis = {{"axis", d.r.one_of<int64_t>({0, 1, -1})}};
  for (size_t k = 2; k <= 4; ++k) {
    std::vector<Value*> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
    if (d.chance(20)) std::swap(some.front(), some.back());
    d.output(d.node("Concat", some, d.chance(90) ? axis : AttributeList{{"axis", int64_t{0}}}));
  }
}

void draw_split_variadic(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.may_overflow = true;
  const DType dtype = d.chance(80) ? DType::kFloat32 : some_float(d.r);
  const Shape shape = d.shape(static_cast<int>(d.r.below(3)));
  std::vector<Value*> terms;
  for (size_t i = d.r.below(4) + 1; i > 0; --i)
    terms.push_back(d.input(dtype, d.chance(90) ? shape : d.single(), Numbers::kAny, false));
  d.output(d.node(d.r.one_of({"Sum", "Max", "Min", "Mean"}), terms));
}

void draw_eliminate_common_subexpressions(Draft& d) {
  d.opset = d.r.one_of({9, 13, 17});
  const DType dtype = some_float(d.r);
  const Shape shape = d.shape(2);
  std::vector<Value*> values = {d.input(dtype, shape), d.input(dtype, shape), d.number(dtype, 2),
                                d.number(dtype, 2),    d.number(dtype, 0),    d.number(dtype, -0.0)};
  for (int i = 0; i < 6; ++i) {
    Value *a = d.r.one_of(values), *b = d.r.one_of(values);
    switch (d.r.below(4)) {
      case 0:
        values.push_back(d.node(d.r.one_of({"Add", "Mul", "Sub", "Div"}), {a, b}));
        break;
      case 1:
        values.push_back(d.node("LeakyRelu", {a}, {{"alpha", d.r.one_of({0.5F, 0.25F, 0.0F, -0.0F})}}));
        break;
      case 2:
        values.push_back(d.node("Clip", {a}, {}));
        break;
      default:
        values.push_back(d.node(d.r.one_of({"Neg", "Abs"}), {a}));
    }
    if (d.chance(20)) d.output(values.back());
  }
  if (values.back()->producer() != nullptr) d.output(d.node("Reciprocal", {values.back()}));
}

void draw_merge_equal_constants(Draft& d) {
  const DType dtype = d.chance(60) ? some_float(d.r) : some_integer(d.r);
  const Shape shape = d.shape(2);
  Value* y = d.input(dtype, shape);
  for (int i = 0; i < 3; ++i)
    y = d.node(d.r.one_of({"Add", "Mul", "Max"}),
               {y, d.chance(70)
                       ? d.number(dtype, d.r.one_of({1.0, 0.0, -0.0, 2.0}), d.chance(70) ? Shape{} : Shape{1})
                       : d.constant(dtype, shape)});
  d.output(y);
}

void draw_eliminate_dead_code(Draft& d) {
  Value* x = d.input(some_float(d.r), d.shape(2));
  Value* y = d.node("Neg", {x});
  Value* z = d.node("Abs", {d.chance(50) ? x : y});
  d.node("Relu", {z});
  d.output(d.chance(50) ? y : z);
}

}  // namespace assay::fuzz
