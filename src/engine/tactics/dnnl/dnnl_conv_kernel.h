// Steps of the tactic dnnl_conv: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>
#include <numeric>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/dnnl/dnnl_epilogue_kernel.h"

namespace assay::engine::tactic_dnnl_conv {

using dnnl::memory;
using ConvForward = dnnl::convolution_forward;

struct StepFields {
  std::vector<int64_t> weights;  ///< their shape, the groups first where there are several
  DnnlWindowFields window;

  void fields(FieldVisitor& visit) {
    visit("weights", weights);
    window.fields(visit);
  }
};

/// Everything that oneDNN needs to know, from a problem or from a step.
struct ConvShape {
  Shape input, output, weights;  // weights with the groups as first axis when there are several
  std::vector<int64_t> strides, dilations, begin, end;
  bool has_bias = false;
};

inline int64_t groups_of(const ConvShape& c) { return c.weights.rank() > c.input.rank() ? c.weights[0] : 1; }

/// A channels-last convolution as one image of one column, whose pixels can be divided among threads: if each
/// pixel depends on one of the input, and addends are a whole result or the same for all pixels. Else `c`
/// itself.
inline ConvShape in_one_column(const ConvShape& c, Layout out, const EpilogueSpec& spec) {
  const size_t rank = c.input.size();
  const auto is_zero = [](int64_t x) { return x == 0; };
  bool pixelwise = out.is_channels_last() && c.weights.numel() == c.output[1] * c.input[1] &&
                   std::ranges::all_of(c.begin, is_zero) && std::ranges::all_of(c.end, is_zero);
  for (size_t d = 2; d < rank; ++d) pixelwise = pixelwise && c.input[d] == c.output[d];
  for (const EpilogueSpec::Entry& e : spec.entries) {
    if (e.position < 0 || (e.shape == c.output && e.format.layout == out)) continue;
    for (size_t k = 0; k < e.shape.size(); ++k)
      pixelwise = pixelwise && (k + 2 == rank || e.shape[e.shape.size() - 1 - k] == 1);
  }
  if (!pixelwise) return c;
  ConvShape column = c;
  for (Shape* s : {&column.input, &column.output}) {
    std::vector<int64_t> extents(rank, 1);
    extents[1] = (*s)[1];
    extents[2] = s->numel() / extents[1];
    *s = Shape(std::move(extents));
  }
  column.strides.assign(rank - 2, 1);
  column.dilations.assign(rank - 2, 0);
  return column;
}

/// The part of each thread. The channels of a group stay together, and so do the groups whose input
/// channels share a block.
inline std::vector<Box> parts_of(const ConvShape& c, Layout in, Layout out, int64_t threads) {
  if (out.is_channels_last()) return row_parts(c.output, threads);
  const int64_t groups = groups_of(c), outputs = c.output[1] / groups, inputs = c.input[1] / groups;
  if (groups == 1) return channel_parts(c.output, out, threads);
  const int64_t together = in.is_blocked() ? in.block / std::gcd(int64_t{in.block}, inputs) : 1;
  return channel_parts(c.output, out, threads, outputs * together);
}

/// The part of the input for a part of the result, and the padding of its rows.
struct InputPart {
  Box box;
  int64_t before, behind;
};

inline InputPart input_part(const ConvShape& c, const Box& part) {
  InputPart of{whole_box(c.input), c.begin[0], c.end[0]};
  Box& in = of.box;
  in.begin[0] = part.begin[0];
  in.size[0] = part.size[0];
  if (part.size[2] < c.output[2]) {
    const int64_t kernel = c.weights[c.weights.size() - (c.input.size() - 2)];
    const int64_t first = part.begin[2] * c.strides[0] - c.begin[0];
    const int64_t end = first + (part.size[2] - 1) * c.strides[0] + (kernel - 1) * (c.dilations[0] + 1) + 1;
    // A part that sees nothing but padding still reads one row.
    in.begin[2] = std::clamp<int64_t>(first, 0, c.input[2] - 1);
    in.size[2] = std::clamp<int64_t>(end, in.begin[2] + 1, c.input[2]) - in.begin[2];
    of.before = in.begin[2] - first;
    of.behind = end - in.begin[2] - in.size[2];
  }
  if (const int64_t groups = groups_of(c); groups > 1) {
    in.begin[1] = part.begin[1] / (c.output[1] / groups) * (c.input[1] / groups);
    in.size[1] = part.size[1] / (c.output[1] / groups) * (c.input[1] / groups);
  }
  return of;
}

/// Throws dnnl::error when there is no implementation.
inline ConvForward::primitive_desc describe(const ConvShape& c, Layout in, Layout out, const Box& part,
                                            const PostOps& post_ops) {
  Shape kernel = c.weights;
  // With groups, their number comes first.
  kernel[0] = groups_of(c) == 1 ? part.size[1] : part.size[1] / (c.output[1] / groups_of(c));
  const InputPart from = input_part(c, part);
  if (from.before < 0) throw dnnl::error(dnnl_unimplemented, "a part lies behind the image");
  const memory::desc src = part_desc(c.input, in, from.box), dst = part_desc(c.output, out, part),
                     weights = any_desc(kernel);
  const memory::dims strides = to_dnnl(c.strides), dilations = to_dnnl(c.dilations);
  memory::dims begin = to_dnnl(c.begin), end = to_dnnl(c.end);
  begin[0] = from.before;
  end[0] = from.behind;
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::primitive_attr attributes = make_attributes(post_ops);
  const OneThread alone;
  if (!c.has_bias)
    return {ConvForward::desc(kind, direct, src, weights, dst, strides, dilations, begin, end), attributes,
            dnnl_engine()};
  const memory::desc bias = memory_desc({part.size[1]}, {});
  return {ConvForward::desc(kind, direct, src, weights, bias, dst, strides, dilations, begin, end),
          attributes, dnnl_engine()};
}

/// True when a window of the part is entirely padding.
inline bool misses_the_image(const ConvShape& c, const Box& part) {
  const InputPart from = input_part(c, part);
  const size_t axes = c.input.size() - 2;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t taps = c.weights[c.weights.size() - axes + a], dilation = c.dilations[a] + 1;
    const int64_t begin = a == 0 ? from.before : c.begin[a], extent = from.box.size[2 + a];
    for (int64_t i = 0; i < part.size[2 + a]; ++i) {
      const int64_t first = i * c.strides[a] - begin;
      const int64_t skipped = first < 0 ? (-first + dilation - 1) / dilation : 0;
      if (skipped >= taps || first + skipped * dilation >= extent) return true;
    }
  }
  return false;
}

