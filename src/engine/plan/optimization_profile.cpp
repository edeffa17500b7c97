#include "assay/optimization_profile.h"

#include <algorithm>

#include "assay/error.h"

namespace assay {
namespace {

std::string list_text(const std::vector<int64_t>& list) { return Shape(list).str(); }

}  // namespace

void OptimizationProfile::set(Range range) {
  require(range.min.size() == range.opt.size() && range.opt.size() == range.max.size(),
          ErrorCode::kInvalidArgument,
          "the profile of input '{}' has min {}, opt {} and max {}, which differ in length", range.input,
          list_text(range.min), list_text(range.opt), list_text(range.max));
  for (size_t i = 0; i < range.min.size(); ++i) {
    require(range.min[i] <= range.opt[i] && range.opt[i] <= range.max[i], ErrorCode::kInvalidArgument,
            "the profile of input '{}' does not have min <= opt <= max in place {}: {}, {}, {}", range.input,
            i, range.min[i], range.opt[i], range.max[i]);
    require(range.holds_values || range.min[i] >= 0, ErrorCode::kInvalidArgument,
            "the profile of input '{}' has the extent {}", range.input, range.min[i]);
  }
  const auto it =
      std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.input == range.input; });
  if (it != ranges_.end())
    *it = std::move(range);
  else
    ranges_.push_back(std::move(range));
}

void OptimizationProfile::set_shape(std::string_view input, const Shape& min, const Shape& opt,
                                    const Shape& max) {
  set({.input = std::string(input),
       .holds_values = false,
       .min = min.dims(),
       .opt = opt.dims(),
       .max = max.dims()});
}

void OptimizationProfile::set_shape_values(std::string_view input, std::vector<int64_t> min,
                                           std::vector<int64_t> opt, std::vector<int64_t> max) {
  set({.input = std::string(input),
       .holds_values = true,
       .min = std::move(min),
       .opt = std::move(opt),
       .max = std::move(max)});
}

const OptimizationProfile::Range* OptimizationProfile::find(std::string_view input) const {
  for (const Range& r : ranges_)
    if (r.input == input) return &r;
  return nullptr;
}

}  // namespace assay
