#include "run/tensor_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "assay/error.h"

namespace assay {
namespace {

size_t page_size() {
  static const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) / page_size() * page_size(); }

/// A mapped range of a file, unmapped when the last tensor that views it goes; until then `range` keeps its
/// content.
class Mapping {
 public:
  Mapping(int fd, size_t offset, size_t bytes, std::shared_ptr<const void> range)
      : bytes_(bytes), range_(std::move(range)) {
    data_ = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (data_ == MAP_FAILED) {
      const int e = errno;
      fail(ErrorCode::kIo, "cannot map {} bytes of stored tensors: {}", bytes, std::strerror(e));
    }
  }
  ~Mapping() { ::munmap(data_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const void* data() const { return data_; }
  void drop_pages() const { ::madvise(data_, bytes_, MADV_DONTNEED); }

 private:
  void* data_;
  size_t bytes_;
  std::shared_ptr<const void> range_;
};

std::string spill_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp";
}

/// An open file that no folder lists.
int open_nameless(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  std::string name = folder + "/assay-tensors-XXXXXX";
  fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) ::unlink(name.c_str());
  return fd;
}

}  // namespace

StoredTensor::StoredTensor(DType dtype, Shape shape, std::shared_ptr<const TensorSource> source)
    : dtype_(dtype), shape_(std::move(shape)), numel_(shape_.numel()), source_(std::move(source)) {}

const StoredTensor* find(const StoredTensorList& list, std::string_view name) {
  const auto it =
      std::find_if(list.begin(), list.end(), [&](const NamedStoredTensor& t) { return t.name == name; });
  return it == list.end() ? nullptr : &it->tensor;
}

TensorList load_all(const StoredTensorList& list) {
  TensorList out;
  out.reserve(list.size());
  for (const NamedStoredTensor& t : list) out.push_back({t.name, t.tensor.load()});
  return out;
}

/// Counts live bytes on either side. Outlives the store, as handles may.
class TensorStore::Budget {
 public:
  explicit Budget(size_t limit) : limit_(limit) {}

  /// Takes `bytes` of the memory if they are left.
  bool take(size_t bytes) {
    size_t used = memory_.load();
    do {
      if (bytes > limit_ - std::min(limit_, used)) return false;
    } while (!memory_.compare_exchange_weak(used, used + bytes));
    return true;
  }
  void give_back(size_t bytes) { memory_ -= bytes; }
  void add_disk(size_t bytes) { disk_ += bytes; }
  void remove_disk(size_t bytes) { disk_ -= bytes; }
  size_t memory() const { return memory_; }
  size_t disk() const { return disk_; }

 private:
  const size_t limit_;
  std::atomic<size_t> memory_{0}, disk_{0};
};

/// The temporary file. Space is never reused by offset: what is freed becomes a hole.
class TensorStore::SpillFile {
 public:
  SpillFile() : folder_(spill_folder()), fd_(open_nameless(folder_)) {
    if (fd_ < 0) fail_with("make a temporary file for tensors", errno);
  }
  ~SpillFile() { ::close(fd_); }
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  int fd() const { return fd_; }

  /// Writes at a new, page-aligned offset, which it returns.
  size_t append(const void* data, size_t bytes) {
    const size_t offset = end_.fetch_add(whole_pages(bytes));
    const auto* p = static_cast<const char*>(data);
    for (size_t done = 0; done < bytes;) {
      const ssize_t n =
          ::pwrite(fd_, p + done, std::min<size_t>(bytes - done, 1 << 30), static_cast<off_t>(offset + done));
      if (n > 0) {
        done += static_cast<size_t>(n);
      } else if (n == 0 || errno != EINTR) {
        const int e = n == 0 ? ENOSPC : errno;
        punch(offset, bytes);
        fail_with(fmt::format("keep {} bytes of tensors in a temporary file", bytes), e);
      }
    }
    return offset;
  }

  void punch(size_t offset, size_t bytes) {
    // Best effort: where the file system has no holes, the space is free when the file goes.
    [[maybe_unused]] const int result =
        ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(whole_pages(bytes)));
  }

 private:
  [[noreturn]] void fail_with(std::string_view what, int error) const {
    Error e(ErrorCode::kIo, fmt::format("cannot {} in {}: {}", what, folder_, std::strerror(error)));
    e.set_remedy("Set TMPDIR to a folder with more room.");
    throw e;
  }

  std::string folder_;
  int fd_;
  std::atomic<size_t> end_{0};
};

/// A part of the file with a tensor's bytes; freed with the object.
class TensorStore::SpillRange {
 public:
  SpillRange(std::shared_ptr<SpillFile> file, std::shared_ptr<Budget> budget, const Tensor& t)
      : file_(std::move(file)),
        budget_(std::move(budget)),
        bytes_(t.nbytes()),
        offset_(file_->append(t.data(), bytes_)) {
    budget_->add_disk(bytes_);
  }
  ~SpillRange() {
    file_->punch(offset_, bytes_);
    budget_->remove_disk(bytes_);
  }
  SpillRange(const SpillRange&) = delete;
  SpillRange& operator=(const SpillRange&) = delete;

  static std::shared_ptr<Mapping> map(const std::shared_ptr<const SpillRange>& range) {
    return std::make_shared<Mapping>(range->file_->fd(), range->offset_, range->bytes_, range);
  }

 private:
  std::shared_ptr<SpillFile> file_;
  std::shared_ptr<Budget> budget_;
  size_t bytes_, offset_;
};

/// A tensor in the file.
class TensorStore::Spilled : public TensorSource {
 public:
  Spilled(std::shared_ptr<const SpillRange> range, DType dtype, Shape shape)
      : range_(std::move(range)), dtype_(dtype), shape_(std::move(shape)) {}

  Tensor load() const override {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Mapping> mapping = mapping_.lock();
    if (!mapping) mapping_ = mapping = SpillRange::map(range_);
    const void* data = mapping->data();
    return Tensor::view(dtype_, shape_, data, std::move(mapping));
  }

  void release() const override {
    const std::lock_guard lock(mutex_);
    if (const std::shared_ptr<Mapping> mapping = mapping_.lock()) mapping->drop_pages();
  }

 private:
  std::shared_ptr<const SpillRange> range_;
  DType dtype_;
  Shape shape_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<Mapping> mapping_;
};

TensorStore::TensorStore(size_t memory_budget) : budget_(std::make_shared<Budget>(memory_budget)) {}
TensorStore::~TensorStore() = default;

StoredTensor TensorStore::put(Tensor tensor) {
  const size_t bytes = tensor.nbytes();
  if (bytes == 0) return StoredTensor(std::move(tensor));
  if (budget_->take(bytes)) {
    // The pointer's own target does not matter: its deleter returns the bytes.
    const auto give_back = [budget = budget_, bytes](const void*) { budget->give_back(bytes); };
    std::shared_ptr<const void> reservation(budget_.get(), give_back);
    StoredTensor stored(std::move(tensor));
    stored.reservation_ = std::move(reservation);
    return stored;
  }
  std::shared_ptr<SpillFile> file;
  {
    const std::lock_guard lock(mutex_);
    if (!file_) file_ = std::make_shared<SpillFile>();
    file = file_;
  }
  auto range = std::make_shared<const SpillRange>(std::move(file), budget_, tensor);
  return StoredTensor(tensor.dtype(), tensor.shape(),
                      std::make_shared<Spilled>(std::move(range), tensor.dtype(), tensor.shape()));
}

size_t TensorStore::bytes_in_memory() const { return budget_->memory(); }
size_t TensorStore::bytes_on_disk() const { return budget_->disk(); }

}  // namespace assay
