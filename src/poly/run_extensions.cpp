#include "poly/run_extensions.h"

#include <algorithm>
#include <string_view>

#include "assay/error.h"

namespace assay::poly {
namespace {

std::string_view first_name(const char* names) {
  const std::string_view all(names);
  return all.substr(0, all.find(' '));
}

/// Every option that modules add, by its first name.
std::vector<std::string> options_of(const extension::Registries& registries) {
  std::vector<std::string> names;
  for (const auto& module : registries.extensions) {
    for (const AssayLoader& l : module->loaders())
      if (l.option != nullptr) names.emplace_back(l.option);
    for (const AssayOptionGroup& g : module->option_groups())
      for (uint64_t i = 0; i < g.option_count; ++i) names.emplace_back(first_name(g.options[i]->names));
  }
  return names;
}

}  // namespace

/// The run's options for modules: their own, and the running backends.
class RunModules::View final : public extension::Args {
 public:
  View(const RunSettings& settings, const extension::Registries& registries)
      : options_(settings.extensions.options), known_(options_of(registries)) {
    for (const Backend* b : registries.backends.all()) {
      const std::string flag = "--" + std::string(b->option);
      known_.push_back(flag);
      const bool runs = std::any_of(settings.runners.begin(), settings.runners.end(),
                                    [&](const RunRunner& r) { return r.backend == b->name; });
      if (runs) options_.emplace_back(flag, std::vector<std::string>());
    }
    for (const auto& [name, words] : options_)
      require(is_known(name), ErrorCode::kInvalidArgument, "no module of the run has the option {}", name);
  }

  bool has(std::string_view option) const override { return find(option) != nullptr; }
  std::vector<std::string> words(std::string_view option) const override {
    const auto* found = find(option);
    return found != nullptr ? *found : std::vector<std::string>();
  }

 private:
  bool is_known(std::string_view option) const {
    return std::find(known_.begin(), known_.end(), option) != known_.end();
  }
  /// Its last occurrence.
  const std::vector<std::string>* find(std::string_view option) const {
    const auto it =
        std::find_if(options_.rbegin(), options_.rend(), [&](const auto& o) { return o.first == option; });
    if (it != options_.rend()) return &it->second;
    require(is_known(option), ErrorCode::kInvalidArgument,
            "a program cannot tell a module of the option {}: it is neither a module's nor a runner's",
            option);
    return nullptr;
  }

  std::vector<std::pair<std::string, std::vector<std::string>>> options_;
  std::vector<std::string> known_;
};

RunModules::RunModules(const RunSettings& settings) {
  for (const std::string& path : settings.extensions.modules)
    registries_.add(extension::Extension::load(path));
  view_ = std::make_unique<View>(settings, registries_);
  for (const auto& module : registries_.extensions) module->set_args(view_.get());
  for (const auto& module : registries_.extensions)
    for (const AssayOptionGroup& g : module->option_groups()) extension::validate_options(*module, g);
}

RunModules::~RunModules() {
  for (const auto& module : registries_.extensions) module->set_args(nullptr);
}

std::shared_ptr<const assay::Comparison> module_comparison(const extension::Registries& registries,
                                                           const std::string& name) {
  auto found = extension::find_comparison(registries.extensions, name);
  require(found != nullptr, ErrorCode::kNotFound, "no module of the run has a comparison function '{}'",
          name);
  return found;
}

std::shared_ptr<const assay::Postprocess> module_postprocess(const extension::Registries& registries,
                                                             const std::string& name) {
  auto found = extension::find_postprocess(registries.extensions, name);
  require(found != nullptr, ErrorCode::kNotFound, "no module of the run has a post-processing function '{}'",
          name);
  return found;
}

std::vector<std::function<void(const std::shared_ptr<Model>&)>> RunModules::model_edits() const {
  std::vector<std::function<void(const std::shared_ptr<Model>&)>> edits;
  for (const auto& module : registries_.extensions)
    for (const AssayLoader& l : module->loaders())
      if (l.option != nullptr && view_->has(l.option))
        edits.emplace_back([module, &l](const std::shared_ptr<Model>& model) {
          extension::apply_loader(*module, l, model);
        });
  return edits;
}

}  // namespace assay::poly
