// Convolution with its epilogue through oneDNN, in blocked layouts where its kernels want them.
#include <algorithm>
#include <numeric>

#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine::tactic_dnnl_conv {
namespace {

using dnnl::memory;
using ConvForward = dnnl::convolution_forward;

constexpr std::string_view kOperators[] = {"Conv"};

/// Input images of so few channels are read row-major by the first layer's kernels.
constexpr int64_t kImageChannels = 4;
/// Of a result: kernels compute a multiple of them.
constexpr int64_t kFilledChannels = 16;

struct StepFields {
  std::vector<int64_t> weights;  ///< their shape, the groups first where there are several
  DnnlWindowFields window;

  void fields(FieldVisitor& visit) {
    visit("weights", weights);
    window.fields(visit);
  }
};

std::string supports(const Problem& p) {
  if (p.region().result_transposed != nullptr) return "the result is transposed";
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.input_constant(1) == nullptr) return "the weights are not constant";
  if (p.has_input(2) && p.input_constant(2) == nullptr) return "the bias is not constant";
  if (in->rank() < 3 || in->rank() > 5) return "only one to three spatial axes are supported";
  if (out->numel() == 0) return "the result is empty";
  return epilogue_refusal(p.region().epilogue);
}

/// Everything that oneDNN needs to know, from a problem or from a step.
struct ConvShape {
  Shape input, output, weights;  // weights with the groups as first axis when there are several
  std::vector<int64_t> strides, dilations, begin, end;
  bool has_bias = false;
};

ConvShape shape_of(const Problem& p) {
  ConvShape c;
  c.input = *p.input_shape(0);
  const Shape weights = p.input_constant(1)->shape();
  const OpContext attributes = p.attributes();
  const ConvPlan plan = plan_conv(attributes, c.input, weights);
  const kernels::Window& window = plan.window;
  c.output = plan.output;
  const int64_t groups = read_group(attributes, c.input[1], weights[0]);
  c.weights = weights;
  if (groups > 1) {
    c.weights[0] /= groups;
    c.weights.insert_at(0, groups);
  }
  c.strides = window.strides;
  c.begin = window.begin;
  c.end = window.end;
  for (const int64_t d : window.dilations) c.dilations.push_back(d - 1);
  c.has_bias = p.has_input(2);
  return c;
}

int64_t groups_of(const ConvShape& c) { return c.weights.rank() > c.input.rank() ? c.weights[0] : 1; }

ConvShape shape_of(const StepReader& r) {
  ConvShape c;
  c.input = r.input(0).shape;
  c.output = r.output(0).shape;
  const size_t rank = check_images(c.input, c.output), axes = rank - 2;
  auto p = r.read(StepFields{.weights = {}, .window = {axes}});
  c.weights = Shape(p.weights);
  StepReader::check(c.weights.size() == rank || c.weights.size() == rank + 1, "it has weights {}",
                    c.weights.str());
  check_window_weights(r, c.weights, rank, groups_of(c), c.output[1], c.input[1]);
  c.strides = std::move(p.window.strides);
  c.dilations = std::move(p.window.dilations);
  c.begin = std::move(p.window.begin);
  c.end = std::move(p.window.end);
  c.has_bias = r.optional_elements(2, {c.output[1]});
  return c;
}

