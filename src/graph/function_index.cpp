#include "graph/function_index.h"

namespace assay {
FunctionIndex::FunctionIndex(const Model& model) {
  for (const Function& f : model.functions)
    by_name_.emplace(Key{canonical_domain(f.domain), f.name, f.overload}, &f);
}

const Function* FunctionIndex::find(std::string_view domain, std::string_view name,
                                    std::string_view overload) const {
  const auto it = by_name_.find({canonical_domain(domain), name, overload});
  return it != by_name_.end() ? it->second : nullptr;
}

}  // namespace assay
