// Runners of modules as backends.
#include <chrono>

#include "extension/extension.h"
#include "extension/host.h"

namespace assay::extension {
namespace {

class ModuleSession final : public Session {
 public:
  ModuleSession(std::shared_ptr<Extension> extension, const AssayRunner& runner, const ModelSource& source,
                const SessionOptions& options)
      : extension_(std::move(extension)), runner_(runner) {
    const AssayModel model{std::const_pointer_cast<Model>(source.model)};
    const AssayArgs args{extension_->args()};
    const char* path = source.path.empty() ? nullptr : source.path.c_str();
    extension_->call("loaded a model", [&] {
      return runner_.open(runner_.self, &model, path, options.threads, &args, &session_);
    });
    AssayTensorInfos infos;
    try {
      extension_->call("told its inputs and outputs", [&] { return runner_.describe(session_, &infos); });
    } catch (...) {
      close();
      throw;
    }
    inputs_ = std::move(infos.inputs);
    outputs_ = std::move(infos.outputs);
  }
  ~ModuleSession() override { close(); }

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  double last_run_seconds() const override { return seconds_; }

  void run(std::span<const Tensor> feed, const Sink& sink) override {
    AssayOutputs given;
    given.numbered.resize(outputs_.size());
    double seconds = -1;
    const auto start = std::chrono::steady_clock::now();
    extension_->call("ran inference", [&] {
      std::vector<AssayTensor> inputs;
      for (const Tensor& t : feed) inputs.push_back(CallScope::view(t));
      return runner_.infer(session_, inputs.data(), inputs.size(), &given, &seconds);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds_ = seconds >= 0 ? seconds : took.count();
    for (size_t i = 0; i < outputs_.size(); ++i)
      if (!given.numbered[i].defined())
        extension_->refuse("ran inference",
                           fmt::format("it gave nothing for the output '{}'", outputs_[i].name));
    for (size_t i = 0; i < outputs_.size(); ++i) sink(i, std::move(given.numbered[i]));
  }

 private:
  void close() noexcept {
    if (session_ == nullptr) return;
    try {
      extension_->call("ended a session", [&] { return runner_.close(session_), 0; });
    } catch (const std::exception&) {
      // Its work is done.
    }
    session_ = nullptr;
  }

  std::shared_ptr<Extension> extension_;
  AssayRunner runner_;
  void* session_ = nullptr;
  std::vector<TensorInfo> inputs_, outputs_;
  double seconds_ = 0;
};

BackendInfo info_of(const AssayRunner& r, const std::string& prefix) {
  return {.name = r.name,
          .option = std::string_view(r.option).substr(2),  // without the dashes that every flag has
          .runner_prefix = prefix,
          .human_name = r.human_name != nullptr ? r.human_name : r.name,
          .summary = r.summary != nullptr ? r.summary : "from an extension",
          .reads_files = r.reads_files != 0};
}

/// Strings that BackendInfo refers to must be declared before it.
struct Texts {
  std::string prefix;
};

class ModuleBackend final : private Texts, public Backend {
 public:
  ModuleBackend(std::shared_ptr<Extension> extension, const AssayRunner& r)
      : Texts{r.runner_prefix != nullptr ? r.runner_prefix : std::string(r.name) + "-runner"},
        Backend(info_of(r, prefix)),
        extension_(std::move(extension)),
        runner_(r) {}

  std::string probe(const SessionOptions&) const override {
    if (runner_.probe == nullptr) return {};
    try {
      extension_->call("was asked whether it can be used", [&] { return runner_.probe(runner_.self); });
      return {};
    } catch (const Error& e) {
      return e.message();
    }
  }
  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& options) const override {
    return std::make_unique<ModuleSession>(extension_, runner_, source, options);
  }

 private:
  std::shared_ptr<Extension> extension_;
  AssayRunner runner_;
};

}  // namespace

void add_runners(const std::shared_ptr<Extension>& extension, BackendSet& backends) {
  for (const AssayRunner& r : extension->runners()) {
    const auto backend = std::make_shared<ModuleBackend>(extension, r);
    backends.add(*backend, backend);
  }
}

}  // namespace assay::extension
