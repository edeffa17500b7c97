#include "tensor/scratch_tensor.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "base/nameless_file.h"
#include "base/resident_memory.h"

namespace assay {
namespace {

/// A shared mapping of a whole temporary file, which lasts as long as the mapping.
class ScratchMapping {
 public:
  explicit ScratchMapping(size_t bytes) : bytes_(bytes), data_(map(bytes)), reclaimable_(data_, bytes) {}
  ~ScratchMapping() { ::munmap(data_, bytes_); }
  ScratchMapping(const ScratchMapping&) = delete;
  ScratchMapping& operator=(const ScratchMapping&) = delete;

  char* data() const { return static_cast<char*>(data_); }

 private:
  static void* map(size_t bytes) {
    const NamelessFile file;
    // Allocates the space now, so that a full disk is an error here and not a signal later.
    const int error = ::posix_fallocate(file.fd(), 0, static_cast<off_t>(bytes));
    if (error != 0) file.fail_with(fmt::format("keep a tensor of {} bytes", bytes), error);
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
    if (data == MAP_FAILED) file.fail_with(fmt::format("map a tensor of {} bytes", bytes), errno);
    return data;
  }

  size_t bytes_;
  void* data_;
  ReclaimableRange reclaimable_;
};

}  // namespace

ScratchTensor::ScratchTensor(DType dtype, Shape shape, size_t on_disk) {
  const size_t bytes = storage_bytes(dtype, shape.numel());
  if (bytes < on_disk || bytes == 0) {
    tensor_ = Tensor::zeros(dtype, std::move(shape));
    data_ = static_cast<char*>(tensor_.mutable_data());
    return;
  }
  const auto mapping = std::make_shared<const ScratchMapping>(bytes);
  mapping_ = mapping;
  data_ = mapping->data();
  tensor_ = Tensor::view(dtype, std::move(shape), data_, mapping);
}

void ScratchTensor::written_up_to(size_t offset) {
  if (mapping_ == nullptr || offset <= dropped_) return;
  drop_resident_pages(data_ + dropped_, offset - dropped_);
  dropped_ = offset / page_size() * page_size();
}

Tensor ScratchTensor::finish() {
  written_up_to(tensor_.nbytes());
  mapping_ = nullptr;
  data_ = nullptr;
  return std::exchange(tensor_, {});
}

}  // namespace assay
