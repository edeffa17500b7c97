#include "base/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "assay/error.h"
#include "base/crash_report.h"
#include "base/foreign_file.h"
#include "base/input_file.h"
#include "base/temporary_file.h"

namespace assay {
namespace {

/// The last page of a mapping has room behind the file. With the address sanitizer, reading there is a fault,
/// as it is past the end of a heap block.
void forbid_rest_of_page([[maybe_unused]] const char* data, [[maybe_unused]] size_t size,
                         [[maybe_unused]] bool forbid) {
#ifdef __SANITIZE_ADDRESS__
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t rest = (page - size % page) % page;
  if (forbid)
    ASAN_POISON_MEMORY_REGION(data + size, rest);
  else
    ASAN_UNPOISON_MEMORY_REGION(data + size, rest);
#endif
}

}  // namespace

/// A mapped range for the signal handler, which may neither lock nor allocate: an entry of a list that is
/// never freed, only reused.
struct MappedFile::Mapping {
  std::atomic<bool> is_used{true};
  std::atomic<const char*> begin{nullptr};
  const char* end = nullptr;
  const char* path = nullptr;
  Mapping* next = nullptr;
};

namespace {

using Mapping = MappedFile::Mapping;
std::atomic<Mapping*> g_mappings{nullptr};
std::atomic<int> g_unused_mappings{0};
struct sigaction g_before {};  ///< the previous handler of bus errors

/// Handles access to pages of a mapped file that no longer exist.
extern "C" void end_for_a_shortened_file(int signal, siginfo_t* info, void*) {
  const auto* at = static_cast<const char*>(info->si_addr);
  for (const Mapping* m = g_mappings.load(); m != nullptr; m = m->next) {
    const char* begin = m->begin.load();
    if (begin == nullptr || at < begin || at >= m->end) continue;
    say_at_once("[!] cannot read ");
    say_at_once(m->path);
    say_at_once(": it became shorter, or its disk failed, while it was read\n");
    remove_live_temporaries();
    ::_exit(1);
  }
  // The fault recurs when this returns and ends the process, unless the previous handler resolves it.
  ::signal(signal, SIG_DFL);
  if ((g_before.sa_flags & SA_SIGINFO) == 0 && g_before.sa_handler != SIG_DFL &&
      g_before.sa_handler != SIG_IGN)
    g_before.sa_handler(signal);
}

/// Also replaces a handler that was installed since, and chains to it for faults outside of files.
void install_handler() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  struct sigaction now {};
  if (::sigaction(SIGBUS, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == end_for_a_shortened_file) return;
  g_before = now;
  struct sigaction action {};
  action.sa_sigaction = end_for_a_shortened_file;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGBUS, &action, nullptr);
}

Mapping* claim_mapping() {
  for (Mapping* m = g_unused_mappings.load() > 0 ? g_mappings.load() : nullptr; m != nullptr; m = m->next) {
    bool expected = false;
    if (!m->is_used.compare_exchange_strong(expected, true)) continue;
    g_unused_mappings.fetch_sub(1);
    return m;
  }
  auto* fresh = new Mapping;
  fresh->next = g_mappings.load();
  while (!g_mappings.compare_exchange_weak(fresh->next, fresh)) {
  }
  return fresh;
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  return map(open_input(path), path);
}

std::shared_ptr<const MappedFile> MappedFile::map(const Descriptor& opened, const std::string& path) {
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = path;
  struct stat& st = file->stat_;
  const bool is_known = ::fstat(opened.get(), &st) == 0;
  require(is_known, ErrorCode::kIo, "cannot read {}: {}", path, std::strerror(errno));
  file->size_ = static_cast<size_t>(st.st_size);
  if (file->size_ == 0) return file;
  void* p = ::mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, opened.get(), 0);
  if (p == MAP_FAILED) {
    Error e(ErrorCode::kIo, fmt::format("cannot map {}: {}", path, std::strerror(errno)));
    if (errno == ENOMEM)
      e.set_remedy(
          fmt::format("Its {} bytes need as much address space (ulimit -v); results and inputs may be "
                      "saved as a folder, a file per iteration.",
                      file->size_));
    throw e;
  }
  file->data_ = static_cast<const char*>(p);
  forbid_rest_of_page(file->data_, file->size_, true);
  file->reclaimable_.emplace(p, file->size_);
  install_handler();
  file->mapping_ = claim_mapping();
  file->mapping_->end = file->data_ + file->size_;
  file->mapping_->path = file->path_.c_str();
  file->mapping_->begin.store(file->data_);
  refuse_stand_in(file->bytes(), path);
  return file;
}

bool MappedFile::is_still_there() const {
  struct stat now {};
  return ::stat(path_.c_str(), &now) == 0 && now.st_dev == stat_.st_dev && now.st_ino == stat_.st_ino &&
         now.st_size == stat_.st_size && now.st_mtim.tv_sec == stat_.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == stat_.st_mtim.tv_nsec;
}

MappedFile::~MappedFile() {
  reclaimable_.reset();
  if (data_ == nullptr) return;
  forbid_rest_of_page(data_, size_, false);
  mapping_->begin.store(nullptr);
  mapping_->is_used.store(false);
  g_unused_mappings.fetch_add(1);
  ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace assay
