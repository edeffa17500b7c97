#include "run/savers.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/wording.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

const char* words_for(Saved what) {
  return what == Saved::kInputs ? "inference input data" : "inference results";
}

bool is_special(const std::string& path) {
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  return !ec && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

fs::path normal(const std::string& path) {
  std::error_code ec;
  fs::path p = fs::absolute(path, ec).lexically_normal();
  return p.has_filename() ? p : p.parent_path();
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto [a, b] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return a == folder.end();
}

void make_folder(const std::string& path) {
  std::error_code ec;
  fs::create_directories(path, ec);
  require(!ec, ErrorCode::kIo, "cannot make the folder {}: {}", path, ec.message());
}

}  // namespace

bool means_folder(const std::string& path) { return !fs::path(path).has_extension() && !is_special(path); }

std::string iteration_name(int64_t index) { return fmt::format("{:010}", index); }

void check_save_paths(const std::vector<std::string>& load, const std::vector<std::string>& save) {
  for (size_t i = 0; i < save.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!save[i].empty() && !save[j].empty() && !is_special(save[i]) && normal(save[i]) == normal(save[j]))
        fail(ErrorCode::kInvalidArgument,
             "Two of save_inputs_path, save_outputs_path, and save_input_blob_path resolve to the same path "
             "('{}'). Use "
             "distinct paths.",
             normal(save[i]).string());
  for (const std::string& from : load)
    for (const std::string& to : save)
      if (!to.empty() && is_inside(normal(from), normal(to)))
        fail(ErrorCode::kInvalidArgument,
             "The load path '{}' overlaps the save path '{}'. Saving would overwrite or conflict with the "
             "data being "
             "loaded. Use distinct paths for loading and saving.",
             from, to);
}

SavePlace::SavePlace(Saved what, std::string path, RunObserver& observer)
    : what_(what), path_(std::move(path)), observer_(observer), is_folder_(means_folder(path_)) {
  observer_.on_saving({what_, is_folder_ ? SavingEvent::Step::kFolder : SavingEvent::Step::kFile, path_});
  if (!is_folder_) return;
  std::error_code ec;
  if (fs::exists(path_, ec) && !fs::is_directory(path_, ec))
    fail(ErrorCode::kInvalidArgument,
         "Cannot save {} to '{}': a file already exists there, but an extensionless path is a directory of "
         "per-iteration "
         "files. Use a path with a file extension to save a single file, or a different directory.",
         words_for(what_), path_);
  if (fs::is_directory(path_, ec) && !fs::is_empty(path_, ec))
    fail(ErrorCode::kInvalidArgument,
         "Cannot save {} to '{}': the directory is not empty. Per-iteration files require an empty or new "
         "directory (so "
         "nothing is overwritten). Use a different path, or remove its contents first.",
         words_for(what_), path_);
  make_folder(path_);
}

std::string SavePlace::file_for(int64_t iteration) {
  const std::string file =
      fmt::format("{}{}{}.json", path_, path_.ends_with('/') ? "" : "/", iteration_name(iteration));
  observer_.on_saving({what_, SavingEvent::Step::kWrite, file});
  return file;
}

std::string SavePlace::file() {
  observer_.on_saving({what_, SavingEvent::Step::kWrite, path_});
  return path_;
}

void InputsSaver::add(int64_t iteration, const TensorList& data) {
  if (place_.is_folder()) {
    save_input_iteration(data, place_.file_for(iteration));
    return;
  }
  finished_ = false;
  if (writer_ == nullptr) writer_ = std::make_unique<InputsWriter>(place_.path());
  writer_->add(data);
}

void InputsSaver::finish() {
  if (place_.is_folder() || finished_) return;
  finished_ = true;
  const std::string path = place_.file();
  if (writer_ == nullptr) writer_ = std::make_unique<InputsWriter>(path);
  writer_->commit();
}

void OutputsSaver::add(int64_t iteration, const std::vector<IterationResult>& results) {
  if (place_.is_folder()) {
    RunResults one;
    for (const IterationResult& r : results) one.runners.push_back({r.runner_name, {r}});
    save_run_results(one, place_.file_for(iteration));
    return;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (i == all_.runners.size()) all_.runners.push_back({results[i].runner_name, {}});
    all_.runners[i].second.push_back(results[i]);
  }
}

void OutputsSaver::finish() {
  if (place_.is_folder() || finished_) return;
  finished_ = true;
  save_run_results(all_, place_.file());
}

BlobSaver::BlobSaver(std::string folder, RunObserver& observer) : folder_(std::move(folder)) {
  observer.on_saving({Saved::kInputBlobs, SavingEvent::Step::kFolder, folder_});
  std::error_code ec;
  if (fs::exists(folder_, ec) && !fs::is_directory(folder_, ec))
    fail(ErrorCode::kInvalidArgument,
         "Cannot save raw inputs to '{}': a file already exists there, but this path is a directory of "
         "per-iteration "
         "subdirectories.",
         folder_);
  make_folder(folder_);
}

void BlobSaver::add(int64_t iteration, const TensorList& data) {
  const fs::path folder = fs::path(folder_) / iteration_name(iteration);
  for (const NamedTensor& t : data) {
    const fs::path file = normal((folder / (t.name + ".bin")).string());
    if (!is_inside(file, normal(folder.string())))
      fail(ErrorCode::kInvalidArgument,
           "Cannot save raw input tensor named '{}': the name resolves to a path outside of '{}'.", t.name,
           folder.string());
    require(t.tensor.dtype() != DType::kString && !t.tensor.is_container(), ErrorCode::kUnsupported,
            "cannot save input '{}' of type {} as raw bytes: its elements have no fixed size; {}", t.name,
            dtype_name(t.tensor.dtype()), say(Say::kSaveAsJson));
    make_folder(file.parent_path().string());
    AtomicFile out(file.string());
    out.write({static_cast<const char*>(t.tensor.data()), t.tensor.nbytes()});
    out.commit();
  }
}

}  // namespace assay
