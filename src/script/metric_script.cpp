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
  const Item described = function_->call("describe", {});
  low_is_worse_ = described.at("better").text() == "higher";
  is_over_set_ = described.at("over_set").truth();
}

const std::string& MetricScript::name() const { return function_->reference().function; }

namespace {

Item::Dict sample_of(const TensorList& outputs, const TensorList* golden, std::span<const int64_t> labels) {
  Item::List numbers;
  for (const int64_t label : labels) numbers.emplace_back(label);
  return {{"outputs", to_item(outputs)},
          {"golden", golden == nullptr ? Item() : to_item(*golden)},
          {"labels", std::move(numbers)}};
}

}  // namespace

std::vector<double> MetricScript::record(const TensorList& outputs, const TensorList* golden,
                                         std::span<const int64_t> labels) {
  const Tensor made = function_->call("record", sample_of(outputs, golden, labels)).tensor();
  const std::span<const double> numbers = made.span<double>();
  return {numbers.begin(), numbers.end()};
}

double MetricScript::whole(const std::vector<std::vector<double>>& records) {
  Item::List arrays;
  for (const std::vector<double>& numbers : records) arrays.emplace_back(Tensor::vector<double>(numbers));
  return function_->call("whole", {{"records", std::move(arrays)}}).number();
}

double MetricScript::measure(const TensorList& outputs, const TensorList* golden,
                             std::span<const int64_t> labels) {
  return function_->call("measure", sample_of(outputs, golden, labels)).number();
}

}  // namespace assay::script
