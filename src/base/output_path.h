// Checks of output paths before anything is written.
#pragma once

#include <string>

namespace assay {

/// Throws Error (kIo) in the words of AtomicFile if that could not write there: the folder is not a folder or
/// not writable, the path is a folder, a socket or on a pseudo file system. Missing folders can be created
/// later. Has no visible effect on the file system.
void check_output_file(const std::string& path);

/// The same for an output folder, which may not exist yet.
void check_output_folder(const std::string& path);

/// True for a device or a pipe, whose name has no extension that determines the format.
bool is_special_file(const std::string& path);

}  // namespace assay
