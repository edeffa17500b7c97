// A file on its way to its name.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/temporary_name.h"

namespace assay {

/// A new file that only this user may open. It has no name at all where the system knows such files, so that
/// nothing of it remains when the process is killed; else one that remove_stale_temporaries() recognises.
/// Those of live objects are removed by remove_live_temporaries().
class TemporaryFile {
 public:
  struct Options {
    TemporaryKind kind = TemporaryKind::kFile;
    uint64_t writer = new_writer_id();
    bool is_named = false;  ///< from the start: so it survives close()
  };

  /// In `folder`; `destination` is what it will be called. When it cannot be made, error() is an errno value.
  TemporaryFile(std::string folder, std::string_view destination, const Options& options);
  /// Closes it, and removes its name unless keep() was called.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int error() const { return error_; }
  /// Open for reading and writing, and locked; -1 after close().
  int fd() const { return file_.get(); }
  /// The permissions that a new file gets here.
  mode_t usual_mode() const { return usual_mode_; }
  /// What it is called in its folder once it has a name.
  const std::string& name() const { return name_; }

  // These return 0, or an errno value.
  int close();
  int give_name();
  /// Gives it another name for good, in place of what has that.
  int move_to(const std::string& path);
  /// Gives it another name, in place of what has that; the temporary one still holds. Where the file system
  /// has no second names, it becomes a copy.
  int also_call(const std::string& path);
  /// Puts its bytes in the place of those of an open file, which is empty when that fails.
  int copy_into(int other) const;
  /// Takes the temporary name away; the file must have another one.
  int remove_name();
  /// The name stays.
  void keep();

  struct Slot;  ///< what the signal handler knows of it

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

/// What a signal handler may do: takes away the temporary names of all live objects.
void remove_live_temporaries();

}  // namespace assay
