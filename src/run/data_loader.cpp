#include "run/data_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/diagnostics.h"
#include "base/guess.h"
#include "base/name_pattern.h"
#include "base/python_repr.h"
#include "base/similar_name.h"
#include "base/wording.h"
#include "graph/metadata_text.h"
#include "tensor/convert.h"
#include "tensor/random.h"

namespace assay {
namespace {

constexpr int64_t kLargestSeed = 0xffffffff;

bool is_dynamic(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return !d.is_known(); });
}

/// Polygraphy's rule for a shape that the user gives: the same rank, and equal extents where the model has
/// numbers.
bool may_override(const Dims& user, const Dims& model) {
  if (user.size() != model.size()) return false;
  for (size_t i = 0; i < user.size(); ++i)
    if (model[i].is_known() && !model[i].same_as(user[i])) return false;
  return true;
}

bool matches(const std::string& name, const std::string& pattern) {
  return NamePattern(pattern).matches(name);
}

bool has_wildcard(const std::string& name) {
  return name.starts_with(kRegexPrefix) || name.find_first_of("*?[]!") != std::string::npos;
}

std::string list_text(const Shape& shape) { return python_list_repr(std::span<const int64_t>(shape.dims())); }

std::string set_text(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : ", ") + python_str_repr(n);
  return "{" + out + "}";
}

/// A shape tensor: Polygraphy uses the user's extents
/// as its values when their number equals its elements.
bool is_shape_tensor(const TensorInfo& input, const Dims& user) {
  const std::optional<Dims>& dims = input.type.dims;
  if (!is_integer(input.type.dtype) || !dims || dims->size() != 1 || is_dynamic(*dims) || is_dynamic(user))
    return false;
  return static_cast<int64_t>(user.size()) == (*dims)[0].value();
}

/// The type to draw in: NumPy's own where it has the type, else one that holds every value of it.
DType drawing_type(DType t) {
  switch (t) {
    case DType::kInt4:
    case DType::kInt2:
      return DType::kInt8;
    case DType::kUInt4:
    case DType::kUInt2:
      return DType::kUInt8;
    default:
      return t;
  }
}

/// A bound, converted to the input's kind, as Python prints it.
std::string bound_text(const PythonValue& bound, DType type) {
  if (type == DType::kBool) return bound.as_double() != 0 ? "True" : "False";
  return is_integer(type) ? std::to_string(bound.as_int()) : python_float_repr(bound.as_double());
}

Tensor draw_integers(RandomState& random, const TensorInfo& input, const Shape& shape,
                     const ValueRange& range) {
  const DType type = input.type.dtype;
  const bool is_bool = type == DType::kBool;
  const int64_t low = is_bool ? range.low->as_double() != 0 : range.low->as_int();
  const int64_t high = is_bool ? range.high->as_double() != 0 : range.high->as_int();
  try {
    return convert(random.integers(drawing_type(type), shape, low, high), type);
  } catch (Error& e) {
    e.add_context({ErrorPlace::Kind::kTensor, input.name,
                   fmt::format("for input '{}' of type {}", input.name, dtype_name(type))});
    set_remedy(e, Say::kValueRange);
    throw;
  }
}

Tensor draw_numbers(RandomState& random, DType type, const Shape& shape, const ValueRange& range) {
  const double low = range.low->as_double();
  const double high = range.high->as_double();
  // Infinite bounds give infinities of their sign rather than NaN.
  const double scale = std::isinf(high) ? high : std::isinf(low) ? low : high - low;
  const double shift = std::isinf(low) ? 0 : low;
  Tensor numbers = random.doubles(shape);
  for (double& v : numbers.mutable_span<double>()) v = v * scale + shift;
  return convert(numbers, type, /*saturate=*/false);
}

}  // namespace

DataLoader::DataLoader(DataLoaderOptions options, Report report) : options_(std::move(options)) {
  const int64_t last = options_.seed + std::max<int64_t>(options_.iterations - 1, 0);
  require(options_.seed >= 0 && last <= kLargestSeed, ErrorCode::kInvalidArgument,
          "{} {}: a seed lies between 0 and {}, counted up by one for each iteration", say(Say::kNameSeed),
          options_.seed, kLargestSeed);
  if (options_.shapes.empty() || report == Report::kNo) return;
  MetadataText text;
  for (const InputShape& s : options_.shapes) text.add(s.name, s.dtype, s.dims);
  diag::info("Will generate inference input data according to provided TensorMetadata: {}", text.str());
}

std::string DataLoader::shapes_setting() const {
  return options_.shapes_option.empty() ? say(Say::kNameInputShapes) : options_.shapes_option;
}

const InputShape* DataLoader::user_shape(const std::string& input) const {
  const auto it = std::find_if(options_.shapes.rbegin(), options_.shapes.rend(),
                               [&](const InputShape& s) { return matches(input, s.name); });
  return it == options_.shapes.rend() ? nullptr : &*it;
}

