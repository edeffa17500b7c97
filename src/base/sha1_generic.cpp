#include "base/sha1.h"

namespace assay {

internal::Sha1Mix* internal::mix_with_instructions() { return nullptr; }

}  // namespace assay
