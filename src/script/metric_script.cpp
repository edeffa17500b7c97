#include "script/metric_script.h"

#include "script/python_function.h"

namespace assay::script {

MetricScript::MetricScript(Reference reference, std::string interpreter) {
  require(reference.language == Language::kPython, ErrorCode::kUnsupported,
          "{}: a metric is a function in Python (.py)", reference.str());
  function_ = std::make_unique<PythonFunction>("metric", std::move(reference), std::move(interpreter));
}
MetricScript::~MetricScript() = default;

void MetricScript::prepare() {
  low_is_worse_ = function_->call("describe", {}).at("better").text() == "higher";
}

const std::string& MetricScript::name() const { return function_->reference().function; }

double MetricScript::measure(const TensorList& outputs, const TensorList* golden,
                             std::span<const int64_t> labels) {
  Item::List numbers;
  for (const int64_t label : labels) numbers.emplace_back(label);
  return function_
      ->call("measure", {{"outputs", to_item(outputs)},
                         {"golden", golden == nullptr ? Item() : to_item(*golden)},
                         {"labels", std::move(numbers)}})
      .number();
}

}  // namespace assay::script
