// GatherBlockQuantized: the entries of an axis at the given indices, dequantized: (q - zero point) * scale,
// with one scale for each block along another axis. uint8 data hold values of `bits` bits, packed
// along the last axis; without zero points theirs is half of the range, that of 4-bit types 0. An 8- or 4-bit
// float has no zero point, its scales may be broadcast, and block_size 0 makes one block of the axis.
#include <algorithm>
#include <bit>

#include "ops/contrib/packed_quantized.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"
#include "tensor/convert.h"

namespace assay::op_ms_GatherBlockQuantized {
namespace {

enum Input { kData, kIndices, kScales, kZeros };

bool is_packed_bytes(DType t) { return t == DType::kUInt8; }

/// The attributes for data of a type and rank, checked.
struct Layout {
  size_t gather, quantize;
  int64_t block;
  int bits;  ///< of a value in uint8 data; 8 for other data

  Layout(const OpContext& c, DType data, int rank)
      : gather(static_cast<size_t>(normalize_axis(c.attr_int("gather_axis"), rank, "gather_axis"))),
        quantize(static_cast<size_t>(normalize_axis(c.attr_int("quantize_axis"), rank, "quantize_axis"))),
        block(c.attr_int("block_size")),
        bits(8) {
    c.check(
        (block == 0 && is_float(data)) || (block >= 16 && std::has_single_bit(static_cast<uint64_t>(block))),
        "attribute 'block_size' is {}; it must be a power of 2 of at least 16", block);
    if (!is_packed_bytes(data)) return;
    const int64_t wanted = c.attr_int("bits");
    c.check(wanted == 2 || wanted == 4 || wanted == 8, "attribute 'bits' is {}; it must be 2, 4 or 8",
            wanted);
    bits = static_cast<int>(wanted);
    c.check(gather == 0 && quantize + 1 == static_cast<size_t>(rank) && quantize != gather,
            "uint8 data are gathered along the first axis and quantised along the last, not {} and {}",
            gather, quantize);
  }
  int64_t blocks(int64_t extent) const {
    return block == 0 ? std::min<int64_t>(extent, 1) : (extent + block - 1) / block;
  }
};

void infer(InferContext& c) {
  const Dims *data = c.input_dims(kData), *indices = c.input_dims(kIndices);
  const DType dtype = c.input_dtype(kScales);
  if (data == nullptr) return c.set_output(0, dtype);
  const Layout layout(c, c.input_dtype(kData), static_cast<int>(data->size()));
  if (indices == nullptr) return c.set_output(0, dtype);
  Dims levels = *data;
  levels.back() = dim_mul(levels.back(), Dim(8 / layout.bits));
  const auto at = levels.begin() + static_cast<std::ptrdiff_t>(layout.gather);
  Dims out(levels.begin(), at);
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), at + 1, levels.end());
  c.set_output(0, dtype, std::move(out));
}

/// One number for each element, those of packed bytes unpacked along the last axis, which gets `columns` of
/// them.
Tensor unpack(const Tensor& t, int bits, int64_t columns) {
  if (bits == 8) return to_float64(t);
  Shape shape = t.shape();
  const int64_t bytes = shape.back();
  shape[shape.size() - 1] = columns;
  Tensor out = checked_allocation(DType::kFloat64, shape);
  double* to = out.mutable_data<double>();
  const uint8_t* from = t.data<uint8_t>();
  for (const double* const end = to + out.numel(); to < end; to += columns, from += bytes)
    for (int64_t i = 0; i < columns; ++i) to[i] = packed_level(from, i, bits);
  return out;
}

/// A parameter of the blocks for every element of the data: walks them with its own strides.
class BlockParameter {
 public:
  BlockParameter(Tensor values, const Shape& data, const Layout& layout)
      : values_(std::move(values)), data_(data), layout_(layout), strides_(values_.shape().strides()) {
    for (size_t d = 0; d < data.size(); ++d)
      if (values_.dim(d) == 1) strides_[d] = 0;
  }
  /// Of the elements along the last axis: element i has first[(i >> shift) * stride].
  struct Row {
    const double* first;
    int64_t stride;
    int shift;

    double at(int64_t i) const { return first[(i >> shift) * stride]; }
  };
  /// Of a row of the data.
  Row row(int64_t number) const {
    int64_t offset = 0;
    const size_t last = data_.size() - 1;
    for (size_t d = last; d-- > 0; number /= data_[d]) {
      int64_t i = number % data_[d];
      if (d == layout_.quantize) i = layout_.block == 0 ? 0 : i / layout_.block;
      offset += i * strides_[d];
    }
    const double* const first = values_.data<double>() + offset;
    if (last != layout_.quantize) return {first, strides_[last], 0};
    if (layout_.block == 0) return {first, 0, 0};
    return {first, strides_[last], std::countr_zero(static_cast<uint64_t>(layout_.block))};
  }

 private:
  Tensor values_;
  const Shape& data_;
  const Layout& layout_;
  std::vector<int64_t> strides_;
};

void check_scales(const EvalContext& c, const Layout& layout, const Shape& data) {
  Shape needed = data;
  needed[layout.quantize] = layout.blocks(data[layout.quantize]);
  const Shape& given = c.shape(kScales);
  const bool may_broadcast = is_float(c.input(kData).dtype());
  bool fits = given.size() == needed.size();
  for (size_t d = 0; fits && d < needed.size(); ++d)
    fits = given[d] == needed[d] || (may_broadcast && d != layout.quantize && given[d] == 1);
  c.check(fits, "the scales have shape {} where {} is needed", given.str(), needed.str());
}

