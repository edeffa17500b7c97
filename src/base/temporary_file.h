// A temporary file that is later renamed.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/temporary_name.h"

namespace assay {

/// A new file that only this user may open. It has no name if the system supports that, so that nothing
/// remains when the process is killed; otherwise one that remove_stale_temporaries() recognizes.
/// Those of live objects are removed by remove_live_temporaries().
class TemporaryFile {
 public:
  struct Options {
    TemporaryKind kind = TemporaryKind::kFile;
    uint64_t writer = new_writer_id();
    bool is_named = false;  ///< from the start: so it survives close()
  };

  /// In `folder`; `destination` is its later name. If it cannot be created, error() is an errno value.
  TemporaryFile(std::string folder, std::string_view destination, const Options& options);
  /// Closes it, and removes its name unless keep() was called.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int error() const { return error_; }
  /// Open for reading and writing, and locked; -1 after close().
  int fd() const { return file_.get(); }
  /// The default permissions of new files here.
  mode_t usual_mode() const { return usual_mode_; }
  /// Its temporary name in the folder, once it has one.
  const std::string& name() const { return name_; }

  // These return 0, or an errno value.
  int close();
  int give_name();
  /// Renames it permanently, replacing an existing file.
  int move_to(const std::string& path);
  /// Links it under another name, replacing an existing file; the temporary name is kept. On a file system
  /// without hard links it becomes a copy.
  int also_call(const std::string& path);
  /// Overwrites the content of an open file, which is left empty if that fails.
  int copy_into(int other) const;
  /// Removes the temporary name; the file must have another one.
  int remove_name();
  /// The name stays.
  void keep();

  struct Slot;  ///< its entry for the signal handler

 private:
  std::string path() const { return folder_ + "/" + name_; }
  bool open_nameless();
  bool open_named();
  int link_as(const std::string& path) const;
  int copy_to(const std::string& path);

  std::string folder_, destination_, name_;
  Options options_;
  Descriptor file_;
  mode_t usual_mode_ = 0600;
  bool has_name_ = false;
  Slot* slot_ = nullptr;
  int error_ = 0;
};

/// Removes the temporary names of all live objects; async-signal-safe.
void remove_live_temporaries();

}  // namespace assay
