#include "script/native.h"

#include <filesystem>
#include <limits>
#include <list>

#include "base/article.h"
#include "base/crash_report.h"
#include "base/dynamic_library.h"
#include "base/log.h"
#include "script/compiler.h"

namespace assay::script {
namespace {

constexpr const char* kTable = "assay_script_functions";
constexpr int32_t kMaxRank = 64;

std::string_view kind_name(int32_t kind) {
  switch (kind) {
    case ASSAY_SCRIPT_DATA:
      return "data";
    case ASSAY_SCRIPT_POSTPROCESS:
      return "postprocess";
    case ASSAY_SCRIPT_COMPARE:
      return "compare";
    default:
      return "unknown";
  }
}

/// Tensors in the form of native functions, valid as long as this.
class PlainResult {
 public:
  explicit PlainResult(const Iteration& iteration) {
    for (const NamedTensor& t : iteration.outputs) add(t);
    plain = {iteration.runner_name.c_str(),
             iteration.runtime.value_or(std::numeric_limits<double>::quiet_NaN()), tensors_.size(),
             tensors_.data()};
  }
  PlainResult(const PlainResult&) = delete;
  PlainResult& operator=(const PlainResult&) = delete;

  assay_script_result plain{};

 private:
  void add(const NamedTensor& t) {
    if (t.tensor.is_container())
      fail(ErrorCode::kUnsupported, "output '{}' is {}, which native scripts do not have", t.name,
           with_article(dtype_name(t.tensor.dtype())));
    const void* data = nullptr;
    if (t.tensor.dtype() == DType::kString) {
      std::vector<assay_script_string>& list = strings_.emplace_back();
      for (const std::string& s : t.tensor.span<std::string>()) list.push_back({s.data(), s.size()});
      data = list.data();
    } else {
      data = t.tensor.data();
    }
    tensors_.push_back({t.name.c_str(), static_cast<int32_t>(t.tensor.dtype()), t.tensor.rank(),
                        t.tensor.shape().dims().data(), data});
  }

  std::vector<assay_script_tensor> tensors_;
  std::list<std::vector<assay_script_string>> strings_;
};

Tensor copied(const assay_script_tensor& t) {
  if (!is_known_dtype(t.dtype)) fail(ErrorCode::kInvalidArgument, "its type {} is none of ONNX's", t.dtype);
  if (t.rank < 0 || t.rank > kMaxRank || (t.rank > 0 && t.dims == nullptr))
    fail(ErrorCode::kInvalidArgument, "its rank {} is not from 0 to {}", t.rank, kMaxRank);
  const auto dtype = static_cast<DType>(t.dtype);
  Tensor out = Tensor::allocate(dtype, Shape(t.dims, t.dims + t.rank));
  if (out.numel() == 0) return out;
  if (t.data == nullptr) fail(ErrorCode::kInvalidArgument, "it has elements but no data");
  if (dtype == DType::kString) {
    const auto* strings = static_cast<const assay_script_string*>(t.data);
    std::string* to = out.mutable_data<std::string>();
    for (int64_t i = 0; i < out.numel(); ++i) to[i].assign(strings[i].data, strings[i].size);
  } else {
    std::copy_n(static_cast<const char*>(t.data), out.nbytes(), static_cast<char*>(out.mutable_data()));
  }
  return out;
}

/// Collects a result; no exception may reach the script.
struct Listener {
  NativeAnswer answer;
  std::string error;  ///< the first one

  template <typename Body>
  static void guarded(assay_script_host* host, Body&& body) noexcept {
    auto& self = *static_cast<Listener*>(host->context);
    try {
      body(self);
    } catch (const Error& e) {
      self.note(e.what());
    } catch (const std::exception& e) {
      self.note(e.what());
    }
  }
  void note(const char* message) {
    if (error.empty()) error = message;
  }

