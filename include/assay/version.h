// The version of these headers; CMake reads it from here.
#pragma once

#include "assay/api.h"

#define ASSAY_VERSION_MAJOR 0
#define ASSAY_VERSION_MINOR 1
#define ASSAY_VERSION_PATCH 0
#define ASSAY_VERSION "0.1.0"

namespace ASSAY_API assay {

/// As in `assay --version`.
inline constexpr const char* kVersion = ASSAY_VERSION;

/// The version of the library that the program runs with. Programs and libassay.so must agree in everything
/// but the patch level (the file's name sees to that).
const char* library_version();

}  // namespace assay
