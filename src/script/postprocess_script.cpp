#include "script/postprocess_script.h"

#include "script/native.h"
#include "script/python_function.h"

namespace assay::script {

class PostprocessScript::Function {
 public:
  virtual ~Function() = default;
  virtual void prepare() = 0;
  virtual TensorList process(const Iteration& iteration) = 0;
};

class PostprocessScript::InPython final : public Function {
 public:
  InPython(Reference reference, std::string interpreter)
      : function_("postprocess", std::move(reference), std::move(interpreter)) {}
  void prepare() override { function_.prepare(); }
  TensorList process(const Iteration& iteration) override {
    return to_tensors(function_.call("process", {{"result", to_item(iteration)}}));
  }

 private:
  PythonFunction function_;
};

class PostprocessScript::Native final : public Function {
 public:
  explicit Native(Reference reference) : function_(std::move(reference), NativeKind::kPostprocess) {}
  void prepare() override { function_.prepare(); }
  TensorList process(const Iteration& iteration) override { return function_.postprocess(iteration).tensors; }

 private:
  NativeFunction function_;
};

PostprocessScript::PostprocessScript(Reference reference, std::string interpreter) {
  if (reference.language == Language::kPython)
    function_ = std::make_unique<InPython>(std::move(reference), std::move(interpreter));
  else
    function_ = std::make_unique<Native>(std::move(reference));
}
PostprocessScript::~PostprocessScript() = default;
PostprocessScript::PostprocessScript(PostprocessScript&&) noexcept = default;
PostprocessScript& PostprocessScript::operator=(PostprocessScript&&) noexcept = default;

void PostprocessScript::prepare() { function_->prepare(); }

TensorList PostprocessScript::process(const Iteration& iteration) { return function_->process(iteration); }

}  // namespace assay::script
