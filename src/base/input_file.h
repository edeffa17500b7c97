// Opens input files: only regular files, without blocking, and inside a folder if required.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/descriptor.h"

namespace assay {

/// "a folder", "a pipe", "a device", "a socket", ... of a mode as stat() gives it.
const char* kind_of_file(mode_t mode);

/// Opens a regular file for reading. Does not block on or access a pipe, a device or a socket. Throws
/// Error (kNotFound, kIo) that names the path.
Descriptor open_input(const std::string& path);

/// The result of open_input_beneath(): the open file, or why there is none.
struct BeneathResult {
  enum class Status { kOpen, kMissing, kOutside };
  Status status = Status::kOpen;
  Descriptor file;
  std::string link;  ///< kOutside: the link's target
};

/// Opens the regular file at `location`, a relative path, in `folder`. Links are followed as long as they
/// stay inside, step by step from one open folder to the next, so that concurrent replacement of files has no
/// effect. Throws Error (kIo) for what is not a regular file or cannot be read.
BeneathResult open_input_beneath(const std::string& folder, const std::string& location);

}  // namespace assay
