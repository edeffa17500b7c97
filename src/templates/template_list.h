// The definitions named in templates.def.
#pragma once

#include "templates/templates.h"

namespace assay {

#define ASSAY_TEMPLATE(name) extern const ModelTemplate template_##name;
#include "templates/templates.def"
#undef ASSAY_TEMPLATE

}  // namespace assay
