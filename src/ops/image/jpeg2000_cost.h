// The cost of decoding a JPEG 2000 picture, found before the library is called: it allocates by what
// headers claim.
#pragma once

#include "ops/image/picture.h"

namespace assay {

/// Throws Error (kInvalidArgument) where the headers in the stream claim more components, tiles or blocks
/// than a colour picture of this many bytes has, or more memory than decoding may take (picture.h).
void check_jpeg2000_cost(Encoded stream);

}  // namespace assay
