#include "assay/version.h"

namespace assay {

const char* library_version() { return kVersion; }

}  // namespace assay
