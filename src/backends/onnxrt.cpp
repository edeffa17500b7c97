// --onnxrt: ONNX Runtime through its C API, loaded at run time.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <optional>
#include <unordered_map>

#include "assay/interrupt.h"
#include "backends/backend_list.h"
#include "backends/onnxrt_allocator.h"
#include "backends/onnxrt_custom_ops.h"
#include "backends/onnxrt_library.h"
#include "backends/session_info.h"
#include "base/cpus.h"
#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/log.h"
#include "base/resident_memory.h"
#include "base/stopwatch.h"
#include "base/time_trace.h"
#include "base/visible_text.h"
#include "graph/export.h"

namespace assay::backend_onnxrt {
namespace {

/// Larger initializers are not copied; ONNX Runtime reads them in place.
constexpr int64_t kDetachAbove = 1024;

void check(const ort::Api* api, ort::Status* status) {
  if (status == nullptr) return;
  const std::string message = ort::get_error_message(api, status);
  ort::release_status(api, status);
  fail(ErrorCode::kUnsupported, "ONNX Runtime: {}", message);
}

/// An object of ONNX Runtime, released at the end of its life.
template <typename T, auto kRelease>
class Handle {
 public:
  explicit Handle(const ort::Api* api) : api_(api) {}
  Handle(Handle&& o) noexcept : api_(o.api_), object_(std::exchange(o.object_, nullptr)) {}
  Handle& operator=(Handle&& o) noexcept {
    std::swap(api_, o.api_);
    std::swap(object_, o.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) kRelease(api_, object_);
  }
  T* get() const { return object_; }
  T** out() { return &object_; }

