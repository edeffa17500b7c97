#include "extension/functions.h"

#include <fmt/format.h>

#include <utility>

#include "compare/pair_check.h"
#include "extension/host.h"

namespace assay::extension {
namespace {

class ModuleComparison final : public OutputwiseComparison {
 public:
  ModuleComparison(std::shared_ptr<Extension> module, const AssayComparison& function)
      : module_(std::move(module)), function_(function) {}
  CompareFunction function() const override { return CompareFunction::kCustom; }
  std::string label() const override { return function_.name; }

 protected:
  OutputResult compare_pair(const OutputPair& pair, PairCache&, const CompareOptions&,
                            CompareObserver& observer) const override {
    OutputComparison comparison{.function = CompareFunction::kCustom, .pair = pair, .result = {}};
    OutputResult& result = comparison.result;
    result.output = pair.name0;
    result.other = pair.name1;
    const AssayArgs args{module_->args()};
    int32_t passed = 0;
    AssayBytes text;
    module_->call(fmt::format("compared the output '{}' by {}", pair.name0, function_.name), [&] {
      const AssayTensor first = CallScope::view(pair.output0), second = CallScope::view(pair.output1);
      return function_.compare(function_.self, &args, pair.name0.c_str(), &first, &second, &passed, &text);
    });
    result.passed = passed != 0;
    comparison.note = std::move(text.data);
    observer.on_output_end(comparison);
    return result;
  }

 private:
  std::shared_ptr<Extension> module_;
  AssayComparison function_;
};

class ModulePostprocess final : public Postprocess {
 public:
  ModulePostprocess(std::shared_ptr<Extension> module, const AssayPostprocess& function)
      : module_(std::move(module)), function_(function) {}
  std::string name() const override { return function_.name; }
  std::shared_ptr<const OutputSource> apply(std::shared_ptr<const OutputSource> outputs,
                                            std::optional<double>) const override {
    const AssayArgs args{module_->args()};
    TensorList all;
    for (size_t i = 0; i < outputs->names().size(); ++i)
      all.push_back({outputs->names()[i], outputs->load(i)});
    AssayOutputs changed;
    module_->call(fmt::format("changed outputs by {}", function_.name), [&] {
      std::vector<AssayNamedTensor> list;
      for (const NamedTensor& t : all)
        list.push_back({.name = t.name.c_str(), .tensor = CallScope::view(t.tensor)});
      return function_.apply(function_.self, &args, list.data(), list.size(), &changed);
    });
    if (changed.named.empty() && !all.empty())
      module_->refuse(fmt::format("changed outputs by {}", function_.name), "it gave no output");
    return std::make_shared<OutputList>(outputs->runner_name(), std::move(changed.named));
  }

 private:
  std::shared_ptr<Extension> module_;
  AssayPostprocess function_;
};

}  // namespace

std::vector<std::string> comparison_names(Modules modules) {
  std::vector<std::string> names;
  for (const auto& module : modules)
    for (const AssayComparison& c : module->comparisons()) names.emplace_back(c.name);
  return names;
}

std::vector<std::string> postprocess_names(Modules modules) {
  std::vector<std::string> names;
  for (const auto& module : modules)
    for (const AssayPostprocess& p : module->postprocesses()) names.emplace_back(p.name);
  return names;
}

std::shared_ptr<const Comparison> find_comparison(Modules modules, const std::string& name) {
  for (const auto& module : modules)
    for (const AssayComparison& c : module->comparisons())
      if (name == c.name) return std::make_shared<ModuleComparison>(module, c);
  return nullptr;
}

std::shared_ptr<const Postprocess> find_postprocess(Modules modules, const std::string& name) {
  for (const auto& module : modules)
    for (const AssayPostprocess& p : module->postprocesses())
      if (name == p.name) return std::make_shared<ModulePostprocess>(module, p);
  return nullptr;
}

}  // namespace assay::extension
