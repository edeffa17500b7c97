#include "fuzz/explained.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

const Node& node(const Case& c) { return *c.model->graph->nodes()[0]; }

/// Undefined when it is left out.
Tensor input(const Case& c, size_t i) {
  const Value* v = node(c).input(i);
  if (v == nullptr || v->is_constant()) return v == nullptr ? Tensor() : v->tensor().aligned();
  const auto& fed = c.model->graph->inputs;
  return c.feed[static_cast<size_t>(std::find(fed.begin(), fed.end(), v) - fed.begin())];
}

template <typename T>
T attribute(const Case& c, std::string_view name, T otherwise) {
  const Attribute* a = node(c).find_attribute(name);
  const T* value = a == nullptr ? nullptr : a->get_if<T>();
  return value == nullptr ? otherwise : *value;
}

int64_t number(const Case& c, std::string_view name, int64_t otherwise) {
  return attribute(c, name, otherwise);
}
std::string word(const Case& c, std::string_view name) { return attribute(c, name, std::string()); }

bool any_element(const Tensor& t, bool (*f)(double)) {
  const Tensor wide = to_float64(t);
  return std::any_of(wide.span<double>().begin(), wide.span<double>().end(), f);
}

/// The element types of a Cast, or of a CastLike.
DType cast_from(const Case& c) { return input(c, 0).dtype(); }
DType cast_to(const Case& c) {
  return node(c).op_type == "Cast" ? static_cast<DType>(number(c, "to", 0)) : input(c, 1).dtype();
}

bool is_whole_type(DType t) { return is_integer(t); }

bool differs(const Comparison& seen) { return seen.outcome == Outcome::kDifferent; }
bool differs_in(const Comparison& seen, const char* output) {
  return differs(seen) && seen.text.starts_with(std::string("output ") + output + ":");
}

/// A double result that has float32's error: within the bound for arithmetic in float32.
bool is_float32_error(const Case&, const Comparison& seen) {
  return differs(seen) && seen.dtype == DType::kFloat64 && seen.float32_ratio <= 1;
}

bool is_bool_text(const Case& c, const Comparison& seen) {
  return differs(seen) && cast_from(c) == DType::kBool && cast_to(c) == DType::kString;
}
bool is_float_text(const Case& c, const Comparison& seen) {
  return differs(seen) && is_float(cast_from(c)) && cast_to(c) == DType::kString;
}
bool is_text_to_bool(const Case& c, const Comparison& seen) {
  return differs(seen) && cast_from(c) == DType::kString && cast_to(c) == DType::kBool;
}
bool is_float_to_narrow(const Case& c, const Comparison& seen) {
  return differs(seen) && is_float(cast_from(c)) && is_whole_type(cast_to(c)) && is_packed(cast_to(c));
}

bool is_nan_to_integer(const Case& c, const Comparison& seen) {
  return differs(seen) && is_float(cast_from(c)) && is_integer(cast_to(c)) &&
         any_element(input(c, 0), [](double v) { return std::isnan(v); });
}
bool is_least_e8m0(const Case& c, const Comparison& seen) {
  return differs(seen) && cast_from(c) == DType::kFloat8E8M0 &&
         any_element(input(c, 0), [](double v) { return v == 0x1p-127; });
}
bool is_beyond_largest_float8(const Case& c, const Comparison& seen) {
  if (!differs(seen) || cast_to(c) != DType::kFloat8E4M3FN || attribute(c, "saturate", int64_t{1}) != 0)
    return false;
  return any_element(input(c, 0), [](double v) { return std::fabs(v) > 464 && std::fabs(v) < 512; });
}

bool is_col2im_of_other_rank(const Case& c, const Comparison& seen) {
  return differs(seen) && input(c, 1).numel() != 2;
}

bool is_string_gather(const Case& c, const Comparison& seen) {
  return differs(seen) && input(c, 0).dtype() == DType::kString;
}

bool is_cubic_border(const Case& c, const Comparison& seen) {
  const std::string mode = word(c, "mode");
  return differs(seen) && (mode == "cubic" || mode == "bicubic") && word(c, "padding_mode") == "border" &&
         any_element(input(c, 1), [](double x) { return std::abs(x) > 1; });
}

bool is_causal_with_past(const Case& c, const Comparison& seen) {
  return differs(seen) && number(c, "is_causal", 0) == 1 && input(c, 4).defined();
}

/// A query that a boolean mask, with what is_causal hides, may leave no key.
bool is_masked_query(const Case& c, const Comparison& seen) {
  const Tensor mask = input(c, 3);
  if (!differs(seen) || !mask.defined() || mask.dtype() != DType::kBool) return false;
  const std::span<const bool> keys = mask.span<bool>();
  const auto row = static_cast<size_t>(mask.shape().back());
  for (size_t i = 0; i < keys.size(); i += row) {
    const auto seen_keys = std::count(keys.begin() + static_cast<std::ptrdiff_t>(i),
                                      keys.begin() + static_cast<std::ptrdiff_t>(i + row), true);
    if (seen_keys == 0 || (number(c, "is_causal", 0) == 1 && seen_keys < mask.shape().back())) return true;
  }
  return false;
}