ValueRange DataLoader::range_for(const std::string& input, bool is_float) const {
  const auto complete = [](const ValueRange& range, PythonValue low, PythonValue high) {
    return ValueRange{range.low.value_or(std::move(low)), range.high.value_or(std::move(high))};
  };
  if (is_float && options_.float_range) return complete(*options_.float_range, -1.0, 1.0);
  if (!is_float && options_.integer_range) return complete(*options_.integer_range, int64_t{1}, int64_t{25});
  const ValueRange *own = nullptr, *fitting = nullptr, *everywhere = nullptr;
  for (const auto& [name, range] : options_.ranges) {
    if (name == input) own = &range;
    if (matches(input, name)) fitting = &range;
    if (name.empty()) everywhere = &range;
  }
  const ValueRange* found = own != nullptr ? own : fitting != nullptr ? fitting : everywhere;
  return complete(found == nullptr ? ValueRange{} : *found, 0.0, 1.0);
}

void DataLoader::warn_about_unused_shapes(const std::vector<TensorInfo>& inputs) const {
  for (const InputShape& s : options_.shapes) {
    if (std::any_of(inputs.begin(), inputs.end(),
                    [&](const TensorInfo& i) { return matches(i.name, s.name); }))
      continue;
    std::vector<std::string> names;
    for (const TensorInfo& i : inputs) names.push_back(i.name);
    const std::string hint = spec_hint(s.name, names);
    if (has_wildcard(s.name)) {
      diag::warning(
          "Input tensor wildcard: {} | Metadata was provided, but none of the matched inputs exist in one or "
          "more runners.{}{}",
          s.name, hint.empty() ? "" : "\n", hint);
      continue;
    }
    const auto near = std::find_if(inputs.begin(), inputs.end(),
                                   [&](const TensorInfo& i) { return is_similar_name(s.name, i.name); });
    diag::warning(
        "Input tensor: {} | Metadata was provided, but the input does not exist in one or more runners.{}",
        s.name,
        near != inputs.end() ? "\nMaybe you meant to set: " + near->name + "?"
                             : (hint.empty() ? "" : "\n" + hint));
  }
}

void DataLoader::warn_about_unused_ranges(const std::vector<TensorInfo>& inputs) const {
  std::vector<std::string> extra, known, given;
  std::string hints;
  for (const TensorInfo& i : inputs) known.push_back(i.name);
  known.emplace_back();
  for (const auto& [name, range] : options_.ranges) {
    given.push_back(name);
    const NamePattern pattern(name);
    if (std::any_of(known.begin(), known.end(), [&](const auto& k) { return pattern.matches(k); })) continue;
    extra.push_back(name);
    if (const std::string hint = spec_hint(name, known); !hint.empty()) hints += "\n" + hint;
  }
  if (!extra.empty())
    diag::warning("Extra items in val_range: {}.\nNote: items requested were: {}, but all items are: {}{}",
                  set_text(extra), set_text(known), set_text(given), hints);
}

void DataLoader::require_shape_fits(const TensorInfo& input) const {
  const InputShape* user = user_shape(input.name);
  if (user == nullptr) return;
  const std::string option = shapes_setting();
  if (is_dynamic(user->dims)) {
    Error e(ErrorCode::kInvalidArgument, fmt::format("{}: {} is no shape of data for the input '{}'", option,
                                                     dims_str(user->dims), input.name));
    throw e.set_remedy("Give a number for every extent.");
  }
  if (!input.type.dims || may_override(user->dims, *input.type.dims)) return;
  if (user->name == input.name && is_shape_tensor(input, user->dims)) return;
  Error e(ErrorCode::kInvalidArgument,
          fmt::format("{}: the input '{}' cannot have the shape {}, its shape in the model is {}", option,
                      input.name, dims_str(user->dims), dims_str(*input.type.dims)));
  throw set_remedy(e, Say::kChangeInputShapes);
}

void DataLoader::require_fit(const std::vector<TensorInfo>& inputs) const {
  std::vector<std::string> names;
  std::string known;
  for (const TensorInfo& i : inputs) {
    names.push_back(i.name);
    known += (known.empty() ? "" : ", ") + python_str_repr(i.name);
  }
  const auto require_input = [&](const std::string& option, const std::string& given) {
    if (std::any_of(names.begin(), names.end(), [&](const std::string& n) { return matches(n, given); }))
      return;
    Error e(
        ErrorCode::kInvalidArgument,
        fmt::format("{} names '{}', and no input is called so; the inputs are: {}", option, given, known));
    const auto near = std::find_if(names.begin(), names.end(),
                                   [&](const std::string& n) { return is_similar_name(given, n); });
    if (given.find("],") != std::string::npos || given.find(',') != std::string::npos)
      e.set_remedy("Put blanks, not commas, between several inputs, as in x:[1,2] y:[3].");
    else if (const std::string hint = spec_hint(given, names); !hint.empty())
      e.set_remedy(hint);
    else if (near != names.end())
      e.set_remedy(fmt::format("Did you mean '{}'?", *near));
    throw e;
  };
  for (const InputShape& s : options_.shapes) require_input(shapes_setting(), s.name);
  for (const auto& [name, range] : options_.ranges)
    if (!name.empty()) require_input(say(Say::kNameValueRanges), name);
  for (const TensorInfo& input : inputs) require_shape_fits(input);
}

