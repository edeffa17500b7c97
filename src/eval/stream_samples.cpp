// Samples of scripts, of programs' own sources and of token files.
#include <fmt/format.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "assay/error.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "eval/sample_set.h"
#include "generate/prompts.h"
#include "generate/sequence.h"
#include "run/script_parts.h"
#include "script/data_script.h"

namespace assay::eval {
namespace {

/// Reads a source in a thread of its own, so that one that hangs can be given up. The thread, which then
/// never ends, keeps what it uses.
class Patient {
 public:
  Patient(std::shared_ptr<DataSource> source, double timeout) : shared_(std::make_shared<Shared>()) {
    shared_->source = std::move(source);
    timeout_ = timeout;
  }
  ~Patient() {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_abandoned = true;
    shared_->changed.notify_all();
  }
  Patient(const Patient&) = delete;
  Patient& operator=(const Patient&) = delete;

  std::optional<TensorList> next() {
    std::unique_lock lock(shared_->mutex);
    if (!is_running_) {
      std::thread([shared = shared_] { serve(*shared); }).detach();
      is_running_ = true;
    }
    shared_->is_wanted = true;
    shared_->is_ready = false;
    shared_->changed.notify_all();
    const bool came = shared_->changed.wait_for(lock, std::chrono::duration<double>(timeout_),
                                                [&] { return shared_->is_ready; });
    require(came, ErrorCode::kInvalidArgument, "the data loader gave nothing for {} seconds", timeout_);
    if (shared_->failure != nullptr) std::rethrow_exception(std::exchange(shared_->failure, nullptr));
    return std::move(shared_->feed);
  }

 private:
  struct Shared {
    std::shared_ptr<DataSource> source;
    std::mutex mutex;
    std::condition_variable changed;
    bool is_wanted = false, is_ready = false, is_abandoned = false;
    std::optional<TensorList> feed;
    std::exception_ptr failure;
  };

  static void serve(Shared& shared) {
    std::unique_lock lock(shared.mutex);
    while (true) {
      shared.changed.wait(lock, [&] { return shared.is_wanted || shared.is_abandoned; });
      if (shared.is_abandoned) return;
      shared.is_wanted = false;
      lock.unlock();
      std::optional<TensorList> feed;
      std::exception_ptr failure;
      try {
        feed = shared.source->next();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      shared.feed = std::move(feed);
      shared.failure = failure;
      shared.is_ready = true;
      shared.changed.notify_all();
    }
  }

  std::shared_ptr<Shared> shared_;
  double timeout_;
  bool is_running_ = false;
};

class SourceSamples final : public SampleSet {
 public:
  SourceSamples(std::shared_ptr<DataSource> source, Entries identity, std::string labels, double timeout)
      : source_(std::move(source)), identity_(std::move(identity)), labels_(std::move(labels)) {
    if (timeout > 0) patient_ = std::make_unique<Patient>(source_, timeout);
  }
  Entries identity() const override { return identity_; }
  void begin(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& /*outputs*/) override {
    source_->prepare();
    source_->begin(inputs);
  }
  std::optional<int64_t> size() const override { return std::nullopt; }
  Sample load(int64_t /*index*/) override { fail(ErrorCode::kInternal, "a stream has no sample by number"); }
  std::optional<Sample> next() override {
    std::optional<TensorList> feed = patient_ != nullptr ? patient_->next() : source_->next();
    if (!feed) return std::nullopt;
    Sample sample{.index = index_++, .tensors = std::move(*feed)};
    if (!labels_.empty()) take_labels(sample, labels_);
    return sample;
  }

 private:
  std::shared_ptr<DataSource> source_;
  Entries identity_;
  std::string labels_;
  std::unique_ptr<Patient> patient_;
  int64_t index_ = 0;
};

class TokenSamples final : public SampleSet {
 public:
  TokenSamples(const std::string& path, generate::InterfaceNames names)
      : path_(path), names_(std::move(names)), sequences_(generate::load_token_file(path)) {}
  Entries identity() const override {
    HashStream hash;
    for (const generate::Tokens& tokens : sequences_)
      hash.add({reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(int64_t)});
    return {{"kind", "tokens"},
            {"name", std::filesystem::path(path_).filename().string()},
            {"sequences", std::to_string(sequences_.size())},
            {"content", fmt::format("xxh3:{:016x}", hash.value())}};
  }
  void begin(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs) override {
    interface_ = std::make_shared<generate::Interface>(generate::find_interface(inputs, outputs, names_));
  }
  std::optional<int64_t> size() const override { return static_cast<int64_t>(sequences_.size()); }
  Sample load(int64_t index) override {
    const generate::Tokens& tokens = sequences_[static_cast<size_t>(index)];
    require(tokens.size() > 1, ErrorCode::kInvalidArgument,
            "it has {} token(s), and the first is not predicted", tokens.size());
    if (interface_->step_tokens) {
      const Tensor row = Tensor::from<int64_t>(Shape{static_cast<int64_t>(tokens.size())}, tokens);
      return {.index = index,
              .tensors = {{"tokens", row}},
              .labels = {tokens.begin() + 1, tokens.end()},
              .steps = interface_};
    }
    const generate::TokenSequence sequence(interface_);
    return {
        .index = index, .tensors = sequence.named_feed(tokens), .labels = {tokens.begin() + 1, tokens.end()}};
  }
  std::optional<Sample> next() override { return std::nullopt; }

 private:
  std::string path_;
  generate::InterfaceNames names_;
  std::vector<generate::Tokens> sequences_;
  std::shared_ptr<const generate::Interface> interface_;
};

}  // namespace

std::shared_ptr<SampleSet> token_samples(const std::string& path, generate::InterfaceNames names) {
  return std::make_shared<TokenSamples>(path, std::move(names));
}

std::shared_ptr<SampleSet> script_samples(const script::Reference& script, const std::string& labels,
                                          double timeout) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(script.path);
  const std::string name = std::filesystem::path(script.path).filename().string() + ":" + script.function;
  Entries identity = {
      {"kind", "script"}, {"name", name}, {"content", fmt::format("xxh3:{:016x}", hash_of(file->bytes()))}};
  return std::make_shared<SourceSamples>(script_data(script), std::move(identity), labels, timeout);
}

std::shared_ptr<SampleSet> source_samples(std::shared_ptr<DataSource> source, Entries identity,
                                          const std::string& labels) {
  return std::make_shared<SourceSamples>(std::move(source), std::move(identity), labels, /*timeout=*/0);
}

}  // namespace assay::eval
