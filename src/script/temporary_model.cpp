#include "script/temporary_model.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "assay/io.h"

namespace assay::script {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "assay-model-";

/// A lock file, since writers of models lock the folder. Nothing when another process holds it.
Descriptor lock(const std::string& folder) {
  Descriptor file(::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return Descriptor();
  return file;
}

void remove_stale(const fs::path& where) {
  std::error_code ignored;
  for (fs::directory_iterator it(where, ignored), end; !ignored && it != end; it.increment(ignored)) {
    struct stat st {};
    if (!it->path().filename().string().starts_with(kPrefix) || ::lstat(it->path().c_str(), &st) != 0 ||
        !S_ISDIR(st.st_mode) || st.st_uid != ::geteuid())
      continue;
    // One that was just created may not be locked yet.
    if (std::time(nullptr) - st.st_mtime > 60 && lock(it->path())) fs::remove_all(it->path(), ignored);
  }
}

}  // namespace

TemporaryModel::TemporaryModel(const Model& model) {
  const fs::path where = fs::temp_directory_path();
  remove_stale(where);
  folder_ = (where / (std::string(kPrefix) + "XXXXXX")).string();
  const bool is_made = ::mkdtemp(folder_.data()) != nullptr;
  require(is_made, ErrorCode::kIo, "cannot make a folder for a model, {}: {}", folder_, std::strerror(errno));
  lock_ = lock(folder_);
  path_ = folder_ + "/model.onnx";
  try {
    save_model(model, path_);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw;
  }
}

TemporaryModel::~TemporaryModel() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace assay::script
