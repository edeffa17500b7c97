#include "script/session.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/diagnostics.h"
#include "script/child.h"
#include "script/temporary_model.h"

namespace assay::script {
namespace {

namespace fs = std::filesystem;

std::string interpreter_of(const RunnerReference& runner, const ScriptSessionOptions& options) {
  if (!options.interpreter.empty() || runner.kind != RunnerReference::Kind::kShipped)
    return options.interpreter;
  for (const ShippedRunner& shipped : shipped_runners())
    if (shipped.name == runner.name)
      if (const char* named = std::getenv(std::string(shipped.variable).c_str()); named != nullptr)
        return named;
  return {};
}

/// [[name, type or null, extents or null], ...] as role/runner.py gives it.
std::vector<TensorInfo> infos_of(const Item& list) {
  std::vector<TensorInfo> infos;
  for (const Item& entry : list.list()) {
    const Item::List& fields = entry.list();
    require(fields.size() == 3, ErrorCode::kInternal, "a script's process did not send a type where it must");
    TensorInfo& info = infos.emplace_back(TensorInfo{fields[0].text(), Type{}});
    if (fields[1].is_null()) continue;
    info.type = Type::tensor(static_cast<DType>(fields[1].integer()));
    if (fields[2].is_null()) continue;
    Dims& dims = info.type.dims.emplace();
    for (const Item& d : fields[2].list())
      dims.push_back(d.is_null() ? Dim() : d.is_text() ? Dim::symbol(d.text()) : Dim(d.integer()));
  }
  return infos;
}

std::vector<TensorInfo> infos_of(const std::vector<Value*>& values) {
  std::vector<TensorInfo> infos;
  for (const Value* v : values) infos.push_back({v->name(), v->type});
  return infos;
}

bool fits(const Tensor& tensor, const Type& type) {
  if (!type.is_tensor()) return true;
  if (tensor.dtype() != type.dtype) return false;
  if (!type.dims) return true;
  if (type.dims->size() != tensor.shape().size()) return false;
  for (size_t i = 0; i < type.dims->size(); ++i)
    if ((*type.dims)[i].is_known() && (*type.dims)[i].value() != tensor.dim(i)) return false;
  return true;
}

std::string list_of(const std::vector<TensorInfo>& infos) {
  std::string out;
  for (const TensorInfo& info : infos) out += fmt::format("{}'{}'", out.empty() ? "" : ", ", info.name);
  return out;
}

class ScriptSession final : public Session {
 public:
  ScriptSession(const RunnerReference& runner, const std::string& path, const Model* model,
                const ScriptSessionOptions& options)
      : runner_(runner.str()), child_({runner_, interpreter_of(runner, options)}) {
    Item::Dict keywords;
    for (const auto& [name, value] : options.options) keywords.emplace_back(name, value);
    Item::Dict arguments = {{"model", fs::absolute(path).lexically_normal().string()}, {"options", keywords}};
    std::string method;
    switch (runner.kind) {
      case RunnerReference::Kind::kFile:
        method = "runner.open_file";
        arguments.emplace_back("path", fs::absolute(runner.name).lexically_normal().string());
        arguments.emplace_back("name", runner.class_name);
        break;
      case RunnerReference::Kind::kShipped:
        method = "runner.open_shipped";
        arguments.emplace_back("runner", runner.name);
        break;
      case RunnerReference::Kind::kEntryPoint:
        method = "runner.open_entry_point";
        arguments.emplace_back("name", runner.name);
        break;
    }
    const Item answer = child_.call(method, arguments, "what loads the model " + path);
    class_ = answer.at("name").text();
    if (const std::string& file = answer.at("path").text(); !file.empty())
      place_ = fmt::format("in {}", file);
    if (const int64_t line = answer.at("infer_line").integer(); line > 0)
      function_ = fmt::format("at line {} of function 'infer'", line);
    inputs_ = take("inputs", answer.at("inputs"), model != nullptr ? &model->graph->inputs : nullptr);
    outputs_ = take("outputs", answer.at("outputs"), model != nullptr ? &model->graph->outputs : nullptr);
    may_differ_ = options.judged && answer.at("outputs").is_null();
  }