 private:
  const ort::Api* api_;
  T* object_ = nullptr;
};
using ValueHandle = Handle<ort::Value, ort::release_value>;
using SessionHandle = Handle<ort::SessionObject, ort::release_session>;
using OptionsHandle = Handle<ort::SessionOptionsObject, ort::release_session_options>;
using MemoryHandle = Handle<ort::MemoryInfo, ort::release_memory_info>;
using RunOptionsHandle = Handle<ort::RunOptions, ort::release_run_options>;
using TensorTypeHandle = Handle<ort::TensorTypeInfo, ort::release_tensor_type>;

/// Receives the library's warnings while a session is created or runs, in any thread; null: none.
std::atomic<const SessionOptions*> listening{nullptr};

class Listening {
 public:
  explicit Listening(const SessionOptions& options) : outer_(listening.exchange(&options)) {}
  ~Listening() { listening = outer_; }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  const SessionOptions* outer_;
};

/// Warnings go to the sink of the session's options, else to stderr in the library's own format, as with
/// Python. They quote names of the model.
void on_log(void*, ort::LogLevel level, const char* category, const char* id, const char* place,
            const char* message) {
  const SessionOptions* const options = listening.load();
  if (options != nullptr && options->on_warning) return options->on_warning(message);
  const auto severity = level == ort::kLogWarning ? diag::Severity::kWarning : diag::Severity::kError;
  if (!diag::enabled(severity)) return;
  const std::string line = fmt::format("[{}:{}:{}, {}] {}\n", level == ort::kLogWarning ? 'W' : 'E', category,
                                       id, place, visible_text(message, Lines::kOne));
  log::pass_on(severity, line);
}

/// One environment per library, alive until the process ends, as ONNX Runtime requires.
ort::Env* environment_of(const ort::Api* api) {
  static auto* const environments = new std::unordered_map<const ort::Api*, ort::Env*>;
  ort::Env*& env = (*environments)[api];
  if (env == nullptr) {
    check(api, ort::create_env(api, on_log, nullptr, ort::kLogWarning, "assay", &env));
    check(api, ort::register_spilling_allocator(api, env));
  }
  return env;
}

std::vector<std::string> available_providers(const ort::Api* api) {
  char** names = nullptr;
  int count = 0;
  check(api, ort::available_providers(api, &names, &count));
  std::vector<std::string> list(names, names + count);
  check(api, ort::release_available_providers(api, names, count));
  return list;
}

std::string lower(std::string s) {
  for (char& ch : s) ch = static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
  return s;
}

/// Each wanted name becomes the provider that equals it, else the first that contains it, case ignored.
std::vector<std::string> select_providers(const ort::Api* api, const std::vector<std::string>& wanted) {
  const std::vector<std::string> available = available_providers(api);
  const auto contains = [](const std::string& name, const std::string& part) {
    return lower(name).find(lower(part)) != std::string::npos;
  };
  std::vector<std::string> selected;
  for (const std::string& w : wanted.empty() ? std::vector<std::string>{"cpu"} : wanted) {
    auto it = std::find(available.begin(), available.end(), w);
    if (it == available.end())
      it = std::find_if(available.begin(), available.end(),
                        [&](const std::string& a) { return contains(a, w); });
    if (it == available.end()) {
      std::string list;
      for (const std::string& a : available) list += (list.empty() ? "'" : ", '") + a + "'";
      fail_expected(
          ErrorCode::kUnsupported,
          "Could not find specified ONNX-Runtime execution provider.\nNote: Requested provider was: {}, but "
          "available "
          "providers are: [{}]",
          w, list);
    }
    selected.push_back(*it);
  }
  return selected;
}

std::string python_list(const std::vector<std::string>& list) {
  std::string out = "[";
  for (const std::string& s : list) out += (out.size() > 1 ? ", '" : "'") + s + "'";
  return out + "]";
}

/// If outputs exceed this total, or there are more of them, they are kept out of memory: when layers are
/// marked as outputs their shapes are often not declared.
constexpr int64_t kManyBytes = int64_t{64} << 20;
constexpr size_t kManyOutputs = 32;

bool has_large_outputs(const Model& model) {
  int64_t bytes = 0;
  for (const Value* v : model.graph->outputs) {
    const std::optional<Shape> shape = v->type.has_shape() ? known_shape(*v->type.dims) : std::nullopt;
    if (shape && shape->numel() < kManyBytes)
      bytes += static_cast<int64_t>(storage_bytes(v->type.dtype, shape->numel()));
    if (shape && shape->numel() >= kManyBytes) bytes += kManyBytes;
    if (bytes > kManyBytes) return true;
  }
  return model.graph->outputs.size() > kManyOutputs;
}

class OnnxrtSession final : public Session {
 public:
  OnnxrtSession(const ModelSource& source, const SessionOptions& options)
      : options_(options),
        api_(ort::load(options.library).api),
        model_(source.model),
        inputs_(tensor_infos(model_->graph->inputs)),
        outputs_(tensor_infos(model_->graph->outputs)),
        spills_(has_large_outputs(*model_)),
        session_(api_),
        memory_(api_) {
    const std::vector<std::string> providers = select_providers(api_, options.providers);
    check(api_, ort::create_cpu_memory_info(api_, ort::kArenaAllocator, ort::kDefaultMemory, memory_.out()));
    OptionsHandle session_options(api_);
    configure(session_options, providers, options);
    const ResidentMemoryLimit limit;
    const Listening listens(options_);
    create(source, session_options.get());
  }

  ~OnnxrtSession() override {
    session_ = SessionHandle(api_);
    if (spills_) ort::release_unused_blocks();
  }

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  double last_run_seconds() const override { return seconds_; }
  void run(std::span<const Tensor> feed, const Sink& sink) override;

 private:
  void configure(OptionsHandle& out, const std::vector<std::string>& providers,
                 const SessionOptions& options);
  void create(const ModelSource& source, ort::SessionOptionsObject* options);
  ValueHandle to_value(const Tensor& t);
  ValueHandle container_value(const Tensor& t);
  /// A value of any kind; `type` tells whether it represents an optional.
  Tensor from_value(ValueHandle value, const Type& type);
  Tensor to_tensor(ValueHandle value);
  Tensor strings_of(ort::Value* value, Shape shape);

