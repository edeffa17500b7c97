#include "engine/tactics/dnnl/dnnl_epilogue.h"

#include "engine/runtime/arena.h"

namespace assay::engine {

std::string epilogue_refusal(const std::vector<EpilogueStep>& epilogue) {
  EpilogueSpec spec;
  for (const EpilogueStep& s : epilogue)
    spec.entries.push_back(
        {.op = s.form.op, .a = s.form.a, .b = s.form.b, .position = s.operand != nullptr ? 0 : -1});
  return epilogue_refusal(spec);
}

}  // namespace assay::engine