/// What a convolution with channels last computes, as one image of one column, of whose pixels threads may
/// take any number: where each pixel comes from one of the input, and what is added to it is a whole result
/// or the same for all pixels. Else `c` itself.
ConvShape in_one_column(const ConvShape& c, Layout out, const EpilogueSpec& spec) {
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

/// What each thread computes. The channels of a group stay together, and so do the groups whose input
/// channels share a block.
std::vector<Box> parts_of(const ConvShape& c, Layout in, Layout out, int64_t threads) {
  if (out.is_channels_last()) return row_parts(c.output, threads);
  const int64_t groups = groups_of(c), outputs = c.output[1] / groups, inputs = c.input[1] / groups;
  if (groups == 1) return channel_parts(c.output, out, threads);
  const int64_t together = in.is_blocked() ? in.block / std::gcd(int64_t{in.block}, inputs) : 1;
  return channel_parts(c.output, out, threads, outputs * together);
}

/// The part of the input that a part of the result is computed from, and what pads its rows.
struct InputPart {
  Box box;
  int64_t before, behind;
};

InputPart input_part(const ConvShape& c, const Box& part) {
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
ConvForward::primitive_desc describe(const ConvShape& c, Layout in, Layout out, const Box& part,
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

/// Whether a window of the part sees padding alone.
bool misses_the_image(const ConvShape& c, const Box& part) {
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
bool may_be_row_major(const ConvForward::primitive_desc& made) {
  const auto same = [](const memory::desc& desc) { return desc == memory_desc(Shape(desc.dims()), {}); };
  return same(made.src_desc()) && same(made.dst_desc());
}

/// Why oneDNN's implementation of a part with channels last is not to be used (seen in 2.6), or
/// nothing.
const char* refusal(const ConvShape& c, const Box& part, const ConvForward::primitive_desc& made) {
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

int64_t weights_key(const Box& part) { return part.begin[1]; }

/// Results of a window's row with channels last: oneDNN describes a product for each number of them up to
/// this, 6 us each (seen in 2.6), which is 0.4 s for a second of 64 kHz.
constexpr int64_t kLongestRow = 4096;

struct Choice {
  Layout in, out;
  /// row, blocked8, channels_last, row to blocked8
  std::string str() const { return in == out ? in.str() : in.str() + " to " + out.str(); }
};

std::vector<Choice> choices(const Problem& p, const ConvShape& c) {
  const bool few = groups_of(c) == 1 && c.input[1] <= kImageChannels;
  std::vector<Choice> list;
  for (const Layout layout : p.layouts(DType::kFloat32, c.input)) {
    // The few kernels that oneDNN has for groups in it are no match for group_conv and depthwise_conv.
    if (layout.is_channels_last() && groups_of(c) > 1) continue;
    if (layout.is_blocked() && few) list.push_back({{}, layout});
    list.push_back({layout, layout});
  }
  return list;
}

/// The weights of the output channels of a part, and their descriptor.
std::pair<Tensor, memory::desc> weights_of(const ConvShape& c, const Tensor& all, const Box& part) {
  Shape kernel = c.weights;
  const int64_t groups = groups_of(c),
                first = groups == 1 ? part.begin[1] : part.begin[1] / (c.output[1] / groups);
  kernel[0] = groups == 1 ? part.size[1] : part.size[1] / (c.output[1] / groups);
  const float* from = all.data<float>() + first * c.weights.numel(1, c.weights.size());
  return {Tensor::view(DType::kFloat32, kernel, from, nullptr), memory_desc(kernel, {})};
}

/// Products of one group after the other have a row for each of its results: few fill no kernel (24 times
/// as slow as blocks of channels where they are single, on AVX2).
double efficiency_of(ImplementationRank rank, int64_t group_outputs) {
  constexpr double kFull = 8;
  if (rank == ImplementationRank::kProducts)
    return 0.3 * std::min(1.0, static_cast<double>(group_outputs) / kFull);
  return rank == ImplementationRank::kTailored ? 0.8 : 0.01;
}

/// The factor of efficiency_of() that is the implementation's own: less than 1 for oneDNN's direct kernel for
/// AVX2, which adds up windows of eight channels for three pixels of a row at a time, and loads and stores
/// these sums before and after: little work for each where a window has few taps, and less with short rows.
/// With channels last it is as fast as with blocks where all channels are one pass. Fitted to 134
/// convolutions of 16 to 1,024 channels on rows of 4 to 112 results.
double share_of(std::string_view implementation, const ConvShape& c, const Layout& in) {
  constexpr double kStart = 4.5;  // a row costs as much as this many results more
  constexpr int64_t kManyTaps = 25, kOnePass = 32, kBlock = 8;
  if (implementation != "jit:avx2" || groups_of(c) > 1 || !(in.is_blocked() || in.is_channels_last()))
    return 1;
  const int64_t row = c.output.back(), taps = c.weights.numel(2, c.weights.size());
  // Columns of pixels: 508 x 1 of 256 channels take 3.0 times as long as at the processor's peak.
  if (row == 1) return 0.4;
  const double started = static_cast<double>(row) / (static_cast<double>(row) + kStart);
  if (taps == 1) return 0.39 * started;
  const bool many = taps >= kManyTaps;
  double share = started * (many ? 1.06 : 0.96) * (c.strides.back() > 1 ? 0.92 : 1);
  const int64_t channels = c.input[1];
  if (in.is_blocked())  // the last block is filled up
    share *= static_cast<double>(channels) / static_cast<double>((channels + kBlock - 1) / kBlock * kBlock);
  else if (std::max(channels, c.output[1]) > kOnePass)
    share *= many ? 0.94 : 0.72;
  return share;
}

/// What oneDNN says of a problem.
struct Answer {
  std::string implementation;  ///< empty: it has none
  PackedWeights weights;
  EpilogueSpec spec;
  int64_t scratch = 0;
};

std::string question(const ConvShape& c, const Choice& choice, const EpilogueSpec& spec) {
  std::string text = fmt::format("dnnl_conv {} {} {} {} {} {} {} {} {}", c.input.str(), c.output.str(),
                                 c.weights.str(), Shape(c.strides).str(), Shape(c.dilations).str(),
                                 Shape(c.begin).str(), Shape(c.end).str(), c.has_bias, choice.str());
  for (const EpilogueSpec::Entry& e : spec.entries)
    text += fmt::format(" | {} {} {} {} {} {} {}", static_cast<int>(e.op), e.a, e.b, e.position,
                        e.shape.str(), e.format.str(), e.may_accumulate);
  return text;
}

Answer ask(const ConvShape& c, const Choice& choice, const std::vector<Box>& parts, EpilogueSpec spec) {
  const Describe describe_part{c, choice.in, choice.out};
  try {
    const FusedParts<ConvForward::primitive_desc> made(parts, spec, c.output, -1, describe_part, weights_key);
    const int64_t scratch = settle_accumulation(spec, made, parts, c.output, describe_part, weights_key);
    return {made.descriptors[0].impl_info_str(), made.weights, std::move(spec), scratch};
  } catch (const dnnl::error&) {
    return {};
  }
}

/// Returns why not, or nothing.
std::string add_candidate(const Problem& p, const ConvShape& images, const Choice& choice,
                          Proposals& proposals) {
  const Region& region = p.region();
  const EpilogueSpec wanted = epilogue_spec(p, region.epilogue, choice.out, 3);
  const ConvShape c = in_one_column(images, choice.out, wanted);
  const std::vector<Box> parts = parts_of(c, choice.in, choice.out, p.config().threads);
  if (choice.out.is_channels_last() && c.weights.numel() > c.output[1] * c.input[1] &&
      parts[0].size[parts[0].size.size() - 1] > kLongestRow)
    return fmt::format("oneDNN would take long to answer about rows of more than {}", kLongestRow);
  const Answer& made = p.config().memo->get<Answer>(question(c, choice, wanted),
                                                    [&] { return ask(c, choice, parts, wanted); });
  if (made.implementation.empty()) return "oneDNN has no implementation";
  Candidate& b = proposals.add(choice.str(), NumericsClass::kReassociated);
  b.add_input(p.node().input(0), choice.in);
  const UnalignedTensor& weights = *p.input_constant(1);
  b.add_constant(p.node().input(1)->name(), weights, "convolution in " + made.weights.str(),
                 [weights, packed = made.weights, c, parts] {
                   const Tensor all = weights.aligned();
                   return packed.pack([&](int64_t channel) {
                     const auto part = std::find_if(parts.begin(), parts.end(),
                                                    [&](const Box& x) { return weights_key(x) == channel; });
                     return weights_of(c, all, *part);
                   });
                 });
  c.has_bias ? b.add_input(p.node().input(2)) : b.skip_input();
  b.add_output(region.output(), choice.out);
  b.write(
      StepFields{.weights = c.weights.dims(),
                 .window = {.strides = c.strides, .dilations = c.dilations, .begin = c.begin, .end = c.end}});
  b.write(DnnlFields{.threads = p.config().threads, .implementation = made.implementation});
  b.step.scratch_bytes = made.scratch;
  write_epilogue(region.epilogue, made.spec, b);
  // Whole vectors of channels are computed.
  const int64_t filled = (c.output[1] + kFilledChannels - 1) / kFilledChannels * kFilledChannels,
                channels = groups_of(c) == 1 ? filled : c.output[1];
  const auto products = static_cast<double>(c.output.numel() / c.output[1] * channels) *
                        static_cast<double>(c.weights.numel()) / static_cast<double>(c.output[1]);
  // The few weights of groups are read beside the images.
  const double efficiency =
      efficiency_of(rank_implementation(made.implementation), c.output[1] / groups_of(c)) *
      share_of(made.implementation, c, choice.in);
  const auto weight_bytes = 4.0 * static_cast<double>(c.weights.numel());
  b.estimate = groups_of(c) == 1 ? estimate_with_weights(2 * products, weight_bytes, efficiency)
                                 : estimate_seconds(2 * products, weight_bytes, efficiency);
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const ConvShape c = shape_of(p);
  std::string refusal;
  for (const Choice& choice : choices(p, c)) {
    if (!p.wants(choice.str())) continue;
    if (std::string reason = add_candidate(p, c, choice, proposals); !reason.empty())
      refusal = std::move(reason);
  }
  return proposals.candidates().empty() ? refusal : std::string();
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, StepReader::kAnyNumber, 1, StepReader::May::kComputeInPlace);
  const ConvShape images = shape_of(r);
  const Layout in = r.input(0).layout, out = r.output(0).layout;
  StepReader::check(in == out || (in.is_row() && out.is_blocked()), "it reads {} and writes {}", in.str(),
                    out.str());
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  const EpilogueSpec spec = post_op_spec(r, 3, images.output, out);
  const ConvShape c = in_one_column(images, out, spec);
  const Describe describe_part{c, in, out};
  const auto bind = [&](DnnlKernel& kernel, const ConvForward::primitive_desc& pd, const Box& part) {
    kernel.add_primitive(ConvForward(pd));
    kernel.add_input(DNNL_ARG_SRC, pd.src_desc(), 0,
                     part_offset(c.input, in, input_part(c, part).box) * kWidth);
    if (c.has_bias) kernel.add_input(DNNL_ARG_BIAS, pd.bias_desc(), 2, part.begin[1] * kWidth);
    kernel.add_output(DNNL_ARG_DST, pd.dst_desc(), 0, part_offset(c.output, out, part) * kWidth);
  };
  return make_fused_kernel<ConvForward::primitive_desc>(r, spec, c.output,
                                                        parts_of(c, in, out, r.read<DnnlFields>().threads),
                                                        true, describe_part, weights_key, bind);
}

}  // namespace

constinit const TacticDef def = {
    .name = "dnnl_conv",
    .summary = "oneDNN's convolutions, in every layout",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = dnnl_kernel<create>},
};

}  // namespace assay::engine::tactic_dnnl_conv
