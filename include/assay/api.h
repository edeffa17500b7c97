// The exported interface: declarations in namespaces that are marked with ASSAY_API. Everything else is
// hidden in libassay.so (docs/reference/library.md says what may change from version to version).
#pragma once

#define ASSAY_API [[gnu::visibility("default")]]
