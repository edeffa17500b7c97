#include "tensor/tensor_store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "assay/error.h"
#include "base/nameless_file.h"
#include "base/resident_memory.h"

namespace assay {
namespace {

/// A mapped range of a file, unmapped with the last tensor that views it; until then `range` keeps its
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
    reclaimable_.emplace(data_, bytes_);
  }
  ~Mapping() {
    reclaimable_.reset();
    ::munmap(data_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const void* data() const { return data_; }
  void drop_pages() const { drop_resident_pages(data_, bytes_); }

 private:
  void* data_;
  size_t bytes_;
  std::shared_ptr<const void> range_;
  std::optional<ReclaimableRange> reclaimable_;
};

}  // namespace

StoredTensor::StoredTensor(DType dtype, Shape shape, std::shared_ptr<const StoredTensorSource> source)
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

  /// Reserves `bytes` of memory if they are left.
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

/// The temporary file. Space is never reused by offset: freed ranges become holes.
class TensorStore::SpillFile {
 public:
  int fd() const { return file_.fd(); }

  /// Writes at a new, page-aligned offset, which it returns.
  size_t append(const void* data, size_t bytes) {
    const size_t offset = end_.fetch_add(whole_pages(bytes));
    const auto* p = static_cast<const char*>(data);
    for (size_t done = 0; done < bytes;) {
      const ssize_t n = ::pwrite(fd(), p + done, std::min<size_t>(bytes - done, 1 << 30),
                                 static_cast<off_t>(offset + done));
      if (n > 0) {
        done += static_cast<size_t>(n);
      } else if (n == 0 || errno != EINTR) {
        const int e = n == 0 ? ENOSPC : errno;
        punch(offset, bytes);
        file_.fail_with(fmt::format("keep {} bytes of tensors in a temporary file", bytes), e);
      }
    }
    return offset;
  }

  void punch(size_t offset, size_t bytes) const { file_.punch(offset, bytes); }

 private:
  NamelessFile file_;
  std::atomic<size_t> end_{0};
};

/// A range of the file with a tensor's bytes; freed with the object.
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
class TensorStore::Spilled : public StoredTensorSource {
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

/// A tensor in another component's file, such as a backend's: mapped, not copied.
class TensorStore::InPlace : public StoredTensorSource {
 public:
  InPlace(Tensor tensor, std::shared_ptr<Budget> budget)
      : tensor_(std::move(tensor)), budget_(std::move(budget)) {
    budget_->add_disk(tensor_.nbytes());
    release();
  }
  ~InPlace() override { budget_->remove_disk(tensor_.nbytes()); }

  /// A view that releases the pages with its last copy.
  Tensor load() const override {
    const std::shared_ptr<const void> pages(
        tensor_.data(), [t = tensor_](const void*) { drop_resident_pages(t.data(), t.nbytes()); });
    return Tensor::view(tensor_.dtype(), tensor_.shape(), tensor_.data(), pages);
  }
  void release() const override { drop_resident_pages(tensor_.data(), tensor_.nbytes()); }

 private:
  Tensor tensor_;
  std::shared_ptr<Budget> budget_;
};

TensorStore::TensorStore(size_t memory_budget) : budget_(std::make_shared<Budget>(memory_budget)) {}
TensorStore::~TensorStore() = default;

StoredTensor TensorStore::put(Tensor tensor) {
  const size_t bytes = tensor.nbytes();
  if (bytes == 0) return StoredTensor(std::move(tensor));
  if (is_reclaimable(tensor.data())) {
    const DType dtype = tensor.dtype();
    Shape shape = tensor.shape();
    return {dtype, std::move(shape), std::make_shared<InPlace>(std::move(tensor), budget_)};
  }
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
