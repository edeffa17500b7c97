// Opening files that are read: nothing but regular files, without waiting, and inside a folder if need be.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/descriptor.h"

namespace assay {

/// "a folder", "a pipe", "a device", "a socket", ... of a mode as stat() gives it.
const char* kind_of_file(mode_t mode);

/// Opens a regular file for reading. A pipe, a device or a socket is neither waited for nor touched. Throws
/// Error (kNotFound, kIo) that names the path.
Descriptor open_input(const std::string& path);

/// What open_input_beneath() may answer beside a file.
struct BeneathResult {
  enum class Status { kOpen, kMissing, kOutside };
  Status status = Status::kOpen;
  Descriptor file;
  std::string link;  ///< kOutside: where the link leads
};

/// Opens the regular file at `location`, a relative path, in `folder`. Links are followed as long as they
/// stay inside, step by step from one open folder to the next, so that whoever exchanges files meanwhile
/// gains nothing. Throws Error (kIo) for what is not a regular file or cannot be read.
BeneathResult open_input_beneath(const std::string& folder, const std::string& location);

}  // namespace assay