  ~ScriptSession() override {
    if (!child_.is_usable()) return;
    try {
      child_.call("runner.close", {}, "what it does at its end");
    } catch (const Error& e) {
      diag::warning("{}", e.what());
    }
  }

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  double last_run_seconds() const override { return seconds_; }

  void run(std::span<const Tensor> feed, const Sink& sink) override {
    require(feed.size() == inputs_.size(), ErrorCode::kInvalidArgument, "{} takes {} inputs ({}), not {}",
            runner_, inputs_.size(), list_of(inputs_), feed.size());
    Item::Dict dict;
    for (size_t i = 0; i < feed.size(); ++i) dict.emplace_back(inputs_[i].name, feed[i]);
    const Item answer = child_.call("runner.infer", {{"feed", std::move(dict)}}, class_ + ".infer");
    seconds_ = answer.at("seconds").number();
    const Item& made = answer.at("outputs");
    check(made);
    for (size_t i = 0; i < outputs_.size(); ++i) sink(i, made.at(outputs_[i].name).tensor());
  }

 private:
  std::vector<TensorInfo> take(std::string_view what, const Item& told,
                               const std::vector<Value*>* values) const {
    if (!told.is_null()) return infos_of(told);
    if (values != nullptr) return infos_of(*values);
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("{} does not say what {} the model has, and the model is not ONNX", class_, what));
    if (!place_.empty()) e.add_context(place_);
    throw e.set_remedy(fmt::format("Give it a method {}() that returns {{name: (dtype, shape)}}.", what));
  }

  void check(const Item& made) const {
    for (const TensorInfo& info : outputs_) {
      const Item* value = made.find(info.name);
      if (value == nullptr) broken(fmt::format("returned no output '{}'", info.name), made);
      const Tensor& t = value->tensor();
      if (may_differ_ || fits(t, info.type)) continue;
      broken(fmt::format("returned '{}' as {}, which is declared as {}", info.name,
                         Type::tensor(t.dtype(), t.shape()).str(), info.type.str()),
             made);
    }
    for (const auto& [name, value] : made.dict())
      if (std::none_of(outputs_.begin(), outputs_.end(), [&](const TensorInfo& o) { return o.name == name; }))
        broken(fmt::format("returned '{}', which is none of the outputs ({})", name, list_of(outputs_)),
               made);
  }

  [[noreturn]] void broken(const std::string& what, const Item& made) const {
    std::string names;
    for (const auto& [name, value] : made.dict())
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("{}.infer {}; it returned {}", class_, what, names.empty() ? "nothing" : names));
    if (!function_.empty()) e.add_context(function_);
    if (!place_.empty()) e.add_context(place_);
    throw e.set_remedy("Return the outputs as declared, or declare others with a method outputs().");
  }

  std::string runner_, class_, place_, function_;
  Child child_;
  std::vector<TensorInfo> inputs_, outputs_;
  double seconds_ = 0;
  bool may_differ_ = false;  ///< outputs may differ from a declaration that is not the class's own
};

/// Also keeps the file that the class was given.
class TemporaryFileSession final : public Session {
 public:
  TemporaryFileSession(const RunnerReference& runner, const Model& model, const ScriptSessionOptions& options)
      : file_(model), session_(runner, file_.path(), &model, options) {}
  const std::vector<TensorInfo>& inputs() const override { return session_.inputs(); }
  const std::vector<TensorInfo>& outputs() const override { return session_.outputs(); }
  double last_run_seconds() const override { return session_.last_run_seconds(); }
  void run(std::span<const Tensor> feed, const Sink& sink) override { session_.run(feed, sink); }

 private:
  TemporaryModel file_;
  ScriptSession session_;
};

void require_package(const RunnerReference& runner, const ScriptSessionOptions& options) {
  if (runner.kind != RunnerReference::Kind::kShipped) return;
  if (const std::string reason = why_not(runner, options); !reason.empty())
    fail(ErrorCode::kUnsupported, "{}", reason);
}

}  // namespace

std::string RunnerReference::str() const {
  if (kind == Kind::kFile) return class_name.empty() ? name : name + ":" + class_name;
  return fmt::format("the runner '{}'", name);
}