/// Whether oneDNN's cache of primitives takes a part for a row-major one: it compares no strides along
/// extents of 1. It then gives whichever implementation was asked for first, with the other's scratch memory.
inline bool may_be_row_major(const ConvForward::primitive_desc& made) {
  const auto same = [](const memory::desc& desc) { return desc == memory_desc(Shape(desc.dims()), {}); };
  return same(made.src_desc()) && same(made.dst_desc());
}

/// The reason not to use oneDNN's implementation of
/// a channels-last part (seen in 2.6), or nothing.
inline const char* refusal(const ConvShape& c, const Box& part, const ConvForward::primitive_desc& made) {
  const std::string_view implementation = made.impl_info_str();
  // Products of unpacked columns add an operand's wrong numbers where there are strides.
  if (rank_implementation(implementation) != ImplementationRank::kTailored) return "no kernel of its own";
  if (implementation.starts_with("brgconv") && misses_the_image(c, part))
    return "it would crash on windows of padding alone";
  return may_be_row_major(made) ? "it would be taken for a row-major one" : nullptr;
}

/// Descriptors of parts.
struct Describe {
  const ConvShape& c;
  Layout in, out;

  ConvForward::primitive_desc operator()(const Box& part, const PostOps& ops) const {
    ConvForward::primitive_desc made = describe(c, in, out, part, ops);
    if (out.is_channels_last())
      if (const char* why = refusal(c, part, made)) throw dnnl::error(dnnl_unimplemented, why);
    return made;
  }
  bool are_alike(const Box& a, const Box& b) const {
    if (a.size != b.size) return false;
    const InputPart x = input_part(c, a), y = input_part(c, b);
    return x.box.size == y.box.size && x.before == y.before && x.behind == y.behind;
  }
};

inline int64_t weights_key(const Box& part) { return part.begin[1]; }

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_dnnl_conv