  static void emit(assay_script_host* host, const assay_script_tensor* tensor) {
    guarded(host, [&](Listener& self) {
      if (tensor == nullptr || tensor->name == nullptr)
        fail(ErrorCode::kInvalidArgument, "it gave a tensor without a name");
      if (find(self.answer.tensors, tensor->name) != nullptr)
        fail(ErrorCode::kInvalidArgument, "it gave the tensor '{}' twice", tensor->name);
      try {
        self.answer.tensors.push_back({tensor->name, copied(*tensor)});
      } catch (const Error& e) {
        fail(e.code(), "it gave a tensor '{}' that is none: {}", tensor->name, e.message());
      }
    });
  }
  static void verdict(assay_script_host* host, const char* output, int32_t passed,
                      const assay_script_figure* figures, size_t count) {
    guarded(host, [&](Listener& self) {
      if (output == nullptr) fail(ErrorCode::kInvalidArgument, "it gave a verdict without an output");
      ScriptVerdict& v = self.answer.verdicts.emplace_back(ScriptVerdict{output, passed != 0, {}});
      for (size_t i = 0; i < count; ++i) {
        if (figures == nullptr || figures[i].name == nullptr)
          fail(ErrorCode::kInvalidArgument, "it gave a figure without a name");
        v.figures.emplace_back(figures[i].name, figures[i].value);
      }
    });
  }
  static void report(assay_script_host* host, const char* message) {
    guarded(host,
            [&](Listener& self) { self.note(message != nullptr ? message : "an error without a message"); });
  }
};

const assay_script_table& table_of(const std::string& library, const Reference& reference) {
  DynamicLibrary file;
  std::string error;
  {
    const CrashNote note(fmt::format("The script {}, while it was loaded,", reference.path),
                         "What runs when it is loaded, such as initializers of globals, does so.");
    if (!DynamicLibrary::load(std::filesystem::absolute(library), file, error))
      fail(ErrorCode::kUnsupported, "the script {} cannot be loaded: {}", reference.path, error);
  }
  const auto* table = static_cast<const assay_script_table*>(file.symbol(kTable));
  if (table == nullptr) {
    Error e(ErrorCode::kUnsupported,
            fmt::format("{} is no script of assay: it has no symbol {}", reference.path, kTable));
    throw e.set_remedy("Include assay/script.h, and list the file's functions with ASSAY_SCRIPT(...).");
  }
  if (table->abi != ASSAY_SCRIPT_ABI) {
    Error e(ErrorCode::kUnsupported,
            fmt::format("the script {} is for version {} of the script interface, and this is version {}",
                        reference.path, table->abi, ASSAY_SCRIPT_ABI));
    throw e.set_remedy("Compile it with the header assay/script.h of this version.");
  }
  for (uint32_t i = 0; i < table->count; ++i) {
    const assay_script_function* f = table->functions != nullptr ? &table->functions[i] : nullptr;
    if (f != nullptr && f->name != nullptr && f->call.data != nullptr) continue;
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("function {} of the script {} is null, or has no name", i, reference.path));
    throw e.set_remedy("List the file's functions with ASSAY_SCRIPT(...) of assay/script.h.");
  }
  return *table;
}

}  // namespace

std::string NativeFunction::place() const {
  return fmt::format("in function '{}' in {}", reference_.function, reference_.path);
}

void NativeFunction::load() {
  if (function_ != nullptr) return;
  CompiledScript script{reference_.path, nullptr};
  if (reference_.language == Language::kSource) script = compile_script(reference_.path);
  const assay_script_table& table = table_of(script.library, reference_);
  std::string offer;
  for (uint32_t i = 0; i < table.count; ++i) {
    const assay_script_function& f = table.functions[i];
    offer += fmt::format("{}'{}' ({})", i > 0 ? ", " : "", f.name, kind_name(f.kind));
    if (f.name != reference_.function) continue;
    if (f.kind != static_cast<int32_t>(kind_))
      fail(ErrorCode::kInvalidArgument, "the function '{}' of {} is {} function, and {} function is needed",
           f.name, reference_.path, with_article(kind_name(f.kind)),
           with_article(kind_name(static_cast<int32_t>(kind_))));
    function_ = &f;
    return;
  }
  Error e(ErrorCode::kNotFound, fmt::format("the script {} has no function '{}'; it has {}", reference_.path,
                                            reference_.function, offer.empty() ? "none" : offer));
  throw e.set_remedy(fmt::format("Name one of its own: {}:NAME.", reference_.path));
}

NativeAnswer NativeFunction::call(const std::function<int32_t(assay_script_host*)>& body) {
  Listener listener;
  assay_script_host host = {ASSAY_SCRIPT_ABI, &listener, Listener::emit, Listener::verdict, Listener::report};
  int32_t status = ASSAY_SCRIPT_ERROR;
  try {
    const CrashNote note(
        fmt::format("The script {}, in its function '{}',", reference_.path, reference_.function),
        "Run it under a debugger, or with CXXFLAGS='-g -fsanitize=address'.");
    status = body(&host);
  } catch (const std::exception& e) {
    listener.note(e.what());
  } catch (...) {
    listener.note("it threw an exception that is no std::exception");
  }
  if (listener.error.empty() && status != ASSAY_SCRIPT_OK && status != ASSAY_SCRIPT_END)
    listener.error = status == ASSAY_SCRIPT_ERROR ? "it reported an error without a message"
                                                  : fmt::format("it returned {}, which is no status", status);
  if (!listener.error.empty()) {
    Error e(ErrorCode::kInvalidArgument, listener.error);
    throw e.add_context(place());
  }
  listener.answer.has_ended = status == ASSAY_SCRIPT_END;
  return std::move(listener.answer);
}

NativeAnswer NativeFunction::data(int64_t iteration) {
  load();
  return call([&](assay_script_host* host) { return function_->call.data(host, iteration); });
}

NativeAnswer NativeFunction::postprocess(const Iteration& iteration) {
  load();
  const PlainResult result(iteration);
  return call([&](assay_script_host* host) { return function_->call.postprocess(host, &result.plain); });
}

NativeAnswer NativeFunction::compare(const Iteration& iteration0, const Iteration& iteration1) {
  load();
  const PlainResult result0(iteration0), result1(iteration1);
  return call(
      [&](assay_script_host* host) { return function_->call.compare(host, &result0.plain, &result1.plain); });
}

}  // namespace assay::script
