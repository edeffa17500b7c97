// Convolution with its epilogue through oneDNN, in blocked layouts if its kernels use them.
#include <algorithm>
#include <numeric>

#include "engine/tactics/dnnl/dnnl_conv_kernel.h"
#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine::tactic_dnnl_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

/// Input images of so few channels are read row-major by the first layer's kernels.
constexpr int64_t kImageChannels = 4;

/// Of a result: kernels compute a multiple of them.
constexpr int64_t kFilledChannels = 16;

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

}  // namespace

constinit const TacticDef def = {
    .name = "dnnl_conv",
    .summary = "oneDNN's convolutions, in every layout",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_dnnl_conv
