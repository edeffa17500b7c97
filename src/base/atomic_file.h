// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Writes to `<path>.<pid>.tmp` beside the target and renames on commit(). A write that fails (disk full), an
/// object destroyed before commit(), and an interrupt (see install_interrupt_cleanup) leave the target
/// untouched and no temporary file. Parent folders are created. A path such as /dev/stdout that is no regular
/// file is written directly.
class AtomicFile {
 public:
  /// Throws Error (kIo) naming the path and the reason when the place is not writable.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Buffered append. Throws Error (kIo).
  void write(std::string_view bytes);
  void write(const void* data, size_t bytes) { write({static_cast<const char*>(data), bytes}); }
  /// Bytes written so far.
  size_t size() const { return size_; }
  /// Flushes, makes the data durable and closes the file, which takes its time and may fail; what is left for
  /// commit() takes none. Nothing may be written afterwards. Throws Error (kIo).
  void prepare();
  /// Does what prepare() does, unless that was called, and renames. Throws Error (kIo).
  void commit();

 private:
  void flush();
  void write_fully(const char* data, size_t bytes);
  [[noreturn]] void io_error(int error);

  std::string path_, temporary_;
  std::string buffer_;
  int fd_ = -1;
  size_t size_ = 0;
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
