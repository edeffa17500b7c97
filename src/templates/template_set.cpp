#include "templates/template_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/similar_name.h"
#include "templates/template_list.h"

namespace assay {
namespace {

constexpr const ModelTemplate* kTemplates[] = {
#define ASSAY_TEMPLATE(name) &template_##name::def,
#include "templates/templates.def"
#undef ASSAY_TEMPLATE
};

/// `The nearest is 'a'.` or `The nearest are 'a' and 'b'.`: the templates of the smallest distance. Names
/// that contain the text, or are contained in it, count as near.
std::string nearest_names(std::string_view name) {
  const auto distance = [&](std::string_view candidate) {
    const bool contained = !name.empty() && (candidate.find(name) != std::string_view::npos ||
                                             name.find(candidate) != std::string_view::npos);
    return contained ? size_t{1} : edit_distance(candidate, name, SIZE_MAX);
  };
  size_t least = SIZE_MAX;
  for (const ModelTemplate* t : kTemplates) least = std::min(least, distance(t->name));
  std::vector<std::string> nearest;
  for (const ModelTemplate* t : kTemplates)
    if (distance(t->name) == least) nearest.push_back(fmt::format("'{}'", t->name));
  return fmt::format("The nearest {} {}.", nearest.size() == 1 ? "is" : "are", fmt::join(nearest, " and "));
}

}  // namespace

std::span<const ModelTemplate* const> all_templates() { return kTemplates; }

const ModelTemplate& find_template(std::string_view name) {
  for (const ModelTemplate* t : kTemplates)
    if (t->name == name) return *t;
  constexpr size_t kLongestName = 64;
  Error error(ErrorCode::kNotFound, fmt::format("there is no model template named '{}'", name));
  if (name.size() <= kLongestName) error.set_remedy(nearest_names(name));
  throw error;
}

std::shared_ptr<Model> build_template(const ModelTemplate& t, const TemplateOptions& options) {
  TemplateOptions complete = options;
  complete.opset = options.opset.value_or(std::clamp(kDefaultTemplateOpset, t.min_opset, t.max_opset));
  require(*complete.opset >= t.min_opset && *complete.opset <= t.max_opset, ErrorCode::kInvalidArgument,
          "the model template '{}' exists for opsets {} to {}, not for opset {}", t.name, t.min_opset,
          t.max_opset, *complete.opset);
  const int64_t batch = options.batch.value_or(1);
  require(batch >= 1 && batch <= kLargestTemplateBatch, ErrorCode::kInvalidArgument,
          "the batch of a model template must be from 1 to {}, not {}", kLargestTemplateBatch, batch);
  return t.build(complete);
}

}  // namespace assay
