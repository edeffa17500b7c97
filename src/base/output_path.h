// What can be known of a place before anything is written there.
#pragma once

#include <string>

namespace assay {

/// Throws Error (kIo) in the words of AtomicFile where that could not put a file: the folder is none or may
/// not be written, the path is a folder, a socket or on a file system that the kernel fills. Missing folders
/// may be made. Nothing is created, opened or truncated that anybody could see.
void check_output_file(const std::string& path);

/// The same for a folder that files go into, and that is made where it is missing.
void check_output_folder(const std::string& path);

/// Whether a path is a device or a pipe, to which no ending says what to write.
bool is_special_file(const std::string& path);

}  // namespace assay
