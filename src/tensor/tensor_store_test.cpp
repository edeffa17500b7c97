#include "tensor/tensor_store.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "assay/error.h"
#include "base/nameless_file.h"
#include "base/resident_memory.h"

namespace assay::tensor_store_test {
namespace {

Tensor filled(int64_t n, float value) {
  return Tensor::vector<float>(std::vector<float>(static_cast<size_t>(n), value));
}

/// Bytes of this process in memory that are not a file's.
size_t anonymous_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::strtoull(line.c_str() + 8, nullptr, 10) * 1024;
  return 0;
}

class Environment {
 public:
  Environment(const char* name, const char* value)
      : name_(name), old_(std::getenv(name) ? std::getenv(name) : "") {
    ::setenv(name, value, 1);
  }
  ~Environment() { old_.empty() ? ::unsetenv(name_) : ::setenv(name_, old_.c_str(), 1); }

 private:
  const char* name_;
  std::string old_;
};

TEST(StoredTensor, WrapsATensorInMemory) {
  const Tensor t = filled(3, 1);
  const StoredTensor s = t;
  EXPECT_TRUE(s.in_memory());
  EXPECT_EQ(s.load().data(), t.data());
  EXPECT_EQ(s.nbytes(), 12U);
  EXPECT_FALSE(StoredTensor().defined());
}

TEST(TensorStore, KeepsWhatFitsAndSpillsTheRest) {
  TensorStore store(1000);
  const StoredTensor a = store.put(filled(200, 1)), b = store.put(filled(100, 2)),
                     c = store.put(filled(50, 3));
  EXPECT_TRUE(a.in_memory());
  EXPECT_FALSE(b.in_memory());
  EXPECT_TRUE(c.in_memory());
  EXPECT_EQ(store.bytes_in_memory(), 1000U);
  EXPECT_EQ(store.bytes_on_disk(), 400U);
  EXPECT_EQ(b.dtype(), DType::kFloat32);
  EXPECT_EQ(b.shape(), Shape{100});
  EXPECT_TRUE(b.load().identical(filled(100, 2)));
  EXPECT_TRUE(a.load().identical(filled(200, 1)));
}

TEST(TensorStore, TheLastHandleFreesTheRoom) {
  TensorStore store(1000);
  StoredTensor a = store.put(filled(250, 1));
  StoredTensor spilled = store.put(filled(250, 2));
  const StoredTensor copy = a;
  a = {};
  EXPECT_EQ(store.bytes_in_memory(), 1000U);
  const_cast<StoredTensor&>(copy) = {};
  EXPECT_EQ(store.bytes_in_memory(), 0U);
  EXPECT_TRUE(store.put(filled(250, 3)).in_memory());
  spilled = {};
  EXPECT_EQ(store.bytes_on_disk(), 0U);
}

TEST(TensorStore, ALoadedTensorOutlivesHandleAndStore) {
  Tensor loaded;
  StoredTensor kept;
  {
    TensorStore store(0);
    kept = store.put(filled(5000, 4));
    loaded = store.put(filled(5000, 5)).load();
    EXPECT_EQ(store.bytes_on_disk(), 40000U);
  }
  EXPECT_TRUE(loaded.identical(filled(5000, 5)));
  EXPECT_TRUE(kept.load().identical(filled(5000, 4)));
}

TEST(TensorStore, LoadedTwiceIsMappedOnce) {
  TensorStore store(0);
  const StoredTensor s = store.put(filled(5000, 4));
  const Tensor a = s.load(), b = s.load();
  EXPECT_EQ(a.data(), b.data());
  s.release();
  EXPECT_TRUE(a.identical(filled(5000, 4)));
  Tensor changed = s.load();
  changed.mutable_data<float>()[0] = 9;
  EXPECT_TRUE(s.load().identical(filled(5000, 4)));
}

TEST(TensorStore, WhatLiesInAFileStaysThere) {
  NamelessFile file;
  constexpr size_t kBytes = 1 << 20;
  ASSERT_EQ(::ftruncate(file.fd(), kBytes), 0);
  void* p = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  ASSERT_NE(p, MAP_FAILED);
  std::memset(p, 0, kBytes);
  static_cast<float*>(p)[5] = 2.5F;
  const ReclaimableRange range(p, kBytes);
  bool owned = true;
  {
    const std::shared_ptr<const void> owner(p, [&](const void*) { owned = false; });
    TensorStore store(0);
    const StoredTensor kept =
        store.put(Tensor::view(DType::kFloat32, Shape{static_cast<int64_t>(kBytes / 4)}, p, owner));
    EXPECT_EQ(store.bytes_on_disk(), kBytes);
    EXPECT_EQ(store.bytes_in_memory(), 0U);
    EXPECT_EQ(kept.load().data(), p);
    EXPECT_EQ(kept.load().data<float>()[5], 2.5F);
  }
  EXPECT_FALSE(owned);
  ::munmap(p, kBytes);
}

TEST(TensorStore, StringsAndEmptyTensorsStayInMemory) {
  TensorStore store(0);
  EXPECT_TRUE(store.put(Tensor::vector<std::string>({"a"})).in_memory());
  EXPECT_TRUE(store.put(Tensor::allocate(DType::kFloat32, {0, 3})).in_memory());
  EXPECT_EQ(store.put(Tensor::allocate(DType::kInt4, {3})).load().nbytes(), 2U);
}

TEST(TensorStore, MemoryStaysBounded) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps freed memory back";
#endif
  // 384 MiB in pieces of 4 MiB. The allocator may keep a handful of freed pieces for itself.
  constexpr int kPieces = 96;
  TensorStore store(0);
  const size_t before = anonymous_memory();
  std::vector<StoredTensor> all;
  for (int i = 0; i < kPieces; ++i) all.push_back(store.put(filled(1 << 20, static_cast<float>(i))));
  EXPECT_LT(anonymous_memory(), before + (size_t{64} << 20));
  for (int i = 0; i < kPieces; ++i)
    EXPECT_EQ(all[static_cast<size_t>(i)].load().data<float>()[77], static_cast<float>(i));
}

