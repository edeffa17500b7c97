#include "script/python_function.h"

#include <filesystem>

namespace assay::script {

Item PythonFunction::call(std::string_view method, const Item::Dict& arguments) {
  const std::string doing = "its function '" + reference_.function + "'";
  if (child_ == nullptr) {
    auto child = std::make_unique<Child>(ChildOptions{"the script " + reference_.path, interpreter_});
    const std::string path = std::filesystem::absolute(reference_.path).lexically_normal().string();
    child->call(role_ + ".open", {{"path", path}, {"function", reference_.function}}, doing);
    child_ = std::move(child);
  }
  return child_->call(role_ + "." + std::string(method), arguments, doing);
}

}  // namespace assay::script