bool is_valid_ceil_pool(const Case& c, const Comparison& seen) {
  return differs(seen) && word(c, "auto_pad") == "VALID" && number(c, "ceil_mode", 0) == 1;
}

bool is_fraction(const Case& c, const Comparison& seen) {
  return differs(seen) && is_float(input(c, 0).dtype()) &&
         any_element(input(c, 0), [](double x) { return x != std::trunc(x); });
}

/// Some kernel, dilated, is shorter than the stride.
bool is_same_pad_of_gaps(const Case& c, const Comparison& seen) {
  if (!differs(seen) || !word(c, "auto_pad").starts_with("SAME")) return false;
  const Shape kernel = input(c, 1).shape();
  const auto strides = attribute(c, "strides", std::vector<int64_t>()),
             dilations = attribute(c, "dilations", std::vector<int64_t>());
  for (size_t i = 0; i < strides.size(); ++i)
    if ((kernel[i + 2] - 1) * dilations[i] + 1 < strides[i]) return true;
  return false;
}

/// A pooling window, dilated, that is shorter than its stride, so that what SAME pads is negative.
bool is_same_pool_of_gaps(const Case& c, const Comparison& seen) {
  if (!differs(seen) || !word(c, "auto_pad").starts_with("SAME")) return false;
  const auto kernel = attribute(c, "kernel_shape", std::vector<int64_t>()),
             strides = attribute(c, "strides", std::vector<int64_t>()),
             dilations = attribute(c, "dilations", std::vector<int64_t>(kernel.size(), 1));
  for (size_t i = 0; i < kernel.size(); ++i)
    if ((kernel[i] - 1) * dilations[i] + 1 < strides[i]) return true;
  return false;
}

bool is_gemm_over_nothing(const Case& c, const Comparison& seen) {
  const Tensor a = input(c, 0);
  return differs(seen) && a.dim(number(c, "transA", 0) != 0 ? 0 : 1) == 0 && attribute(c, "beta", 1.0f) != 1;
}

/// The error is what the difference E[x^2] - E[x]^2 costs: the bound times how much the mean outweighs the
/// variance in some group.
bool is_variance_by_difference(const Case& c, const Comparison& seen) {
  const Tensor x = to_float64(input(c, 0));
  const int64_t groups = x.dim(0) * number(c, "num_groups", 1), count = groups == 0 ? 0 : x.numel() / groups;
  double worst = 0;
  for (int64_t g = 0; g < groups && count > 0; ++g) {
    const double* from = x.data<double>() + g * count;
    double mean = 0, variance = attribute(c, "epsilon", 1e-5f);
    for (int64_t i = 0; i < count; ++i) mean += from[i] / static_cast<double>(count);
    for (int64_t i = 0; i < count; ++i)
      variance += (from[i] - mean) * (from[i] - mean) / static_cast<double>(count);
    worst = std::max(worst, mean * mean / variance);
  }
  return differs(seen) && seen.ratio <= worst;
}

/// A scale for which the extent is not a whole number before it is cut off.
bool is_fractional_extent(const Case& c, const Comparison& seen) {
  const Tensor x = input(c, 0), scales = input(c, node(c).inputs().size() > 2 ? 2 : 1);
  const std::string mode = word(c, "coordinate_transformation_mode");
  if (!differs(seen) || (mode != "align_corners" && mode != "pytorch_half_pixel") || !scales.defined())
    return false;
  for (size_t i = 0; i < x.shape().size() && static_cast<int64_t>(i) < scales.numel(); ++i) {
    const double extent = static_cast<double>(x.dim(i)) * static_cast<double>(scales.data<float>()[i]);
    // pytorch_half_pixel asks only whether the length is above 1.
    if (extent != std::floor(extent) && (mode == "align_corners" || std::floor(extent) == 1)) return true;
  }
  return false;
}

bool is_crash_over_nothing(const Case& c, const Comparison& seen) {
  if (seen.outcome != Outcome::kCrashed) return false;
  for (size_t i = 0; i < node(c).inputs().size(); ++i)
    if (input(c, i).numel() == 0) return true;
  return false;
}

/// Twice the bound at most, in float32.
bool is_rough_tanh(const Case&, const Comparison& seen) {
  return differs(seen) && seen.dtype == DType::kFloat32 && seen.ratio <= 2;
}

bool is_product_over_nothing(const Case& c, const Comparison& seen) {
  return differs(seen) && input(c, 0).shape().back() == 0;
}