RunnerReference parse_runner(std::string_view text) {
  if (!text.empty() && text.find_first_of("./:") == std::string_view::npos && !fs::exists(text))
    return {RunnerReference::Kind::kEntryPoint, std::string(text), ""};
  const Reference reference = parse_reference(text, "");
  if (reference.language != Language::kPython) {
    Error e(ErrorCode::kInvalidArgument, fmt::format("the runner '{}' is not a Python file", reference.path));
    throw e.set_remedy("Name a .py file, as in FILE.py:CLASS; native backends are extension modules.");
  }
  return {RunnerReference::Kind::kFile, reference.path, reference.function};
}

const std::vector<ShippedRunner>& shipped_runners() {
  static const std::vector<ShippedRunner> list = {
      {"tensorflow", "tensorflow", "ASSAY_TENSORFLOW"},
      {"pytorch", "torch", "ASSAY_TORCH"},
      {"tensorrt", "tensorrt", "ASSAY_TENSORRT"},
  };
  return list;
}

RunnerReference shipped_runner(std::string_view name) {
  std::string names;
  for (const ShippedRunner& r : shipped_runners()) {
    if (r.name == name) return {RunnerReference::Kind::kShipped, std::string(name), ""};
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", r.name);
  }
  fail(ErrorCode::kNotFound, "assay comes with no runner '{}'; it has {}", name, names);
}

std::unique_ptr<Session> open_script_session(const RunnerReference& runner, const std::string& model_path,
                                             const ScriptSessionOptions& options) {
  if (!fs::exists(model_path)) fail(ErrorCode::kNotFound, "there is no model {}", model_path);
  require_package(runner, options);
  return std::make_unique<ScriptSession>(runner, model_path, nullptr, options);
}

std::unique_ptr<Session> open_script_session(const RunnerReference& runner, const ModelSource& source,
                                             const ScriptSessionOptions& options) {
  require_package(runner, options);
  if (source.path.empty()) return std::make_unique<TemporaryFileSession>(runner, *source.model, options);
  return std::make_unique<ScriptSession>(runner, source.path, source.model.get(), options);
}

std::string why_not(const RunnerReference& runner, const ScriptSessionOptions& options) {
  try {
    Child child({runner.str(), interpreter_of(runner, options)});
    if (runner.kind == RunnerReference::Kind::kEntryPoint) {
      child.call("runner.entry_point", {{"name", runner.name}}, "a look for " + runner.str());
      return {};
    }
    if (runner.kind != RunnerReference::Kind::kShipped) return {};
    const auto& list = shipped_runners();
    const auto shipped =
        std::find_if(list.begin(), list.end(), [&](const ShippedRunner& r) { return r.name == runner.name; });
    const Item missing =
        child.call("runner.missing", {{"package", shipped->package}}, "a look for its package");
    if (missing.is_null()) return {};
    return fmt::format(
        "{} needs the Python package {}, which {} does not have: {}. Install it, or name an interpreter that "
        "has "
        "it in {}.",
        runner.str(), shipped->package, child.interpreter(), missing.text(), shipped->variable);
  } catch (const Error& e) {
    return e.what();
  }
}

std::vector<EntryPointRunner> list_entry_point_runners(const std::string& interpreter) {
  Child child({"the list of runners", interpreter});
  const Item answer = child.call("runner.entry_points", {}, "the list of runners");
  std::vector<EntryPointRunner> runners;
  for (const Item& r : answer.list())
    runners.push_back(
        {r.at("name").text(), r.at("value").text(), r.at("package").text(), r.at("version").text()});
  return runners;
}

RunPlugins list_run_plugins(const std::string& interpreter) {
  Child child({"the options of packages", interpreter});
  const Item answer = child.call("runner.run_plugins", {}, "the list of options that packages add");
  const auto texts = [](const Item& list) {
    std::vector<std::string> found;
    for (const Item& text : list.list()) found.push_back(text.text());
    return found;
  };
  RunPlugins plugins{.problems = texts(answer.at("problems"))};
  for (const Item& g : answer.at("groups").list()) {
    PluginOptionGroup& group = plugins.groups.emplace_back(g.at("title").text(), g.at("description").text());
    for (const Item& o : g.at("options").list())
      group.options.push_back(
          {texts(o.at("names")), o.at("help").text(), o.at("arity").text(), texts(o.at("choices"))});
  }
  for (const Item& r : answer.at("runners").list())
    plugins.runners.push_back({{r.at("option").text()}, r.at("help").text(), "none", {}});
  return plugins;
}

}  // namespace assay::script
