#include "graph/function_index.h"

namespace assay {
namespace {
std::string_view canonical(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }
}  // namespace

FunctionIndex::FunctionIndex(const Model& model) {
  for (const Function& f : model.functions) by_name_.emplace(Key{canonical(f.domain), f.name, f.overload}, &f);
}

const Function* FunctionIndex::find(std::string_view domain, std::string_view name, std::string_view overload) const {
  const auto it = by_name_.find({canonical(domain), name, overload});
  return it != by_name_.end() ? it->second : nullptr;
}

}  // namespace assay
