#include "run/runner.h"

#include <fmt/format.h>

#include <ctime>
#include <map>

#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/wording.h"
#include "graph/metadata_text.h"
#include "reference/evaluate.h"
#include "run/shape_fits.h"

namespace assay {
namespace {

/// Python's strftime("%x") and strftime("%X") in the C locale.
std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%m/%d/%y-%H:%M:%S", &local);
  return text;
}

bool draws_random_numbers(const Graph& graph, const Model& model) {
  for (const auto& n : graph.nodes()) {
    const OpDef* op = bind_op(*n, model).op;
    if (op == nullptr || op->random) return true;
    for (const Attribute& a : n->attributes)
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>(); sub && draws_random_numbers(**sub, model))
        return true;
  }
  return false;
}

/// Calls a backend for the model of a file, and adds the file to its Errors. Exceptions of a sink are passed
/// on unchanged.
template <typename Body>
void with_file(const std::string& path, const bool& is_in_sink, Body&& body) {
  try {
    body();
  } catch (Error& e) {
    if (!is_in_sink) e.add_context(file_place(path));
    throw;
  }
}

}  // namespace

void Runner::activate(ModelLoader& loader) {
  const Backend& backend = *choice_.backend;
  if (const std::string reason = backend.probe(options_); !reason.empty())
    fail(ErrorCode::kUnsupported, "{} cannot be used: {}", backend_name(backend), reason);
  // A changed model is loaded before the session is announced, an unchanged one only by the session.
  ModelSource source;
  const bool is_changed = loader.changes_model();
  if (is_changed) source = loader.load_for(backend);
  backend.announce(options_);
  if (!is_changed) source = loader.load_for(backend);
  if (!backend.builds_engines) session_ = pool_->take(backend);
  path_ = loader.options().path;
  const bool is_shared = session_ != nullptr;
  if (!is_shared) {
    const CrashNote note = crash_note("loaded");
    with_file(path_, false, [&] { session_ = backend.open(source, options_); });
  }
  model_ = source.model;
  if (!is_shared && model_ != nullptr && !backend.builds_engines) pool_->put(backend, *model_, session_);
}

CrashNote Runner::crash_note(std::string_view did) const {
  const Backend& backend = *choice_.backend;
  return {fmt::format("{}: {}, while it {} the model {},", name_, backend.human_name, did, path_),
          backend.reads_files ? say(Say::kLintNodes, {path_}) : "That is a fault of this build."};
}

void Runner::deactivate() { session_ = nullptr; }

std::shared_ptr<Session> SessionPool::take(const Backend& backend) {
  const bool is_last = --expected_[&backend] == 0;
  std::shared_ptr<Session> session = kept_[&backend];
  if (is_last) kept_.erase(&backend);
  return session;
}

void SessionPool::put(const Backend& backend, const Model& model, std::shared_ptr<Session> session) {
  if (expected_[&backend] > 0 && !draws_random_numbers(*model.graph, model))
    kept_[&backend] = std::move(session);
}

double Runner::infer(std::span<const Tensor> feed, const Session::Sink& sink) {
  const std::vector<TensorInfo>& expected = inputs();
  if (diag::enabled(diag::Severity::kVerbose)) {
    MetadataText text;
    for (const TensorInfo& i : expected) text.add(i.name, i.type.dtype, i.type.dims);
    diag::once(diag::Severity::kVerbose, "{:35} | Input metadata is: {}", name_, text.str());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorInfo& info = expected[i];
    if (info.type.dtype != feed[i].dtype())
      fail_expected(ErrorCode::kInvalidArgument,
                    "Input tensor: {} | Received unexpected dtype: {}.\nNote: Expected type: {}", info.name,
                    dtype_name(feed[i].dtype()), dtype_name(info.type.dtype));
    if (!shape_fits(feed[i].shape(), info.type.dims))
      fail_expected(
          ErrorCode::kInvalidArgument,
          "Input tensor: {} | Received incompatible shape: {}.\nNote: Expected a shape compatible with: {}",
          info.name, feed[i].shape().str(), bounded_shape_text(*info.type.dims));
  }
  const CrashNote note = crash_note("ran");
  bool is_in_sink = false;
  with_file(path_, is_in_sink, [&] {
    session_->run(feed, [&](size_t output, Tensor tensor) {
      is_in_sink = true;
      sink(output, std::move(tensor));
      is_in_sink = false;
    });
  });
  return session_->last_run_seconds();
}

std::vector<Runner> make_runners(const std::vector<RunnerChoice>& choices, const SessionOptions& options) {
  std::vector<Runner> runners;
  std::map<std::string, int> counts;
  const auto pool = std::make_shared<SessionPool>();
  for (const RunnerChoice& choice : choices)
    runners.emplace_back(choice, options,
                         fmt::format("{}-N{}-{}", choice.prefix, counts[choice.prefix]++, date_and_time()),
                         pool);
  return runners;
}

}  // namespace assay