TEST(TensorStore, ThreadsMayPutAtOnce) {
  TensorStore store(4000);
  std::vector<std::vector<StoredTensor>> stored(4);
  std::vector<std::thread> threads;
  for (size_t k = 0; k < stored.size(); ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 50; ++i)
        stored[k].push_back(store.put(filled(100, static_cast<float>(k * 100) + static_cast<float>(i))));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(store.bytes_in_memory(), 4000U);
  EXPECT_EQ(store.bytes_in_memory() + store.bytes_on_disk(), 80000U);
  for (size_t k = 0; k < stored.size(); ++k)
    for (size_t i = 0; i < 50; ++i)
      EXPECT_EQ(stored[k][i].load().data<float>()[99], static_cast<float>(k * 100 + i));
}

TEST(TensorStore, LeavesNoFileBehind) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("tensor_store_test." + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  {
    const Environment environment("TMPDIR", folder.c_str());
    TensorStore store(0);
    const StoredTensor s = store.put(filled(10, 1));
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  std::filesystem::remove(folder);
}

TEST(TensorStore, SaysWhatToDoWhenThereIsNoPlace) {
  const Environment environment("TMPDIR", "/nonexistent/folder");
  TensorStore store(0);
  try {
    store.put(filled(10, 1));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kIo);
    EXPECT_STREQ(
        e.what(),
        "cannot make a temporary file for tensors in /nonexistent/folder: No such file or directory. "
        "Set TMPDIR to a folder with more room.");
  }
}

TEST(TensorStore, AFullDiskIsAnError) {
  // A limit on file sizes stands for a full disk: the write comes back short.
  struct rlimit old {};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  TensorStore store(0);
  const StoredTensor fits = store.put(filled(1000, 1));
  const struct rlimit small { 65536, old.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(store.put(filled(1 << 20, 2)), Error);
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(store.bytes_on_disk(), 4000U);
  EXPECT_TRUE(fits.load().identical(filled(1000, 1)));
  EXPECT_TRUE(store.put(filled(1000, 3)).load().identical(filled(1000, 3)));
}

}  // namespace
}  // namespace assay::tensor_store_test
