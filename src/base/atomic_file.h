// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/temporary_file.h"

namespace assay {

/// Writes to a temporary file beside the target and puts that in its place on commit(). A write that fails
/// (disk full), an object destroyed before commit(), and an interrupt (see install_interrupt_cleanup) leave
/// the target untouched and no temporary file; what a killed process leaves behind, the next one to write in
/// the folder removes (base/stale_temporaries.h). Permissions and group of a replaced file are kept; before
/// commit() only this user may open the new one. Parent folders are created. A path such as /dev/stdout that
/// is not a regular file is written directly; a pipe that nobody reads is refused.
///
/// An empty file that somebody holds open, such as one of Python's tempfile, is not replaced, since its
/// holder would never see the new one: commit() fills it. An error leaves it empty; only a process that is
/// killed at that moment leaves a part of the bytes.
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
  /// Whoever may read the file may also execute it.
  void make_executable() { is_executable_ = true; }
  /// Flushes and makes the data durable, which takes its time and may fail; what is left for commit() takes
  /// none. Nothing may be written afterwards. Throws Error (kIo).
  void prepare();
  /// Does what prepare() does, unless that was called, and puts the file in its place. Throws Error (kIo).
  void commit();

  // In place of commit(), for a file that is known under its temporary name first. They throw Error (kIo).
  /// prepare(), and closes it: for a file that has its temporary name from the start.
  void close();
  const std::string& temporary_name() const { return temporary_->name(); }
  /// Gives it the temporary name.
  void publish();
  /// Also puts it in its place.
  void also_commit();
  /// Takes the temporary name away again.
  void retire();
  /// The temporary name stays whatever happens: something refers to it.
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
  Descriptor held_;  ///< the file at path_, when it is empty and somebody holds it open
  size_t size_ = 0;
  bool is_prepared_ = false, is_executable_ = false;
};

/// While one lives, the signals of install_interrupt_cleanup() wait: several files appear together or not at
/// all. (What cannot be caught, as SIGKILL, can come between two of them, so only commit() prepared files.)
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
