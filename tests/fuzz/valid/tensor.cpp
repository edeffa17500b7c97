// Operators that move, select, cut and join.
#include <algorithm>
#include <numeric>

#include "fuzz/valid/recipes.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

std::vector<int64_t> permutation(int rank, Random& r) {
  std::vector<int64_t> p(static_cast<size_t>(rank));
  std::iota(p.begin(), p.end(), 0);
  for (size_t i = p.size(); i > 1; --i) std::swap(p[i - 1], p[r.below(i)]);
  return p;
}

/// Indices into an axis of this extent, which must not be 0; negative ones where the version knows them.
Tensor indices(Draft& d, DType dtype, const Shape& shape, int64_t extent) {
  return d.integers(dtype, shape, d.since >= 11 ? -extent : 0, extent - 1);
}

/// Different indices along `axis`, for every line along it: two of one place leave open which is written.
Tensor distinct_indices(Draft& d, DType dtype, const Shape& shape, size_t axis, int64_t extent) {
  Tensor t = Tensor::allocate(DType::kInt64, shape);
  const std::vector<int64_t> strides = shape.strides();
  auto* out = t.mutable_data<int64_t>();
  for (int64_t i = 0; i < t.numel(); ++i) {
    if (i / strides[axis] % shape[axis] != 0) continue;
    const std::vector<int64_t> places = permutation(static_cast<int>(extent), d.r);
    for (int64_t k = 0; k < shape[axis]; ++k)
      out[i + k * strides[axis]] =
          places[static_cast<size_t>(k)] - (d.since >= 11 && d.r.chance(30) ? extent : 0);
  }
  return convert(t, dtype);
}

}  // namespace

void make_any_shape(Draft& d) {
  const Shape s = d.shape(0, 4);
  d.input(d.schema.inputs[0].name, s);
  if (!d.r.chance(60)) return;
  d.attr("start", d.r.between(-5, 5));
  if (d.r.chance(60)) d.attr("end", d.r.between(-5, 5));
}

void make_reshape(Draft& d) {
  const Shape s = d.shape(0, 4);
  d.input("data", s);
  std::vector<int64_t> to;
  int64_t left = s.numel();
  for (int64_t n = d.r.between(0, 4); n > 0 && left > 0; --n) {
    const int64_t f = d.r.one_of({1, 2, 3, 4, 5, 7});
    if (left % f == 0) to.push_back(f), left /= f;
  }
  if (left != 1 || s.numel() == 0) to.push_back(left);
  if (s.numel() > 0 && !to.empty() && d.r.chance(40)) to[d.r.below(to.size())] = -1;
  if (s.numel() > 0 && !to.empty() && !s.empty() && to[0] == s[0] && d.r.chance(50)) to[0] = 0;
  const bool zeros_mean_zero = s.numel() == 0;
  if (zeros_mean_zero) {
    if (d.has_attr("allowzero"))
      d.attr("allowzero", int64_t{1});
    else
      to.assign(s.begin(), s.end());
  }
  d.ints("shape", to);
}

void make_flatten(Draft& d) {
  const Shape s = d.shape(d.since >= 11 ? 0 : 1, 4);
  d.input("input", s);
  if (d.r.chance(80) || s.empty()) d.attr("axis", d.r.between(d.since >= 11 ? -s.rank() : 0, s.rank()));
}

void make_squeeze(Draft& d) {
  Shape s = d.shape(0, 4);
  std::vector<int64_t> axes;
  for (int64_t a = 0; a < s.rank(); ++a) {
    if (!d.r.chance(50)) continue;
    s[static_cast<size_t>(a)] = 1;
    axes.push_back(d.since >= 11 && d.r.chance(30) ? a - s.rank() : a);
  }
  d.input("data", s);
  if (!axes.empty()) d.ints("axes", axes);
}

