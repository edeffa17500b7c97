// Atomic replacement of files.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/temporary_file.h"

namespace assay {

/// Writes to a temporary file next to the target and renames it on commit(). A write that fails
/// (disk full), an object destroyed before commit(), and an interrupt (see install_interrupt_cleanup) leave
/// the target untouched and no temporary file; what a killed process leaves behind, the next one to write in
/// the folder removes (base/stale_temporaries.h). Permissions and group of a replaced file are kept; before
/// commit() only this user may open the new one. Parent folders are created. A path such as /dev/stdout that
/// is not a regular file is written directly; a pipe without a reader is refused.
///
/// An empty file that another process holds open, such as one of Python's tempfile, is not replaced, since
/// its holder would never see the new one: commit() fills it. An error leaves it empty; only a process that
/// is killed at that moment leaves a part of the bytes.
class AtomicFile {
 public:
  /// Throws Error (kIo) naming the path and the reason when the place is not writable.
  explicit AtomicFile(std::string path);
  /// A file that is first known under its temporary name, in `folder`.
  AtomicFile(std::string path, const std::string& folder, const std::string& destination,
             const TemporaryFile::Options& options);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Buffered append. Throws Error (kIo).
  void write(std::string_view bytes);
  void write(const void* data, size_t bytes) { write({static_cast<const char*>(data), bytes}); }
  /// Bytes written so far.
  size_t size() const { return size_; }
  /// Users that may read the file may also execute it.
  void make_executable() { is_executable_ = true; }
  /// Flushes and syncs the data, which is slow and may fail, so that commit() is quick. Nothing may be
  /// written afterwards. Throws Error (kIo).
  void prepare();
  /// Calls prepare(), unless that was done, and renames the file to its target. Throws Error (kIo).
  void commit();

  // In place of commit(), for a file that is known under its temporary name first. They throw Error (kIo).
  /// prepare(), and closes it: for a file that has its temporary name from the start.
  void close();
  const std::string& temporary_name() const { return temporary_->name(); }
  /// Gives it the temporary name.
  void publish();
  /// Also renames it to its target.
  void also_commit();
  /// Removes the temporary name again.
  void retire();
  /// Keeps the temporary name permanently, because a model refers to it.
  void keep();

 private:
  void open_temporary(const std::string& folder, const std::string& destination,
                      const TemporaryFile::Options& options);
  void open_special();
  void find_holder();
  bool fill_held();
  void set_mode();
  void flush();
  void write_fully(const char* data, size_t bytes);
  void check(int error);
  [[noreturn]] void io_error(int error);

  std::string path_;
  std::string buffer_;
  std::unique_ptr<TemporaryFile> temporary_;  ///< null for a special file
  int special_ = -1;
  Descriptor held_;  ///< the file at path_, if it is empty and another process holds it open
  size_t size_ = 0;
  bool is_prepared_ = false, is_executable_ = false;
};

/// Delays the signals of install_interrupt_cleanup() for its lifetime, so that several files appear together
/// or not at all. (SIGKILL can still come between two of them, so only commit() prepared files.)
class InterruptDelay {
 public:
  InterruptDelay();
  ~InterruptDelay();
  InterruptDelay(const InterruptDelay&) = delete;
  InterruptDelay& operator=(const InterruptDelay&) = delete;
};

/// On SIGINT, SIGTERM and SIGHUP: removes the temporary files of all live AtomicFiles, then lets the signal
/// end the process as it would have.
void install_interrupt_cleanup();

}  // namespace assay
