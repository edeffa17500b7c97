// Col2Im: adds blocks, given as columns, at their positions in an image: the transpose of im2col. Column l of
// channel c holds the block whose corner is the l-th in row-major order.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/sums/sums.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_Col2Im {
namespace {

/// Spatial dimensions, as far as the lengths of inputs and attributes say; -1 when none does.
int64_t spatial_rank(const InferContext& c) {
  for (const size_t i : {1, 2})
    if (const int64_t n = known_length(c, i); n >= 0 && n <= static_cast<int64_t>(kLongestExtents)) return n;
  for (const char* name : {"dilations", "strides"})
    if (c.has_attr(name)) return static_cast<int64_t>(c.attr_ints(name).size());
  return c.has_attr("pads") ? static_cast<int64_t>(c.attr_ints("pads").size() / 2) : -1;
}

void infer(InferContext& c) {
  check_list(c, 1);
  check_list(c, 2);
  const Dims *in = c.input_dims(0), *image = c.input_extents(1), *block = c.input_extents(2);
  c.check(in == nullptr || in->size() == 3, "the input must have rank 3, it has rank {}",
          in ? in->size() : 0);
  if (image == nullptr) {
    const int64_t rank = spatial_rank(c);
    if (rank < 0) return c.set_output(0, c.input_dtype(0));
    Dims out(static_cast<size_t>(rank) + 2);
    if (in != nullptr) out[0] = (*in)[0];
    return c.set_output(0, c.input_dtype(0), std::move(out));
  }
  Dims out = {in ? (*in)[0] : Dim(),
              in && block ? dim_floor_div((*in)[1], dim_product(*block, 0, block->size())) : Dim()};
  out.insert(out.end(), image->begin(), image->end());
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// Elements of the blocks whose positions are computed together.
constexpr int64_t kPositions = 1024;

/// One spatial dimension.
struct Dimension {
  int64_t image, block, stride, dilation, pad, blocks;
};

std::vector<Dimension> dimensions(const EvalContext& c) {
  const std::vector<int64_t> image = integer_list(c, 1), block = integer_list(c, 2);
  const size_t rank = image.size();
  const auto list = [&](const char* name, size_t count, int64_t otherwise) {
    std::vector<int64_t> v = c.attr_ints(name);
    if (v.empty()) v.assign(count, otherwise);
    c.check(v.size() == count, "{} has {} entries for {} dimensions", name, v.size(), rank);
    return v;
  };
  const auto strides = list("strides", rank, 1), dilations = list("dilations", rank, 1),
             pads = list("pads", 2 * rank, 0);
  c.check(block.size() == rank && rank > 0, "image_shape has {} and block_shape {} entries", rank,
          block.size());
  std::vector<Dimension> out;
  for (size_t d = 0; d < rank; ++d) {
    constexpr int64_t kLimit = INT32_MAX;
    for (const int64_t v : {image[d], block[d], strides[d], dilations[d]})
      c.check(v > 0 && v <= kLimit, "dimension {} has the extent, stride or dilation {}", d, v);
    for (const int64_t v : {pads[d], pads[rank + d]})
      c.check(v >= 0 && v <= kLimit, "dimension {} has the pad {}", d, v);
    const int64_t room = image[d] + pads[d] + pads[rank + d] - dilations[d] * (block[d] - 1) - 1;
    c.check(room >= 0, "a block does not fit into dimension {}", d);
    out.push_back({image[d], block[d], strides[d], dilations[d], pads[d], room / strides[d] + 1});
  }
  return out;
}

template <int64_t Dimension::*kExtent>
int64_t product(const std::vector<Dimension>& dims) {
  Shape shape;
  for (const Dimension& d : dims) shape.push_back(d.*kExtent);
  return shape.numel();
}

/// The position in the image of element `within` of block `number`; -1 in the padding.
int64_t position(const std::vector<Dimension>& dims, int64_t within, int64_t number) {
  int64_t at = 0, stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    const Dimension& dim = dims[d];
    const int64_t i = number % dim.blocks * dim.stride - dim.pad + within % dim.block * dim.dilation;
    if (i < 0 || i >= dim.image) return -1;
    at += i * stride;
    stride *= dim.image;
    within /= dim.block;
    number /= dim.blocks;
  }
  return at;
}

void eval(EvalContext& c) {
  const std::vector<Dimension> dims = dimensions(c);
  const Shape& in = c.shape(0);
  const int64_t block = product<&Dimension::block>(dims), blocks = product<&Dimension::blocks>(dims);
  c.check(in.size() == 3 && in[1] % block == 0 && in[2] == blocks,
          "the input has shape {}; blocks of {} elements in {} places are expected", in.str(), block, blocks);
  Shape out = {in[0], in[1] / block};
  for (const Dimension& d : dims) out.push_back(d.image);
  const int64_t image = product<&Dimension::image>(dims);
  Tensor y = checked_allocation(c.input(0).dtype(), out);
  visit_numeric(y.dtype(), [&]<typename T>() {
    using Sum = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
    const T* from = c.input(0).data<T>();
    T* to = y.mutable_data<T>();
    parallel_for(in[0] * out[1], 1, [&](int64_t first, int64_t last) {
      std::fill_n(to + first * image, (last - first) * image, T(0));
      // Positions are the same in every plane.
      int64_t places[kPositions];
      for (int64_t begin = 0; begin < block * blocks; begin += kPositions) {
        const int64_t count = std::min(block * blocks - begin, kPositions);
        for (int64_t i = 0; i < count; ++i)
          places[i] = position(dims, (begin + i) / blocks, (begin + i) % blocks);
        for (int64_t plane = first; plane < last; ++plane) {
          T* const target = to + plane * image;
          const T* const source = from + plane * block * blocks + begin;
          for (int64_t i = 0; i < count; ++i)
            if (places[i] >= 0)
              target[places[i]] =
                  static_cast<T>(static_cast<Sum>(target[places[i]]) + static_cast<Sum>(source[i]));
        }
      }
    });
  });
  c.set_output(0, std::move(y));
}

/// No more blocks overlap in one element than a block has elements.
int64_t terms(EvalContext& c) { return product<&Dimension::block>(dimensions(c)); }

constexpr OpVersion kVersions[] = {
    {18, R"(
in  input: T
in  image_shape: int64
in  block_shape: int64
out output: T
attr strides: ints
attr pads: ints
attr dilations: ints
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Col2Im",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = terms},
};

}  // namespace assay::op_onnx_Col2Im

namespace assay {

bool sums_of_col2_im(EvalContext& c, int64_t i, SummedElement& out) {
  using namespace op_onnx_Col2Im;
  if (c.input(0).dtype() != DType::kFloat64) return false;
  const std::vector<Dimension> dims = dimensions(c);
  const int64_t block = product<&Dimension::block>(dims), blocks = product<&Dimension::blocks>(dims),
                image = product<&Dimension::image>(dims);
  const double* x = c.input(0).data<double>() + i / image * block * blocks;
  Addends met;
  for (int64_t within = 0; within < block; ++within) {
    int64_t rest = within, place = i % image, number = 0, step = 1;
    bool inside = true;
    for (size_t d = dims.size(); d-- > 0;) {
      const Dimension& dim = dims[d];
      const int64_t from = place % dim.image + dim.pad - rest % dim.block * dim.dilation;
      inside = inside && from >= 0 && from % dim.stride == 0 && from / dim.stride < dim.blocks;
      number += from / dim.stride * step;
      step *= dim.blocks, rest /= dim.block, place /= dim.image;
    }
    if (inside) met.terms.push_back(x[within * blocks + number]);
  }
  set_sum_of_products(std::move(met), 1, 0, out);
  return true;
}

}  // namespace assay
