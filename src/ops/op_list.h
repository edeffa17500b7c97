// ops.def as declarations of the definitions in the operators' files.
#pragma once

#include "ops/op_def.h"

namespace assay {

#define ASSAY_OP(domain, name)     \
  namespace op_##domain##_##name { \
    extern const OpDef def;        \
  }
#include "ops/ops.def"
#undef ASSAY_OP

}  // namespace assay
