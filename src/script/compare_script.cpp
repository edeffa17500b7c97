#include "script/compare_script.h"

#include "script/native.h"
#include "script/python_function.h"

namespace assay::script {

class CompareScript::Function {
 public:
  virtual ~Function() = default;
  virtual void prepare() = 0;
  virtual std::vector<ScriptVerdict> compare(const Iteration& iteration0, const Iteration& iteration1) = 0;
  virtual PythonFunction* in_python() { return nullptr; }
};

class CompareScript::InPython final : public Function {
 public:
  InPython(Reference reference, std::string interpreter)
      : function_("compare", std::move(reference), std::move(interpreter)) {}
  void prepare() override { function_.prepare(); }

  std::vector<ScriptVerdict> compare(const Iteration& iteration0, const Iteration& iteration1) override {
    const Item answer =
        function_.call("compare", {{"result0", to_item(iteration0)}, {"result1", to_item(iteration1)}});
    std::vector<ScriptVerdict> verdicts;
    for (const auto& [output, verdict] : answer.dict()) {
      ScriptVerdict& v = verdicts.emplace_back(ScriptVerdict{output, verdict.at("passed").truth()});
      for (const auto& [name, value] : verdict.at("figures").dict())
        v.figures.emplace_back(name, value.number());
    }
    return verdicts;
  }

  PythonFunction* in_python() override { return &function_; }

 private:
  PythonFunction function_;
};

class CompareScript::Native final : public Function {
 public:
  explicit Native(Reference reference) : function_(std::move(reference), NativeKind::kCompare) {}
  void prepare() override { function_.prepare(); }
  std::vector<ScriptVerdict> compare(const Iteration& iteration0, const Iteration& iteration1) override {
    return function_.compare(iteration0, iteration1).verdicts;
  }

 private:
  NativeFunction function_;
};

CompareScript::CompareScript(Reference reference, std::string interpreter) {
  if (reference.language == Language::kPython)
    function_ = std::make_unique<InPython>(std::move(reference), std::move(interpreter));
  else
    function_ = std::make_unique<Native>(std::move(reference));
}
CompareScript::~CompareScript() = default;
CompareScript::CompareScript(CompareScript&&) noexcept = default;
CompareScript& CompareScript::operator=(CompareScript&&) noexcept = default;

void CompareScript::prepare() { function_->prepare(); }
namespace {

std::optional<double> number(const Item& dict, std::string_view name) {
  const Item* value = dict.find(name);
  return value == nullptr || value->is_null() ? std::nullopt : std::optional(value->number());
}

}  // namespace

std::vector<ScriptThreshold> CompareScript::thresholds(const std::vector<std::string>& outputs) {
  PythonFunction* function = function_->in_python();
  require(
      function != nullptr, ErrorCode::kUnsupported,
      "a comparison in a native script compares tensors and has no thresholds; one in Python may have them");
  Item::List names;
  for (const std::string& output : outputs) names.emplace_back(output);
  const Item answer = function->call("thresholds", {{"outputs", std::move(names)}});
  std::vector<ScriptThreshold> thresholds;
  for (const Item& item : answer.list()) {
    ScriptThreshold& t = thresholds.emplace_back();
    for (const Item& field : item.at("fields").list()) t.fields.push_back(field.text());
    if (const Item* statistic = item.find("statistic")) t.statistic = statistic->text();
    t.atol = number(item, "atol");
    t.rtol = number(item, "rtol");
    t.value = number(item, "value");
  }
  return thresholds;
}

bool CompareScript::passes(const std::string& output,
                           const std::vector<std::pair<std::string, double>>& metrics) {
  Item::Dict values;
  for (const auto& [name, value] : metrics) values.emplace_back(name, value);
  return function_->in_python()->call("passes", {{"output", output}, {"metrics", std::move(values)}}).truth();
}

std::vector<ScriptVerdict> CompareScript::compare(const Iteration& iteration0, const Iteration& iteration1) {
  return function_->compare(iteration0, iteration1);
}

}  // namespace assay::script
