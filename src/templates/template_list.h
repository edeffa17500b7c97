// The definitions named in templates.def.
#pragma once

#include "templates/model_template.h"

namespace assay {

#define ASSAY_TEMPLATE(name)        \
  namespace template_##name {       \
    extern const ModelTemplate def; \
  }
#include "templates/templates.def"
#undef ASSAY_TEMPLATE

}  // namespace assay
