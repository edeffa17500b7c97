#pragma once

namespace assay {

/// The version of this build, as in `assay --version`.
inline constexpr const char* kVersion = ASSAY_VERSION;

}  // namespace assay
