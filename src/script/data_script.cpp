#include "script/data_script.h"

#include "script/native.h"
#include "script/python_function.h"

namespace assay::script {

class DataScript::Source {
 public:
  virtual ~Source() = default;
  virtual void prepare() = 0;
  virtual std::optional<TensorList> next() = 0;
  virtual void restart() = 0;
  std::string place;
};

class DataScript::InPython final : public Source {
 public:
  InPython(Reference reference, std::string interpreter)
      : function_("data", std::move(reference), std::move(interpreter)) {}
  void prepare() override { function_.prepare(); }

  std::optional<TensorList> next() override {
    const Item answer = function_.call("next", {});
    if (answer.is_null()) return std::nullopt;
    place = fmt::format("at line {} of function '{}' in {}", answer.at("line").integer(),
                        answer.at("function").text(), function_.reference().path);
    return to_tensors(answer.at("feed"));
  }
  void restart() override { function_.call("restart", {}); }

 private:
  PythonFunction function_;
};

class DataScript::Native final : public Source {
 public:
  explicit Native(Reference reference) : function_(std::move(reference), NativeKind::kData) {
    place = function_.place();
  }
  void prepare() override { function_.prepare(); }

  std::optional<TensorList> next() override {
    NativeAnswer answer = function_.data(iteration_);
    if (answer.has_ended) return std::nullopt;
    ++iteration_;
    return std::move(answer.tensors);
  }
  void restart() override { iteration_ = 0; }

 private:
  NativeFunction function_;
  int64_t iteration_ = 0;
};

DataScript::DataScript(Reference reference, std::string interpreter) {
  if (reference.language == Language::kPython)
    source_ = std::make_unique<InPython>(std::move(reference), std::move(interpreter));
  else
    source_ = std::make_unique<Native>(std::move(reference));
}
DataScript::~DataScript() = default;
DataScript::DataScript(DataScript&&) noexcept = default;
DataScript& DataScript::operator=(DataScript&&) noexcept = default;

void DataScript::prepare() { source_->prepare(); }
std::optional<TensorList> DataScript::next() { return source_->next(); }
void DataScript::restart() { source_->restart(); }
const std::string& DataScript::place() const { return source_->place; }

}  // namespace assay::script
