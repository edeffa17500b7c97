// The sum of two convolutions of one value becomes one convolution: the smaller kernel is added to the larger
// one, within which it lies. So do the value itself and its batch normalization, which are convolutions of
// one element. Networks that are trained with parallel branches (Ding et al. 2021, "RepVGG") have such sums.
#include "analysis/channel_constants.h"
#include "analysis/extents.h"
#include "analysis/match.h"
#include "analysis/stored_weights.h"
#include "passes/pass_list.h"
#include "tensor/convert.h"

namespace assay::pass_merge_convolutions {
namespace {

/// A summand: a convolution with all that its nodes say, lists as long as there are spatial dimensions.
struct Branch {
  const Node* node = nullptr;  ///< null: the value itself
  Value* x = nullptr;
  const UnalignedTensor* weight = nullptr;  ///< [results, terms of a group, kernel...]; null: no Conv
  std::vector<double> factors, bias;        ///< one per channel; factors only where there is no weight
  std::vector<int64_t> kernel, strides, dilations, begins;
};

/// A list of a Conv; empty when it is not that long.
std::vector<int64_t> list_of(const Node& n, std::string_view name, size_t size, int64_t otherwise) {
  std::vector<int64_t> list = ints_attribute(n, name);
  if (list.empty()) list.assign(size, otherwise);
  return list.size() == size ? list : std::vector<int64_t>();
}

std::optional<Branch> convolution(const Node& n, const PassContext& context) {
  const std::optional<LinearNode> linear = linear_node(n);
  // A weight with another use would be there twice.
  if (!is_op(n, "Conv") || !linear || is_kept_stored(n.input(1)) || context.sole_consumer(n.input(1)) != &n ||
      string_attribute(n, "auto_pad", "NOTSET") != "NOTSET")
    return std::nullopt;
  const Shape& shape = linear->weight->shape();
  const size_t rank = shape.size() - 2;
  Branch b{.node = &n, .x = n.input(0), .weight = linear->weight};
  b.bias = linear->bias != nullptr ? to_doubles(*linear->bias)
                                   : std::vector<double>(static_cast<size_t>(linear->channels));
  b.kernel.assign(shape.begin() + 2, shape.end());
  b.strides = list_of(n, "strides", rank, 1);
  b.dilations = list_of(n, "dilations", rank, 1);
  const std::vector<int64_t> pads = list_of(n, "pads", 2 * rank, 0);
  if (list_of(n, "kernel_shape", rank, 0).empty() || b.strides.empty() || b.dilations.empty() || pads.empty())
    return std::nullopt;
  for (const int64_t p : pads)
    if (p < 0) return std::nullopt;
  for (size_t d = 0; d < rank; ++d)
    if (b.strides[d] < 1 || b.dilations[d] < 1) return std::nullopt;
  b.begins.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  return b;
}

/// Where the smaller kernel begins in the larger one; nothing unless it lies within and meets the same
/// elements.
std::optional<std::vector<int64_t>> place_in(const Branch& large, const Branch& small) {
  std::vector<int64_t> place;
  for (size_t d = 0; d < large.kernel.size(); ++d) {
    const int64_t k = small.kernel[d], dilation = large.dilations[d];
    if (small.strides[d] != large.strides[d] || (k > 1 && small.dilations[d] != dilation))
      return std::nullopt;
    const int64_t before = large.begins[d] - small.begins[d];
    if (before < 0 || before % dilation != 0 || before / dilation + k > large.kernel[d]) return std::nullopt;
    place.push_back(before / dilation);
  }
  return place;
}

/// Where the elements of a window of extents `inner` lie in one of extents `outer` that it stands in at
/// `place`.
std::vector<int64_t> places_in_window(const std::vector<int64_t>& inner, const std::vector<int64_t>& outer,
                                      const std::vector<int64_t>& place) {
  std::vector<int64_t> places = {0};
  for (size_t d = 0; d < inner.size(); ++d) {
    std::vector<int64_t> longer;
    for (const int64_t p : places)
      for (int64_t k = 0; k < inner[d]; ++k) longer.push_back(p * outer[d] + place[d] + k);
    places = std::move(longer);
  }
  return places;
}

/// Adds the smaller kernel to the larger one, in float64.
std::optional<Tensor> sum_of_weights(const Branch& large, const Branch& small,
                                     const std::vector<int64_t>& place) {
  Tensor sum = to_float64(*large.weight);
  auto* const to = sum.mutable_data<double>();
  const int64_t results = sum.dim(0), terms = sum.dim(1), window = sum.numel() / (results * terms);
  const std::vector<int64_t> places = places_in_window(small.kernel, large.kernel, place);
  if (small.weight == nullptr) {
    for (int64_t c = 0; c < results; ++c)
      to[(c * terms + c % terms) * window + places[0]] += small.factors[static_cast<size_t>(c)];
  } else {
    const Tensor wide = to_float64(*small.weight);
    const auto* from = wide.data<double>();
    for (int64_t i = 0; i < results * terms; ++i)
      for (const int64_t p : places) to[i * window + p] += *from++;
  }
  const std::span<const double> numbers = sum.span<double>();
  const std::vector<double> all(numbers.begin(), numbers.end());
  if (!are_in_range(all, large.weight->dtype())) return std::nullopt;
  return convert(sum, large.weight->dtype());
}

/// The kernel of one element that `v` is of the input of `conv`: that input itself, or its batch
/// normalisation.
std::optional<Branch> element_of(Value* v, const Branch& conv, const PassContext& context) {
  const auto channels = static_cast<size_t>(conv.weight->dim(0));
  if (conv.weight->dim(1) * int_attribute(*conv.node, "group", 1) != conv.weight->dim(0)) return std::nullopt;
  const std::vector<int64_t> ones(conv.kernel.size(), 1), zeros(conv.kernel.size(), 0);
  Branch b{.x = conv.x, .kernel = ones, .strides = ones, .dilations = ones, .begins = zeros};
  if (v == conv.x) {
    b.factors.assign(channels, 1);
    b.bias.assign(channels, 0);
    return b;
  }
  b.node = v->producer();
  if (b.node == nullptr || b.node->input(0) != conv.x || context.sole_consumer(v) == nullptr)
    return std::nullopt;
  std::optional<ChannelAffine> norm = normalization_of(*b.node);
  if (!norm || norm->factors.size() != channels) return std::nullopt;
  b.factors = std::move(norm->factors);
  b.bias = std::move(norm->shifts);
  return b;
}

/// The convolution of `v`, a value that nobody else wants.
std::optional<Branch> convolution_of(const Value* v, const PassContext& context) {
  return v != nullptr && v->producer() != nullptr && context.sole_consumer(v) != nullptr
             ? convolution(*v->producer(), context)
             : std::nullopt;
}

/// Whether both look at one value, with kernels of one type over the same channels.
bool are_addable(const Branch& large, const Branch& small) {
  if (small.x != large.x) return false;
  if (small.weight == nullptr) return true;
  const UnalignedTensor &a = *large.weight, &b = *small.weight;
  return a.dtype() == b.dtype() && a.rank() == b.rank() && a.dim(0) == b.dim(0) && a.dim(1) == b.dim(1) &&
         int_attribute(*large.node, "group", 1) == int_attribute(*small.node, "group", 1);
}

struct Merge {
  Branch large, small;
  Tensor weight;
  std::vector<double> bias;
};

/// Nothing where the smaller kernel is not within the larger one, a sum leaves the range of the type, or does
/// away with a rounding.
std::optional<Merge> merged(Branch large, Branch small) {
  if (!are_addable(large, small)) return std::nullopt;
  const std::optional<std::vector<int64_t>> place = place_in(large, small);
  if (!place) return std::nullopt;
  const DType dtype = large.weight->dtype();
  std::vector<double> bias = large.bias;
  for (size_t c = 0; c < bias.size(); ++c) {
    if (!is_no_rounding_trick(bias[c], small.bias[c], dtype)) return std::nullopt;
    bias[c] += small.bias[c];
  }
  std::optional<Tensor> weight = sum_of_weights(large, small, *place);
  if (!weight || !are_in_range(bias, dtype)) return std::nullopt;
  return Merge{std::move(large), std::move(small), *std::move(weight), std::move(bias)};
}

std::optional<Merge> merge_of(Value* a, Value* b, const PassContext& context) {
  if (a == nullptr || b == nullptr || a == b || !same_dims(a, b)) return std::nullopt;
  const std::optional<Branch> of_a = convolution_of(a, context), of_b = convolution_of(b, context);
  for (const bool turned : {false, true}) {
    const std::optional<Branch>& large = turned ? of_b : of_a;
    if (!large) continue;
    std::optional<Branch> small = turned ? of_a : of_b;
    if (!small) small = element_of(turned ? a : b, *large, context);
    if (!small) continue;
    if (std::optional<Merge> both = merged(*large, *std::move(small))) return both;
  }
  return std::nullopt;
}

/// Adds the convolution that both summands are; `output` is null for a fresh one.
Patch::Ref add_merged(Patch& patch, const Merge& m, const std::string& name, Value* output) {
  const Node& conv = *m.large.node;
  patch.remove(conv);
  if (m.small.node != nullptr) patch.remove(*m.small.node);
  AttributeList attributes;
  for (const Attribute& a : conv.attributes) attributes.emplace_back(a.name, a.data);
  return patch.add("Conv",
                   {m.large.x, patch.constant(conv.input(1)->name() + "/merged", m.weight),
                    patch.constant(name + "/bias", float_vector(m.bias, m.large.weight->dtype()))},
                   std::move(attributes), output, output == nullptr ? conv.output(0)->type : Type());
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Add") || n.input(0) == nullptr || n.input(1) == nullptr) return std::nullopt;
  Value *const a = n.input(0), *const b = n.input(1);
  const std::string& name = n.output(0)->name();
  if (const std::optional<Merge> m = merge_of(a, b, context)) {
    Patch patch(n);
    add_merged(patch, *m, name, n.output(0));
    patch.remove(n);
    return patch;
  }
  // (p + a) + b, where a and b become one.
  for (const bool turned : {false, true}) {
    Value *const sum = turned ? b : a, *const other = turned ? a : b;
    const Node* inner = producer_of(sum, "Add");
    if (inner == nullptr || context.sole_consumer(sum) != &n || !same_dims(sum, other)) continue;
    for (const size_t i : {0, 1}) {
      const std::optional<Merge> m = merge_of(inner->input(i), other, context);
      if (!m || inner->input(1 - i) == inner->input(i)) continue;
      Patch patch(n);
      const Patch::Ref merged = add_merged(patch, *m, name, nullptr);
      patch.remove(*inner);
      patch.remove(n);
      patch.add("Add", {inner->input(1 - i), merged}, {}, n.output(0));
      return patch;
    }
  }
  return std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_convolutions",
    .summary =
        "a sum of convolutions of one value, or of one and the value or its normalisation, becomes one",
    .conditions =
        "Convolutions of one value, not from integers (DequantizeLinear), with the same strides, dilations "
        "(where the kernel has more than one "
        "element), groups and type, explicit padding that is not negative, and constant weights and biases "
        "that nobody else uses, the smaller kernel within the larger one; or the value itself or its "
        "normalisation. Sums of weights and biases are finite; no two biases cancel that round on purpose. "
        "What "
        "is computed on the way stays in the range of the type; inputs are finite, or the result may be "
        "infinite where infinities met as NaN.",
    .match = match,
};

}  // namespace assay::pass_merge_convolutions