void make_unsqueeze(Draft& d) {
  const Shape s = d.shape(0, 3);
  d.input("data", s);
  const int rank = s.rank() + 1 + static_cast<int>(d.r.below(2));
  std::vector<int64_t> axes = permutation(rank, d.r);
  axes.resize(static_cast<size_t>(rank - s.rank()));
  if (d.since < 11) std::sort(axes.begin(), axes.end());
  for (int64_t& a : axes)
    if (d.since >= 11 && d.r.chance(30)) a -= rank;
  d.ints("axes", axes);
}

void make_transpose(Draft& d) {
  const Shape s = d.shape(0, 5);
  d.input("data", s);
  if (d.r.chance(80) && !s.empty()) d.attr("perm", permutation(s.rank(), d.r));
}

void make_expand(Draft& d) {
  const Shape base = d.shape(0, 4), from = d.broadcast_to(base);
  d.input("input", from);
  const Shape to = d.r.chance(50) ? base : d.broadcast_to(base);
  d.ints("shape", to.dims());
}

void make_concat(Draft& d) {
  Shape s = d.shape(1, 4);
  const int64_t axis = d.axis(s.rank());
  const auto place = static_cast<size_t>(axis < 0 ? axis + s.rank() : axis);
  if (d.since < 4) s = d.positive_shape(2, 4);
  const bool has_default = d.since < 4;
  const size_t at = has_default ? 1 : place;
  if (!has_default) d.attr("axis", axis);
  const DType t = d.dtype("T");
  for (int64_t n = d.r.between(1, 4); n > 0; --n) {
    s[at] = d.extent();
    d.more(d.values(t, s));
  }
}

void make_split(Draft& d) {
  Shape s = d.shape(1, 4);
  const int64_t axis = d.axis(s.rank());
  const auto at = static_cast<size_t>(axis < 0 ? axis + s.rank() : axis);
  if (axis != 0 || d.r.chance(50)) d.attr("axis", axis);
  d.outputs = static_cast<int>(d.r.between(1, 3));
  if (d.r.chance(50)) {
    std::vector<int64_t> parts;
    for (int i = 0; i < d.outputs; ++i) parts.push_back(d.extent());
    s[at] = std::accumulate(parts.begin(), parts.end(), int64_t{0});
    d.input("input", s);
    return d.ints("split", parts);
  }
  s[at] = d.outputs * d.positive(3);
  if (d.has_attr("num_outputs")) {
    d.attr("num_outputs", int64_t{d.outputs});
    if (d.outputs == 2 && d.r.chance(30)) ++s[at];
  }
  d.input("input", s);
}

void make_slice(Draft& d) {
  const Shape s = d.shape(1, 4);
  const bool steps = d.has_input("steps") && d.r.chance(60);
  std::vector<int64_t> axes = d.axes(s.rank()), starts, ends, strides;
  const bool all = d.r.chance(30);
  if (all) {
    axes.resize(static_cast<size_t>(d.r.between(1, s.rank())));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    starts.push_back(d.r.between(-6, 6));
    ends.push_back(d.r.chance(15) ? INT64_MAX : d.r.between(-8, 8));
    strides.push_back(d.r.one_of({1, 1, 2, 3, -1, -2}));
  }
  if (d.has_input("steps") && d.input_dtype("starts") == DType::kInt32)
    for (int64_t& e : ends) e = std::min<int64_t>(e, INT32_MAX);
  d.input("data", s);
  d.ints("starts", starts);
  d.ints("ends", ends);
  if (!all) d.ints("axes", axes);
  if (steps) d.ints("steps", strides);
}

void make_gather(Draft& d) {
  const Shape s = d.positive_shape(1, 4);
  const int64_t axis = d.axis(s.rank(), 1);
  d.input("data", s);
  if (axis != 0 || d.r.chance(50)) d.attr("axis", axis);
  const int64_t extent = s[static_cast<size_t>(axis < 0 ? axis + s.rank() : axis)];
  d.input("indices", indices(d, d.input_dtype("indices"), d.shape(0, 3), extent));
}

