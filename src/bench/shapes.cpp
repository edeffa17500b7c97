#include "bench/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include "assay/error.h"
#include "base/similar_name.h"

namespace assay::bench {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(at, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::optional<std::vector<int64_t>> parse_extents(std::string_view text) {
  std::vector<int64_t> extents;
  const bool has_brackets = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  if (has_brackets) text = text.substr(1, text.size() - 2);
  if (text.empty() || text == "scalar") return extents;
  for (const std::string& padded : split(text, has_brackets ? ',' : 'x')) {
    const size_t first = padded.find_first_not_of(' '), last = padded.find_last_not_of(' ');
    if (first == std::string::npos) return std::nullopt;
    int64_t value = 0;
    const char* const end = padded.data() + last + 1;
    const auto [stop, error] = std::from_chars(padded.data() + first, end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    extents.push_back(value);
  }
  return extents;
}

InputExtents parse_item(std::string_view option, const std::string& item) {
  const size_t colon = item.rfind(':');
  std::string_view name(item.data(), colon == std::string::npos ? 0 : colon);
  if (name.size() > 2 && name.front() == '\'' && name.back() == '\'') name = name.substr(1, name.size() - 2);
  const auto extents =
      colon == std::string::npos ? std::nullopt : parse_extents(std::string_view(item).substr(colon + 1));
  require(!name.empty() && extents.has_value(), ErrorCode::kInvalidArgument,
          "{}: could not parse '{}'. Expected NAME:EXTENTS, as in image:1x3x224x224 or image:[1,3,224,224]",
          option, item);
  return {std::string(name), *extents};
}

const InputExtents* find_input(const ShapeSet& set, std::string_view name) {
  const auto it = std::find_if(set.begin(), set.end(), [&](const InputExtents& e) { return e.name == name; });
  return it == set.end() ? nullptr : &*it;
}

void check_names(const std::vector<TensorInfo>& inputs, const ShapeSet& set) {
  std::vector<std::string_view> names;
  for (const TensorInfo& info : inputs) names.push_back(info.name);
  for (const InputExtents& e : set) {
    if (std::find(names.begin(), names.end(), e.name) != names.end()) continue;
    Error error(
        ErrorCode::kNotFound,
        fmt::format("a shape is given for '{}', which is not an input of the model; its inputs are: {}",
                    e.name, fmt::join(names, ", ")));
    if (const std::string hint = name_hint(e.name, names); !hint.empty()) error.set_remedy(hint);
    throw error;
  }
}

bool is_open(const Type& type) {
  return type.is_tensor() && (!type.has_shape() || !known_shape(*type.dims).has_value());
}

/// True when the numbers given for an input are elements: those equal to its declared shape are not.
bool are_elements(const Type& type, const std::vector<int64_t>& given) {
  return takes_elements(type) && known_shape(*type.dims)->dims() != given;
}

/// Throws Error unless these numbers are valid for the input.
void check_extents(const TensorInfo& info, const std::vector<int64_t>& given) {
  require(info.type.is_tensor(), ErrorCode::kInvalidArgument,
          "the input '{}' is of type {}, so it has no shape that could be given", info.name, info.type.str());
  if (are_elements(info.type, given)) {
    const int64_t count = known_shape(*info.type.dims)->numel();
    require(static_cast<int64_t>(given.size()) == count, ErrorCode::kInvalidArgument,
            "the input '{}' of type {} holds {} elements, not {}: {}", info.name, info.type.str(), count,
            given.size(), extents_text(given));
    return;
  }
  for (const int64_t extent : given)
    require(extent >= 0, ErrorCode::kInvalidArgument, "the input '{}' cannot have the extent {}", info.name,
            extent);
  if (!info.type.has_shape()) return;
  const Dims& dims = *info.type.dims;
  bool fits = dims.size() == given.size();
  for (size_t d = 0; fits && d < dims.size(); ++d) fits = !dims[d].is_known() || dims[d].value() == given[d];
  require(fits, ErrorCode::kInvalidArgument, "the input '{}' of shape {} cannot have the shape {}", info.name,
          dims_str(dims), extents_text(given));
}

std::vector<int64_t> declared_or_one(const Type& type) {
  std::vector<int64_t> extents;
  if (type.has_shape())
    for (const Dim& d : *type.dims) extents.push_back(d.is_known() ? d.value() : 1);
  return extents;
}

struct Bounds {
  std::vector<int64_t> min, opt, max;
};

/// A profile's bounds of one input; nothing when it has none.
std::optional<Bounds> given_bounds(const ProfileShapes& shapes, std::string_view name) {
  const InputExtents *min = find_input(shapes.min, name), *opt = find_input(shapes.opt, name),
                     *max = find_input(shapes.max, name);
  if (min == nullptr && opt == nullptr && max == nullptr) return std::nullopt;
  const InputExtents* const low = min != nullptr ? min : (opt != nullptr ? opt : max);
  const InputExtents* const best = opt != nullptr ? opt : (max != nullptr ? max : min);
  const InputExtents* const high = max != nullptr ? max : (opt != nullptr ? opt : min);
  return Bounds{low->extents, best->extents, high->extents};
}

/// The shapes of one input that runs need; nothing when none names it.
std::optional<Bounds> bounds_of_runs(const std::vector<ShapeSet>& runs, const TensorInfo& info) {
  std::optional<Bounds> bounds;
  for (const ShapeSet& run : runs) {
    const InputExtents* const e = find_input(run, info.name);
    if (e == nullptr) continue;
    check_extents(info, e->extents);
    if (!bounds) bounds = {e->extents, e->extents, e->extents};
    require(bounds->min.size() == e->extents.size(), ErrorCode::kInvalidArgument,
            "the shapes that are given for the input '{}' differ in rank: {} and {}", info.name,
            extents_text(bounds->opt), extents_text(e->extents));
    for (size_t d = 0; d < e->extents.size(); ++d) {
      bounds->min[d] = std::min(bounds->min[d], e->extents[d]);
      bounds->max[d] = std::max(bounds->max[d], e->extents[d]);
    }
  }
  return bounds;
}

OptimizationProfile make_profile(
    const std::vector<TensorInfo>& inputs, const ProfileShapes& given, const std::vector<ShapeSet>& runs,
    const std::function<void(const TensorInfo&, const std::vector<int64_t>&)>& guessed) {
  OptimizationProfile profile;
  for (const ShapeSet* set : {&given.min, &given.opt, &given.max}) check_names(inputs, *set);
  for (const TensorInfo& info : inputs) {
    std::optional<Bounds> bounds = given_bounds(given, info.name);
    if (!bounds) bounds = bounds_of_runs(runs, info);
    if (!bounds && is_open(info.type)) {
      const std::vector<int64_t> ones = declared_or_one(info.type);
      guessed(info, ones);
      bounds = {ones, ones, ones};
    }
    if (!bounds) continue;
    for (const auto* extents : {&bounds->min, &bounds->opt, &bounds->max}) check_extents(info, *extents);
    if (is_open(info.type))
      profile.set_shape(info.name, Shape(bounds->min), Shape(bounds->opt), Shape(bounds->max));
    else if (are_elements(info.type, bounds->min) || are_elements(info.type, bounds->max))
      profile.set_shape_values(info.name, bounds->min, bounds->opt, bounds->max);
  }
  return profile;
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool is_quoted = false;
  for (const char ch : text) {
    if (ch == '\'') is_quoted = !is_quoted;
    if (!is_quoted && ch == '[') ++depth;
    if (!is_quoted && ch == ']') --depth;
    if (ch == ',' && depth <= 0 && !is_quoted)
      parts.emplace_back();
    else
      parts.back() += ch;
  }
  // Allows a blank after a comma.
  for (std::string& part : parts) {
    constexpr std::string_view kBlanks = " \t\r\n";
    part.erase(std::min(part.find_last_not_of(kBlanks) + 1, part.size()));
    part.erase(0, std::min(part.find_first_not_of(kBlanks), part.size()));
  }
  return parts;
}

std::vector<ShapeSet> parse_shape_sets(std::string_view option, const std::vector<std::string>& words) {
  std::vector<ShapeSet> sets;
  for (const std::string& word : words)
    for (const std::string& item : split_list(word)) {
      InputExtents extents = parse_item(option, item);
      if (sets.empty() || find_input(sets.back(), extents.name) != nullptr) sets.emplace_back();
      sets.back().push_back(std::move(extents));
    }
  return sets;
}

ShapeSet parse_shape_set(std::string_view option, const std::vector<std::string>& words) {
  std::vector<ShapeSet> sets = parse_shape_sets(option, words);
  require(sets.size() <= 1, ErrorCode::kInvalidArgument, "{}: the input '{}' is named twice", option,
          sets.size() > 1 ? sets[1].front().name : "");
  return sets.empty() ? ShapeSet() : std::move(sets.front());
}

bool takes_elements(const Type& type) {
  return type.has_shape() && (type.dtype == DType::kInt32 || type.dtype == DType::kInt64) &&
         type.dims->size() <= 1 && known_shape(*type.dims).has_value();
}

std::vector<OptimizationProfile> make_profiles(const std::vector<TensorInfo>& inputs,
                                               const std::vector<ProfileShapes>& given,
                                               const std::vector<ShapeSet>& runs,
                                               std::vector<std::string>& warnings) {
  for (const ShapeSet& run : runs) check_names(inputs, run);
  std::vector<OptimizationProfile> profiles;
  const auto guessed = [&](const TensorInfo& info, const std::vector<int64_t>& extents) {
    if (profiles.empty())
      warnings.push_back(
          fmt::format("The input '{}' has open extents and no shape was given for it; it becomes {}. "
                      "Give its shape to run it with another.",
                      info.name, extents_text(extents)));
  };
  for (const ProfileShapes& shapes : given) profiles.push_back(make_profile(inputs, shapes, runs, guessed));
  if (profiles.empty()) profiles.push_back(make_profile(inputs, {}, runs, guessed));
  const bool needs_none =
      std::all_of(profiles.begin(), profiles.end(), [](const auto& p) { return p.ranges().empty(); });
  if (needs_none) profiles.clear();
  return profiles;
}

std::vector<InputCase> make_cases(const std::vector<TensorInfo>& inputs, const ShapeSet& run,
                                  const OptimizationProfile* profile) {
  check_names(inputs, run);
  std::vector<InputCase> cases;
  for (const TensorInfo& info : inputs) {
    require(info.type.is_tensor(), ErrorCode::kUnsupported,
            "the input '{}' is of type {}, and runs are measured on tensors only", info.name,
            info.type.str());
    InputCase c{.info = info, .shape = Shape(declared_or_one(info.type)), .elements = {}};
    const InputExtents* const given = find_input(run, info.name);
    const OptimizationProfile::Range* const range = profile != nullptr ? profile->find(info.name) : nullptr;
    if (given != nullptr) {
      check_extents(info, given->extents);
      if (are_elements(info.type, given->extents))
        c.elements = given->extents;
      else
        c.shape = Shape(given->extents);
    } else if (range != nullptr && range->holds_values) {
      c.elements = range->opt;
    } else if (range != nullptr) {
      c.shape = Shape(range->opt);
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

std::string extents_text(const std::vector<int64_t>& extents) {
  return extents.empty() ? "scalar" : fmt::format("{}", fmt::join(extents, "x"));
}

std::string cases_text(const std::vector<InputCase>& cases) {
  std::string text;
  for (const InputCase& c : cases)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", c.info.name,
                        extents_text(c.elements.empty() ? c.shape.dims() : c.elements));
  return text;
}

}  // namespace assay::bench
