// Temporary files (base/temporary_file.h) whose writer is dead.
#pragma once

#include <string>

namespace assay {

/// Removes from a folder the temporary files of this user whose writers have ended without doing so: those
/// that no live process has locked, and, where it cannot be known (they were made before this machine
/// started, or by another one), that are a day old. One that a file in the folder names stays: a model needs
/// it.
void remove_stale_temporaries(const std::string& folder);

}  // namespace assay