void make_gather_elements(Draft& d) {
  const Shape s = d.positive_shape(1, 4);
  const int64_t axis = d.axis(s.rank());
  const auto at = static_cast<size_t>(axis < 0 ? axis + s.rank() : axis);
  Shape i = s;
  for (int64_t& e : i) e = d.r.between(1, e);
  i[at] = d.extent();
  d.input("data", s);
  d.attr("axis", axis);
  d.input("indices", indices(d, d.input_dtype("indices"), i, s[at]));
}

void make_gather_nd(Draft& d) {
  const Shape s = d.positive_shape(1, 4);
  const int64_t batch = d.has_attr("batch_dims") ? d.r.between(0, s.rank() - 1) : 0;
  const int64_t depth = d.r.between(1, s.rank() - batch);
  Shape shape(s.begin(), s.begin() + batch);
  if (batch == 0 || d.r.chance(60)) shape.push_back(d.extent());
  shape.push_back(depth);
  if (batch > 0) d.attr("batch_dims", batch);
  d.input("data", s);
  Tensor t = Tensor::allocate(DType::kInt64, shape);
  auto* p = t.mutable_data<int64_t>();
  for (int64_t i = 0; i < t.numel(); ++i) {
    const int64_t e = s[static_cast<size_t>(batch + i % depth)];
    p[i] = d.r.between(-e, e - 1);
  }
  d.input("indices", t);
}

void make_scatter_elements(Draft& d) {
  const Shape s = d.positive_shape(1, 4);
  const int64_t axis = d.axis(s.rank());
  const auto at = static_cast<size_t>(axis < 0 ? axis + s.rank() : axis);
  Shape i = s;
  for (int64_t& e : i) e = d.r.between(1, e);
  d.input("data", s, -3, 3);
  d.attr("axis", axis);
  d.input("indices", distinct_indices(d, d.input_dtype("indices"), i, at, s[at]));
  d.input("updates", i, -3, 3);
  if (!d.has_attr("reduction") || d.r.chance(40)) return;
  const DType t = d.dtype("T");
  if (t == DType::kString || t == DType::kBool || is_complex(t)) return;
  std::vector<std::string> words = {"none", "add", "mul"};
  if (d.since >= 18) words.insert(words.end(), {"max", "min"});
  const std::string word = d.r.one_of(words);
  d.attr("reduction", word);
  // Where results are combined, places may repeat.
  if (word != "none" && d.r.chance(60)) d.input("indices", indices(d, d.input_dtype("indices"), i, s[at]));
}

void make_scatter_nd(Draft& d) {
  const Shape s = d.positive_shape(1, 3);
  const int64_t depth = d.r.between(1, s.rank()), places = Shape(s.begin(), s.begin() + depth).numel();
  const int64_t count = d.r.between(1, std::min<int64_t>(places, 5));
  const std::vector<int64_t> chosen = permutation(static_cast<int>(places), d.r);
  Tensor t = Tensor::allocate(DType::kInt64, {count, depth});
  auto* p = t.mutable_data<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t left = chosen[static_cast<size_t>(i)];
    for (int64_t k = depth; k-- > 0;) {
      const int64_t e = s[static_cast<size_t>(k)];
      p[i * depth + k] = left % e - (d.since >= 11 && d.r.chance(30) ? e : 0);
      left /= e;
    }
  }
  Shape updates = {count};
  for (int64_t k = depth; k < s.rank(); ++k) updates.push_back(s[static_cast<size_t>(k)]);
  d.input("data", s, -3, 3);
  d.input("indices", t);
  d.input("updates", updates, -3, 3);
  const DType type = d.dtype("T");
  if (type == DType::kString || type == DType::kBool || is_complex(type)) return;
  std::vector<std::string> words = {"none", "add", "mul"};
  if (d.since >= 18) words.insert(words.end(), {"max", "min"});
  d.word("reduction", words);
}