  const SessionOptions options_;
  const ort::Api* api_;
  std::shared_ptr<const Model> model_;
  std::vector<TensorInfo> inputs_, outputs_;
  std::string path_;             ///< for messages; empty when there is none
  bool spills_;                  ///< large blocks of memory are in a file
  std::vector<Tensor> weights_;  ///< weights that the session reads in place
  std::vector<ValueHandle> weight_values_;
  SessionHandle session_;
  MemoryHandle memory_;
  double seconds_ = 0;
};

void OnnxrtSession::configure(OptionsHandle& out, const std::vector<std::string>& providers,
                              const SessionOptions& options) {
  check(api_, ort::create_session_options(api_, out.out()));
  const int threads = options.threads > 0 ? options.threads : available_cpus();
  check(api_, ort::set_intra_op_threads(api_, out.get(), threads));
  check(api_, ort::set_inter_op_threads(api_, out.get(), threads));
  check(api_, ort::set_session_log_severity_level(api_, out.get(), ort::kLogWarning));
  ort::load_custom_ops(options.custom_ops);
  for (const ort::OpLibrary& ops : ort::loaded_custom_ops())
    with_context([&] { return "of the library of operators " + ops.path; },
                 [&] { check(api_, ops.register_ops(out.get(), ort::load(options.library).base)); });
  if (options.graph_optimization_level)
    check(api_,
          ort::set_session_graph_optimization_level(api_, out.get(), *options.graph_optimization_level));
  if (spills_) {
    check(api_, ort::add_session_config_entry(api_, out.get(), ort::kUseEnvironmentAllocators, "1"));
    // Otherwise the second run allocates everything in one block.
    check(api_, ort::disable_memory_pattern(api_, out.get()));
  }
  for (const std::string& p : providers) {
    if (p == "CPUExecutionProvider") continue;  // always there, and last
    std::string name = p;
    if (constexpr std::string_view kSuffix = "ExecutionProvider"; name.ends_with(kSuffix))
      name.resize(name.size() - kSuffix.size());
    check(api_, ort::append_execution_provider(api_, out.get(), name.c_str(), nullptr, nullptr, 0));
  }
}

void OnnxrtSession::create(const ModelSource& source, ort::SessionOptionsObject* options) {
  const ort::Env* env = environment_of(api_);
  path_ = source.path.empty() ? model_->path : source.path;
  if (!source.path.empty()) {
    check(api_, ort::create_session(api_, env, source.path.c_str(), options, session_.out()));
    return;
  }
  const DetachedModel detached = detach_initializers(*model_, kDetachAbove);
  std::vector<const char*> names;
  std::vector<const ort::Value*> values;
  for (const Value* v : detached.detached) {
    weights_.push_back(v->tensor().aligned());
    weight_values_.push_back(to_value(weights_.back()));
    names.push_back(v->name().c_str());
    values.push_back(weight_values_.back().get());
  }
  if (!names.empty())
    check(api_, ort::add_external_initializers(api_, options, names.data(), values.data(), names.size()));
  check(api_, ort::create_session_from_array(api_, env, detached.bytes.data(), detached.bytes.size(), options,
                                             session_.out()));
}

/// ONNX Runtime has no optionals of its own in its interface: one that holds a value is that value.
ValueHandle OnnxrtSession::container_value(const Tensor& t) {
  if (t.dtype() == DType::kOptional) {
    require(t.numel() == 1, ErrorCode::kUnsupported, "an empty optional cannot be handed to ONNX Runtime");
    return to_value(t.elements()[0]);
  }
  require(t.numel() > 0, ErrorCode::kUnsupported, "an empty sequence cannot be handed to ONNX Runtime");
  std::vector<ValueHandle> parts;
  std::vector<const ort::Value*> values;
  for (const Tensor& e : t.elements()) {
    parts.push_back(to_value(e));
    values.push_back(parts.back().get());
  }
  ValueHandle value(api_);
  check(api_,
        ort::create_value(api_, values.data(), values.size(),
                          t.dtype() == DType::kMap ? ort::kMapValue : ort::kSequenceValue, value.out()));
  return value;
}

ValueHandle OnnxrtSession::to_value(const Tensor& t) {
  if (t.is_container()) return container_value(t);
  ValueHandle value(api_);
  const int type = ort::element_type_of(t.dtype());
  const int64_t* dims = t.shape().dims().data();
  if (t.dtype() != DType::kString) {
    // ONNX Runtime takes a mutable pointer but does not write to inputs.
    check(api_, ort::create_tensor_with_data(api_, memory_.get(), const_cast<void*>(t.data()), t.nbytes(),
                                             dims, t.shape().size(), type, value.out()));
    return value;
  }
  ort::Allocator* allocator = nullptr;
  check(api_, ort::default_allocator(api_, &allocator));
  check(api_, ort::create_tensor(api_, allocator, dims, t.shape().size(), type, value.out()));
  std::vector<const char*> strings;
  for (const std::string& s : t.span<std::string>()) strings.push_back(s.c_str());
  check(api_, ort::fill_string_tensor(api_, value.get(), strings.data(), strings.size()));
  return value;
}

Tensor OnnxrtSession::strings_of(ort::Value* value, Shape shape) {
  Tensor t = Tensor::allocate(DType::kString, std::move(shape));
  const auto count = static_cast<size_t>(t.numel());
  size_t bytes = 0;
  check(api_, ort::string_tensor_length(api_, value, &bytes));
  std::string content(bytes, '\0');
  std::vector<size_t> offsets(count + 1, bytes);
  check(api_, ort::string_tensor_content(api_, value, content.data(), bytes, offsets.data(), count));
  auto* out = t.mutable_data<std::string>();
  for (size_t i = 0; i < count; ++i) out[i] = content.substr(offsets[i], offsets[i + 1] - offsets[i]);
  return t;
}

Tensor OnnxrtSession::from_value(ValueHandle value, const Type& type) {
  int present = 0;
  check(api_, ort::has_value(api_, value.get(), &present));
  if (present == 0) return Tensor::optional({});
  if (type.kind == Type::Kind::kOptional) return Tensor::optional(from_value(std::move(value), {}));
  ort::ValueType kind{};
  check(api_, ort::value_type(api_, value.get(), &kind));
  if (kind == ort::kTensorValue) return to_tensor(std::move(value));
  require(kind == ort::kSequenceValue || kind == ort::kMapValue, ErrorCode::kUnsupported,
          "ONNX Runtime gave a value of the unknown kind {}", static_cast<int>(kind));
  ort::Allocator* allocator = nullptr;
  check(api_, ort::default_allocator(api_, &allocator));
  size_t count = 2;
  if (kind == ort::kSequenceValue) check(api_, ort::value_count(api_, value.get(), &count));
  std::vector<Tensor> parts;
  for (size_t i = 0; i < count; ++i) {
    ValueHandle part(api_);
    check(api_, ort::get_value(api_, value.get(), static_cast<int>(i), allocator, part.out()));
    parts.push_back(from_value(std::move(part), {}));
  }
  return kind == ort::kMapValue ? Tensor::map(parts[0], parts[1]) : Tensor::sequence(std::move(parts));
}

/// The tensor's storage is ONNX Runtime's own buffer, released with the last tensor that views it.
Tensor OnnxrtSession::to_tensor(ValueHandle value) {
  TensorTypeHandle type(api_);
  check(api_, ort::tensor_type_and_shape(api_, value.get(), type.out()));
  int dtype = 0;
  size_t rank = 0;
  check(api_, ort::tensor_element_type(api_, type.get(), &dtype));
  check(api_, ort::dimensions_count(api_, type.get(), &rank));
  std::vector<int64_t> dims(rank);
  check(api_, ort::dimensions(api_, type.get(), dims.data(), rank));
  const DType known = ort::dtype_of_element_type(dtype);
  require(known != DType::kUndefined, ErrorCode::kUnsupported,
          "ONNX Runtime returned the unknown element type {}", dtype);
  if (known == DType::kString) return strings_of(value.get(), Shape(std::move(dims)));
  void* data = nullptr;
  check(api_, ort::tensor_data(api_, value.get(), &data));
  auto owner = std::make_shared<ValueHandle>(std::move(value));
  return UnalignedTensor::view(known, Shape(std::move(dims)), data,
                               std::shared_ptr<const void>(owner, owner->get()))
      .aligned();
}

/// Calls run(options). Where this thread has an InterruptHook, in another thread, so that the hook can be
/// asked meanwhile; `is_ended` then says that it ended the run.
template <typename Run>
ort::Status* run_as_hook_says(const ort::Api* api, const Run& run, bool& is_ended) {
  constexpr std::chrono::milliseconds kAskEvery(20);
  if (!has_interrupt_hook()) return run(nullptr);
  RunOptionsHandle options(api);
  check(api, ort::create_run_options(api, options.out()));
  std::future<ort::Status*> done = std::async(std::launch::async, [&] { return run(options.get()); });
  while (done.wait_for(kAskEvery) != std::future_status::ready) {
    if (is_ended || !is_interrupted()) continue;
    is_ended = true;
    check(api, ort::terminate_run(api, options.get()));
  }
  return done.get();
}

void OnnxrtSession::run(std::span<const Tensor> feed, const Sink& sink) {
  std::vector<ValueHandle> values;
  std::vector<const ort::Value*> input_values;
  std::vector<const char*> input_names, output_names;
  for (size_t i = 0; i < feed.size(); ++i) {
    values.push_back(with_context([&] { return tensor_place("in input", inputs_[i].name); },
                                  [&] { return to_value(feed[i]); }));
    input_values.push_back(values.back().get());
    input_names.push_back(inputs_[i].name.c_str());
  }
  for (const TensorInfo& o : outputs_) output_names.push_back(o.name.c_str());
  std::vector<ort::Value*> results(outputs_.size(), nullptr);
  std::optional<ResidentMemoryLimit> limit;
  if (spills_) limit.emplace();
  const Listening listens(options_);
  Stopwatch watch;
  bool is_ended = false;
  std::optional<trace::Span> span(std::in_place, trace::Kind::kRun, "run", "ONNX Runtime");
  ort::Status* const status = run_as_hook_says(
      api_,
      [&](const ort::RunOptions* options) {
        return ort::run(api_, session_.get(), options, input_names.data(), input_values.data(), feed.size(),
                        output_names.data(), outputs_.size(), results.data());
      },
      is_ended);
  span.reset();
  watch.pause();
  seconds_ = watch.seconds();
  std::vector<ValueHandle> owned;
  for (ort::Value* v : results) {
    owned.emplace_back(api_);
    *owned.back().out() = v;
  }
  if (is_ended) {
    if (status != nullptr) ort::release_status(api_, status);
    throw Interrupted();
  }
  check(api_, status);
  for (size_t i = 0; i < owned.size(); ++i) sink(i, from_value(std::move(owned[i]), outputs_[i].type));
}

class OnnxrtBackend final : public Backend {
 public:
  using Backend::Backend;

  std::string probe(const SessionOptions& options) const override {
    try {
      ort::load(options.library);
      ort::load_custom_ops(options.custom_ops);
      return {};
    } catch (const Error& e) {
      return e.what();
    }
  }

  void announce(const SessionOptions& options) const override {
    const std::vector<std::string> providers =
        select_providers(ort::load(options.library).api, options.providers);
    diag::start("Creating ONNX-Runtime Inference Session with providers: {}", python_list(providers));
  }

  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& options) const override {
    return std::make_unique<OnnxrtSession>(source, options);
  }
};

constinit const OnnxrtBackend kBackend({
    .name = "onnxrt",
    .option = "onnxrt",
    .runner_prefix = "onnxrt-runner",
    .human_name = "ONNX-Runtime",
    .summary = "ONNX Runtime, loaded from where it is installed",
    .reads_files = true,
});

}  // namespace

constinit const Backend& def = kBackend;

}  // namespace assay::backend_onnxrt