/// The entries of a tensor at the indices, along the axis that they are gathered along, as they are stored;
/// all of a tensor that is broadcast along it.
Tensor gathered(const Tensor& stored, const Layout& layout, int64_t extent,
                const std::vector<int64_t>& indices) {
  const Shape& in = stored.shape();
  if (in[layout.gather] != extent) return stored;
  const Tensor from = unpacked(stored);
  const auto count = static_cast<int64_t>(indices.size());
  Shape out = in;
  out[layout.gather] = count;
  Tensor y = checked_allocation(from.dtype(), out);
  const int64_t inner = in.numel(layout.gather + 1, in.size());
  visit_elements(from.dtype(), [&]<typename E>() {
    const E* rows = elements<E>(from);
    E* to = mutable_elements<E>(y);
    for (int64_t i = 0; i < in.numel(0, layout.gather) * count; ++i) {
      const int64_t row = i / count * extent + indices[static_cast<size_t>(i % count)];
      std::copy_n(rows + row * inner, inner, to + i * inner);
    }
  });
  return repacked(std::move(y), stored.dtype());
}

/// Where to find the scale and zero point of an element of the result: gathered like the data, or, where
/// blocks are along the same axis, in the whole.
struct Places {
  const Layout& layout;
  Shape in;  ///< of the data
  std::vector<int64_t> indices;

  bool are_apart() const { return layout.gather != layout.quantize; }
  Shape shape() const {
    Shape s = in;
    if (are_apart()) s[layout.gather] = static_cast<int64_t>(indices.size());
    return s;
  }
  Tensor of(const Tensor& parameter) const {
    return are_apart() ? gathered(parameter, layout, in[layout.gather], indices) : parameter;
  }
};

BlockParameter zero_points(const EvalContext& c, const Places& places, const Shape& data) {
  const Layout& layout = places.layout;
  const DType type = c.input(kData).dtype();
  if (!c.has_input(kZeros)) {
    const double half = is_packed_bytes(type) ? 1 << (layout.bits - 1) : 0;
    return {Tensor::from<double>(Shape(std::vector<int64_t>(data.size(), 1)), std::vector<double>{half}),
            data, layout};
  }
  c.check(!is_float(type), "data of type {} have no zero points", dtype_name(type));
  Shape needed = c.shape(kScales);
  needed[needed.size() - 1] = packed_bytes(needed.back(), layout.bits);
  if (layout.bits == 8) needed = c.shape(kScales);
  c.check(c.shape(kZeros) == needed, "the zero points have shape {} where {} is needed",
          c.shape(kZeros).str(), needed.str());
  return {unpack(places.of(c.input(kZeros)), layout.bits, c.shape(kScales).back()), data, layout};
}

void eval(EvalContext& c) {
  const Layout layout(c, c.input(kData).dtype(), c.shape(kData).rank());
  Places places{layout, c.shape(kData), c.input(kIndices).to_int64()};
  Shape& in = places.in;
  in[in.size() - 1] *= 8 / layout.bits;
  check_scales(c, layout, in);
  for (int64_t& i : places.indices) i = resolve_index(i, in[layout.gather], layout.gather);
  const Shape blocks = places.shape();
  const BlockParameter scales(to_float64(places.of(c.input(kScales))), blocks, layout),
      zeros = zero_points(c, places, blocks);
  const Tensor levels =
      unpack(gathered(c.input(kData), layout, in[layout.gather], places.indices), layout.bits, in.back());
  Shape out(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(layout.gather));
  for (const int64_t d : c.shape(kIndices)) out.push_back(d);
  for (size_t d = layout.gather + 1; d < in.size(); ++d) out.push_back(in[d]);
  Tensor y = checked_allocation(DType::kFloat64, out);
  const auto count = static_cast<int64_t>(places.indices.size());
  const size_t last = in.size() - 1;
  const int64_t columns = levels.dim(last), rows = columns == 0 ? 0 : levels.numel() / columns;
  const int64_t inner = layout.gather == last ? 1 : in.numel(layout.gather + 1, last);
  double* const to = y.mutable_data<double>();
  parallel_for(rows, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(columns, 1)),
               [&](int64_t first, int64_t end) {
                 for (int64_t r = first; r < end; ++r) {
                   // Where parameters are those of the whole, the row and the column are that of the data.
                   int64_t row = r;
                   const bool by_column = !places.are_apart() && layout.gather == last;
                   if (!places.are_apart() && !by_column)
                     row = (r / inner / count * in[layout.gather] +
                            places.indices[static_cast<size_t>(r / inner % count)]) *
                               inner +
                           r % inner;
                   const auto scale = scales.row(row), zero = zeros.row(row);
                   for (int64_t i = 0; i < columns; ++i) {
                     const int64_t at = by_column ? places.indices[static_cast<size_t>(i)] : i;
                     to[r * columns + i] =
                         (levels.data<double>()[r * columns + i] - zero.at(at)) * scale.at(at);
                   }
                 }
               });
  c.set_output(0, c.ideal ? y : convert(y, c.input(kScales).dtype()));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T1
in  indices: Tind
in  scales: T2
in  zero_points: T1 ?
out output: T2
attr bits: int = 4
attr block_size: int = 128
attr quantize_axis: int = 1
attr gather_axis: int = 0
type T1: int4 uint4 uint8 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float4e2m1
type T2: float float16 bfloat16
type Tind: int32 int64)",
     infer, eval},
};

}  // namespace

/// The product; with the scale in a narrower type, its rounding too.
constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "GatherBlockQuantized",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = 2},
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_ms_GatherBlockQuantized