Dims DataLoader::shape_for(const TensorInfo& input, Report report) const {
  const InputShape* user = user_shape(input.name);
  if (!input.type.dims) {
    // Any rank is possible, so the user's is used; upstream assumes rank 0.
    if (user == nullptr && report == Report::kYes)
      diag::guess_once("Input tensor: {} | Its rank is unknown. Will generate a scalar.\n{}", input.name,
                       say(Say::kShapeOrInputs, {shapes_setting()}));
    return user == nullptr ? Dims() : user->dims;
  }
  const Dims& model = *input.type.dims;
  if (user == nullptr) return model;
  if (is_dynamic(user->dims)) {
    if (report == Report::kYes)
      diag::guess(
          "Input tensor: {} [shape={}] | Provided input shape: {} is dynamic.\n"
          "Dynamic shapes cannot be used to generate inference data. Will use default shape instead.\n"
          "To avoid this, please provide a fixed shape to the data loader. ",
          input.name, bounded_shape_text(model), bounded_shape_text(user->dims));
    return model;
  }
  if (may_override(user->dims, model)) return user->dims;
  if (report == Report::kYes)
    diag::guess_once(
        "Input tensor: {} [shape={}] | Cannot use provided custom shape: {} to override tensor shape. "
        "Will use "
        "default shape instead.",
        input.name, bounded_shape_text(model), bounded_shape_text(user->dims));
  return model;
}

Shape DataLoader::closed_shape(const TensorInfo& input, const Dims& dims, Report report) const {
  if (const auto known = known_shape(dims)) return *known;
  Shape shape;
  for (const Dim& d : dims) shape.push_back(d.is_known() ? d.value() : 1);
  if (report == Report::kYes)
    diag::guess_once(
        "Input tensor: {} [shape={}] | Will generate data of shape: {}.\n"
        "If this is incorrect, please provide a custom data loader.",
        input.name, bounded_shape_text(dims), list_text(shape));
  return shape;
}

Tensor DataLoader::draw(RandomState& random, const TensorInfo& input, Report report) const {
  const DType type = input.type.dtype;
  const bool is_whole = is_integer(type) || type == DType::kBool;
  require(type != DType::kUndefined, ErrorCode::kUnsupported,
          "the model does not say the element type of input '{}', so nothing can be drawn for it; {}",
          input.name, say(Say::kLoadInputs));
  require(!is_complex(type), ErrorCode::kUnsupported,
          "input '{}' is of type {}, which cannot be drawn at random; {}", input.name, dtype_name(type),
          say(Say::kLoadInputs));
  const InputShape* user = user_shape(input.name);
  if (user != nullptr && user->name == input.name && is_shape_tensor(input, user->dims)) {
    const Tensor values = Tensor::vector(known_shape(user->dims)->dims());
    std::string text;
    for (const int64_t v : values.span<int64_t>()) text += (text.empty() ? "" : " ") + std::to_string(v);
    if (report == Report::kYes)
      diag::once(diag::Severity::kInfo,
                 "Assuming {} is a shape tensor. Setting input values to: [{}]. If these values are not "
                 "correct, {}",
                 input.name, text, say(Say::kShapeTensorValues));
    return convert(values, type);
  }
  const Shape shape = closed_shape(input, shape_for(input, report), report);
  const ValueRange range = range_for(input.name, !is_whole);
  if (report == Report::kYes)
    diag::once(diag::Severity::kVerbose, "Input tensor: {} | Generating input data in range: [{}, {}]",
               input.name, bound_text(*range.low, type), bound_text(*range.high, type));
  return is_whole ? draw_integers(random, input, shape, range) : draw_numbers(random, type, shape, range);
}

TensorList DataLoader::load(int64_t index, const std::vector<TensorInfo>& inputs, Report report) const {
  const int64_t seed = options_.seed + index;
  if (report == Report::kYes) {
    diag::verbose("Generating data using numpy seed: {}", seed);
    warn_about_unused_shapes(inputs);
  }
  // One generator for all inputs, in their order.
  RandomState random(static_cast<uint32_t>(seed));
  TensorList tensors;
  for (const TensorInfo& input : inputs) tensors.push_back({input.name, draw(random, input, report)});
  if (report == Report::kYes) warn_about_unused_ranges(inputs);
  return tensors;
}

}  // namespace assay