void make_tensor_scatter(Draft& d) {
  Shape cache = d.positive_shape(3, 4);
  const int64_t axis = d.r.between(1, cache.rank() - 1);
  const auto at = static_cast<size_t>(axis);
  Shape update = cache;
  update[at] = d.r.between(1, cache[at]);
  d.input("past_cache", cache);
  d.input("update", update);
  d.attr("axis", d.r.chance(40) ? axis - cache.rank() : axis);
  const bool circular = d.r.chance(40);
  if (circular) d.attr("mode", std::string("circular"));
  if (d.r.chance(70))
    d.input("write_indices",
            d.integers(DType::kInt64, {cache[0]}, 0, circular ? cache[at] - 1 : cache[at] - update[at]));
}

void make_tile(Draft& d) {
  const Shape s = d.shape(1, 4);
  d.input("input", s);
  std::vector<int64_t> repeats;
  for (int i = 0; i < s.rank(); ++i) repeats.push_back(d.r.chance(3) ? 0 : d.positive(3));
  if (d.since >= 6) return d.ints("repeats", repeats);
  d.input("tiles", d.integers(d.input_dtype("tiles"), {}, 1, 3));
  d.input("axis", d.integers(d.input_dtype("axis"), {}, 0, s.rank() - 1));
}

void make_pad(Draft& d) {
  const Shape s = d.positive_shape(1, 4);
  std::vector<std::string> modes = {"constant", "reflect", "edge"};
  if (d.since >= 19) modes.emplace_back("wrap");
  const std::string mode = d.r.one_of(modes);
  std::vector<int64_t> axes(static_cast<size_t>(s.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  const bool some = d.has_input("axes") && d.r.chance(40);
  if (some) axes = d.axes(s.rank());
  std::vector<int64_t> pads(axes.size() * 2);
  for (size_t i = 0; i < pads.size(); ++i) {
    const int64_t a = axes[i % axes.size()], extent = s[static_cast<size_t>(a < 0 ? a + s.rank() : a)];
    const int64_t most = mode == "reflect" ? extent - 1 : mode == "wrap" ? extent : 3;
    pads[i] = d.r.chance(25) ? 0 : d.r.between(0, most);
    if (d.r.chance(10) && mode == "constant") pads[i] = -(extent > 2);
  }
  d.input(d.schema.inputs[0].name, s);
  d.ints(d.has_attr("paddings") ? "paddings" : "pads", pads);
  if (mode != "constant" || d.r.chance(50)) d.attr("mode", mode);
  if (d.has_attr("value")) d.number("value", -2, 2);
  d.maybe_input("constant_value", {});
  if (some) d.ints("axes", axes);
}

void make_blocks(Draft& d) {
  const int64_t b = d.r.between(1, 3);
  Shape s = d.positive_shape(4, 4);
  if (d.is("DepthToSpace"))
    s[1] *= b * b;
  else
    s[2] *= b, s[3] *= b;
  d.input("input", s);
  d.attr("blocksize", b);
  d.word("mode", {"DCR", "CRD"});
}

void make_eye(Draft& d) {
  d.input("input", d.shape(2, 2));
  if (d.r.chance(60)) d.attr("k", d.r.between(-3, 3));
  if (d.r.chance(60)) d.attr("dtype", static_cast<int64_t>(d.dtype("T2")));
}

void make_one_hot(Draft& d) {
  const Shape s = d.shape(d.since >= 11 ? 0 : 1, 3);
  const int64_t depth = d.positive(5);
  d.input("indices", s, d.since >= 11 ? -static_cast<double>(depth) : 0, static_cast<double>(depth) - 1);
  const DType t = d.input_dtype("depth");
  const Shape one = d.r.chance(50) ? Shape{} : Shape{1};
  d.input("depth", d.integers(t == DType::kBool ? DType::kInt64 : t, one, depth, depth));
  if (is_float(t)) d.input("depth", d.values(t, one, static_cast<double>(depth), static_cast<double>(depth)));
  d.input("values", Shape{2});
  if (d.r.chance(70)) d.attr("axis", d.r.between(-s.rank() - 1, s.rank()));
}

void make_trilu(Draft& d) {
  d.input("input", d.shape(2, 4));
  if (d.r.chance(60)) d.integer("k", d.r.between(-4, 4));
  d.flag("upper");
}

void make_reverse_sequence(Draft& d) {
  const Shape s = d.positive_shape(2, 4);
  const int64_t batch = d.r.between(0, 1);
  d.input("input", s);
  d.attr("batch_axis", batch);
  d.attr("time_axis", 1 - batch);
  d.input("sequence_lens",
          d.integers(DType::kInt64, {s[static_cast<size_t>(batch)]}, 1, s[static_cast<size_t>(1 - batch)]));
}

void make_center_crop_pad(Draft& d) {
  const Shape s = d.positive_shape(1, 4);
  if (d.r.chance(80)) d.choose("Tind", {DType::kInt64});
  d.input("input_data", s);
  std::vector<int64_t> axes = d.axes(s.rank()), to;
  const bool some = d.r.chance(50) && !axes.empty();
  if (some) d.attr("axes", axes);
  for (int i = some ? static_cast<int>(axes.size()) : s.rank(); i > 0; --i) to.push_back(d.positive(6));
  d.ints("shape", to);
}

void make_constant_of_shape(Draft& d) {
  const Shape s = d.shape(0, 4);
  d.input("input", Tensor::vector(s.dims()));
  if (d.r.chance(80)) d.attr("value", d.values(d.dtype("T2"), Shape{1}));
}

void make_constant(Draft& d) {
  std::vector<std::string> kinds = {"value"};
  if (d.since >= 12)
    kinds = {"value",      "value_float",  "value_floats", "value_int",
             "value_ints", "value_string", "value_strings"};
  const std::string kind = d.r.one_of(kinds);
  const Shape list = {d.r.between(1, 4)};
  if (kind == "value") d.attr(kind, d.values(d.dtype("T"), d.shape(0, 3)));
  if (kind == "value_float") d.number(kind, -2, 2), d.attr(kind, 1.5f);
  if (kind == "value_floats") d.attr(kind, std::vector<float>{1, -2.5f});
  if (kind == "value_int") d.attr(kind, d.r.between(-9, 9));
  if (kind == "value_ints") d.attr(kind, d.integers(DType::kInt64, list, -9, 9).to_int64());
  if (kind == "value_string") d.attr(kind, std::string("text"));
  if (kind == "value_strings") d.attr(kind, std::vector<std::string>{"a", "", "b"});
}

void make_compress(Draft& d) {
  const Shape s = d.shape(1, 4);
  d.input("input", s);
  int64_t most = s.numel();
  if (d.r.chance(60)) {
    const int64_t axis = d.axis(s.rank());
    d.attr("axis", axis);
    most = s[static_cast<size_t>(axis < 0 ? axis + s.rank() : axis)];
  }
  d.input("condition", d.values(DType::kBool, {d.r.between(0, most)}));
}

void make_top_k(Draft& d) {
  const Shape s = d.positive_shape(1, 4);
  const int64_t axis = d.axis(s.rank());
  d.input(d.schema.inputs[0].name, s);
  const int64_t extent = s[static_cast<size_t>(axis < 0 ? axis + s.rank() : axis)];
  d.attr("axis", axis);
  d.integer(d.has_attr("k") ? "k" : "K", d.r.between(d.has_attr("k") ? 1 : 0, extent), 1);
  d.flag("largest");
  d.outputs = 2;
}

void make_unique(Draft& d) {
  const Shape s = d.positive_shape(1, 3);
  d.input("X", s, -2, 2);
  if (d.r.chance(60)) d.attr("axis", d.axis(s.rank()));
  d.flag("sorted");
}

void make_non_zero(Draft& d) { d.input("X", d.shape(1, 4), -1, 1); }

}  // namespace assay::fuzz