bool is_nan_of_differences(const Case&, const Comparison& seen) {
  return differs(seen) && seen.text.find("nan instead of") != std::string::npos;
}

bool is_empty_reduction(const Case& c, const Comparison& seen) {
  return differs(seen) && input(c, 0).numel() == 0;
}

bool is_mean_of_no_integers(const Case& c, const Comparison& seen) {
  return seen.outcome == Outcome::kOnlyOther && input(c, 0).numel() == 0 &&
         is_whole_type(input(c, 0).dtype());
}

bool is_beyond_ascii(const Case& c, const Comparison& seen) {
  const std::span<const std::string> texts = input(c, 0).span<std::string>();
  return differs(seen) && word(c, "locale") == "C" && word(c, "case_change_action") != "NONE" &&
         std::any_of(texts.begin(), texts.end(), [](const std::string& s) {
           return std::any_of(s.begin(), s.end(), [](char x) { return x < 0; });
         });
}

bool is_whole_logarithm(const Case& c, const Comparison& seen) {
  return differs(seen) && is_whole_type(input(c, 0).dtype()) && input(c, 0).numel() > 0;
}

bool is_whole_interpolation(const Case& c, const Comparison& seen) {
  return differs(seen) && is_whole_type(input(c, 0).dtype()) && word(c, "mode") != "nearest" &&
         !word(c, "mode").empty();
}

bool is_backward_slice_to_largest(const Case& c, const Comparison& seen) {
  if (!differs(seen) || !input(c, 2).defined() || !input(c, 4).defined()) return false;
  const std::vector<int64_t> ends = input(c, 2).to_int64(), steps = input(c, 4).to_int64();
  for (size_t i = 0; i < ends.size() && i < steps.size(); ++i)
    if (steps[i] < 0 && (ends[i] == INT64_MAX || ends[i] == INT32_MAX)) return true;
  return false;
}

bool is_empty_text_split(const Case& c, const Comparison& seen) {
  const std::span<const std::string> texts = input(c, 0).span<std::string>();
  return differs(seen) && !word(c, "delimiter").empty() &&
         std::find(texts.begin(), texts.end(), "") != texts.end();
}

size_t label_count(const Case& c) {
  return std::max(attribute(c, "classlabels_int64s", std::vector<int64_t>()).size(),
                  attribute(c, "classlabels_strings", std::vector<std::string>()).size());
}
bool is_two_weighed_classes(const Case& c, const Comparison& seen) {
  const auto ids = attribute(c, "class_ids", std::vector<int64_t>());
  return differs_in(seen, "0") && label_count(c) == 2 && std::count(ids.begin(), ids.end(), 1) > 0;
}
bool is_binary_softmax(const Case& c, const Comparison& seen) {
  const auto ids = attribute(c, "class_ids", std::vector<int64_t>());
  return differs_in(seen, "1") && label_count(c) == 2 && word(c, "post_transform").starts_with("SOFTMAX") &&
         std::count(ids.begin(), ids.end(), 0) == static_cast<std::ptrdiff_t>(ids.size());
}
/// Some leaf has no weight of some class.
bool has_unweighed_class(const Case& c) {
  const auto ids = attribute(c, "class_ids", std::vector<int64_t>());
  const auto modes = attribute(c, "nodes_modes", std::vector<std::string>());
  const auto leaves = static_cast<size_t>(std::count(modes.begin(), modes.end(), "LEAF"));
  return ids.size() < leaves * label_count(c);
}
bool is_unweighed_class(const Case& c, const Comparison& seen) {
  return differs_in(seen, "0") && label_count(c) > 2 && has_unweighed_class(c);
}
bool is_unweighed_softmax(const Case& c, const Comparison& seen) {
  return differs_in(seen, "1") && word(c, "post_transform") == "SOFTMAX" && has_unweighed_class(c);
}

constexpr Explained kExplained[] = {
#define FUZZ_EXPLAINED(name, backend, subjects, applies, reason, subject, round) \
  {#name, #backend, subjects, applies, reason, subject, round},
#include "fuzz/explained.def"
#undef FUZZ_EXPLAINED
};

bool matches(const char* patterns, const std::string& subject) {
  std::istringstream words(patterns);
  for (std::string pattern; words >> pattern;)
    if (fnmatch(pattern.c_str(), subject.c_str(), 0) == 0) return true;
  return false;
}

}  // namespace

std::span<const Explained> explained() { return kExplained; }

const Explained* find_explained(const Case& c, const Comparison& seen, const std::string& backend,
                                const std::string& subject) {
  for (const Explained& e : kExplained)
    if (backend == e.backend && matches(e.subjects, subject) && e.applies(c, seen)) return &e;
  return nullptr;
}

}  // namespace assay::fuzz
