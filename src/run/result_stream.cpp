#include "run/result_stream.h"

#include "base/expected_error.h"
#include "base/python_repr.h"
#include "run/data_source.h"

namespace assay {
namespace {

class SavedResults final : public ResultStream {
 public:
  explicit SavedResults(const std::string& path) : path_(path) {}

  std::optional<std::vector<IterationResult>> next() override {
    if (!files_) files_ = iteration_files(path_);
    std::vector<IterationResult> results = take();
    while (results.empty()) {
      if (file_ == files_->size()) return std::nullopt;
      current_ = load_results_aloud((*files_)[file_++]);
      index_ = 0;
      results = take();
    }
    check_runners(results);
    ++iteration_;
    return results;
  }

 private:
  /// The next iteration of each runner of the current file that has it.
  std::vector<IterationResult> take() {
    std::vector<IterationResult> results;
    for (auto& [name, iterations] : current_.runners)
      if (index_ < iterations.size()) {
        results.push_back(std::exchange(iterations[index_], {}));
        results.back().runner_name = name;
      }
    ++index_;
    return results;
  }

  void check_runners(const std::vector<IterationResult>& results) {
    std::vector<std::string> names;
    for (const IterationResult& r : results) names.push_back(r.runner_name);
    if (iteration_ == 0) names_ = names;
    if (names != names_)
      fail_expected(ErrorCode::kInvalidArgument,
                    "Streamed iteration {} contains a different set of runners than the first ({} vs. {}). "
                    "Every iteration "
                    "must contain the same runners in the same order.",
                    iteration_, python_list_repr(names), python_list_repr(names_));
  }

  std::string path_;
  std::optional<std::vector<std::string>> files_;
  size_t file_ = 0, index_ = 0;
  int64_t iteration_ = 0;
  RunResults current_;
  std::vector<std::string> names_;
};

class StoredResults final : public ResultStream {
 public:
  explicit StoredResults(std::vector<IterationResult> iterations) : iterations_(std::move(iterations)) {}
  std::optional<std::vector<IterationResult>> next() override {
    if (next_ == iterations_.size()) return std::nullopt;
    return std::vector{iterations_[next_++]};
  }

 private:
  std::vector<IterationResult> iterations_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<ResultStream> saved_results(const std::string& path) {
  return std::make_unique<SavedResults>(path);
}
std::unique_ptr<ResultStream> stored_results(std::vector<IterationResult> iterations) {
  return std::make_unique<StoredResults>(std::move(iterations));
}

}  // namespace assay
