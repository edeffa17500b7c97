#include "lint/single_nodes.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "base/diagnostics.h"
#include "base/isolated_jobs.h"
#include "base/log.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "graph/read.h"

namespace assay::lint {
namespace {

/// The backend's prefix of every message of ONNX Runtime.
constexpr std::string_view kPrefix = "ONNX Runtime: ";

/// The backend's message. Errors that are not the model's fault (an unknown provider, an internal error) are
/// rethrown.
std::string message_of(const Error& e) {
  if (e.code() != ErrorCode::kUnsupported && e.code() != ErrorCode::kInvalidModel &&
      e.code() != ErrorCode::kResource)
    throw e;
  const std::string_view message = e.message();
  return std::string(message.starts_with(kPrefix) ? message.substr(kPrefix.size()) : message);
}

/// True for ONNX Runtime's message about operators that it lacks, which upstream treats as a warning.
bool is_unknown_operator(std::string_view message) {
  return message.find("No opset import for domain") != std::string_view::npos ||
         message.find("is not a registered function/op") != std::string_view::npos;
}

/// The node that a message of ONNX Runtime names: `... Name:'n' Status Message: ...` or `Node (n) Op (...)
/// ...`; empty when it names none.
std::string named_node(std::string_view message) {
  const auto between = [&](std::string_view begin, std::string_view end) -> std::string {
    const size_t at = message.rfind(begin);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = message.substr(at + begin.size());
    return std::string(rest.substr(0, rest.find(end)));
  };
  std::string name = between("Name:'", "'");
  return name.empty() ? between("Node (", ") Op (") : name;
}

/// The type under which a value is fed.
Type type_of(const Value& v, const Tensor& t) {
  return t.is_container() ? v.type : Type::tensor(t.dtype(), t.shape());
}

/// The first letter of a child process's result of a job.
enum Answer : char {
  kRan = 'r',      // and, for the whole model, the backend's warnings, one per line
  kRefused = 'f',  // and the backend's message
  kSkipped = 's',  // its inputs are missing
  kNoData = 'd',   // and why
  kThrown = 't',   // the number of an ErrorCode, and the message: not the model's fault
};

std::string answer(Answer kind, std::string_view text = {}) { return std::string(1, kind).append(text); }

/// Runs the model, then its nodes in order, each as a job of run_isolated(): job 0 is the whole model, job i
/// + 1 node i. Values stay in the child process; a child that replaces a dead one computes them again. The
/// next child starts from the parent's state.
class IsolatedRun {
 public:
  IsolatedRun(const std::shared_ptr<const Model>& model, const RunOptions& options, Report& report)
      : model_(model), options_(options), report_(report) {
    for (const auto& n : model->graph->nodes()) {
      nodes_.push_back(n.get());
      for (const Value* v : used_values(*n)) ++uses_[v];
    }
    crashed_.resize(nodes_.size());
  }
  RunOutcome run();

 private:
  // In the child.
  std::string job(size_t job);
  void make_feed();
  std::string whole();
  std::string node(const Node& n);
  void build(const Node& n, const std::vector<Value*>& used);
  void release(const std::vector<Value*>& used);
  // In the parent.
  void whole_done(const IsolatedJobResult& result);
  void node_done(size_t i, const IsolatedJobResult& result);

  const std::shared_ptr<const Model> model_;
  const RunOptions& options_;
  Report& report_;
  std::vector<const Node*> nodes_;
  // The parent's state, for later children.
  std::vector<bool> crashed_;
  bool has_deaths_ = false, is_over_ = false;
  std::string whole_death_;
  RunOutcome outcome_;
  // Values computed by a child.
  bool has_feed_ = false;
  TensorList feed_;
  std::string warnings_;           // of the whole model, line by line
  size_t next_ = 0;                // the first node that it has not run
  std::shared_ptr<Model> single_;  // its functions and opsets stay, its graph changes
  std::vector<Tensor> inputs_;     // of single_
  std::unordered_map<const Value*, Tensor> values_;
  std::unordered_map<const Value*, size_t> uses_;
};

std::string IsolatedRun::job(size_t job) {
  if (is_over_) return answer(kSkipped);
  try {
    if (!has_feed_) make_feed();
  } catch (const Error& e) {
    is_over_ = true;
    return answer(kNoData, e.what());
  }
  try {
    if (job == 0) {
      if (!options_.runs_whole) return answer(kSkipped);
      const std::string message = whole();
      is_over_ = message.empty();
      return is_over_ ? answer(kRan, warnings_) : answer(kRefused, message);
    }
    for (; next_ < job - 1; ++next_)
      if (!crashed_[next_]) node(*nodes_[next_]);
    return node(*nodes_[next_++]);
  } catch (const Error& e) {
    is_over_ = true;
    return answer(kThrown, fmt::format("{} {}", static_cast<int>(e.code()), e.what()));
  }
}

void IsolatedRun::make_feed() {
  // Messages about the data have been logged once.
  std::optional<log::Capture> silence;
  if (has_deaths_) silence.emplace();
  feed_ = options_.feed(options_.inputs);
  has_feed_ = true;
  single_ = clone_model(*model_);
  for (const NamedTensor& t : feed_)
    if (const Value* v = model_->graph->find_value(t.name)) values_[v] = t.tensor;
}

/// Empty when it ran, otherwise the backend's message.
std::string IsolatedRun::whole() {
  try {
    // Its warnings are repeated by the nodes.
    SessionOptions options = options_.session;
    std::mutex mutex;
    options.on_warning = [&](std::string_view text) {
      const std::lock_guard lock(mutex);
      warnings_.append(text).append("\n");
    };
    const auto session = options_.backend->open({.model = model_, .path = ""}, options);
    std::vector<Tensor> tensors;
    for (const TensorInfo& input : session->inputs()) {
      const Tensor* t = find(feed_, input.name);
      require(t != nullptr, ErrorCode::kUnsupported, "there are no data for the input '{}'", input.name);
      tensors.push_back(*t);
    }
    session->run(tensors, [](size_t, Tensor) {});
    return {};
  } catch (const Error& e) {
    return message_of(e);
  }
}

/// Makes single_ a model of this node alone, and inputs_ its inputs.
void IsolatedRun::build(const Node& n, const std::vector<Value*>& used) {
  single_->graph = std::make_unique<Graph>();
  inputs_.clear();
  Graph& g = *single_->graph;
  g.name = n.name;
  const bool has_bodies = has_subgraph(n);
  ValueMap map;
  for (const Value* v : used) {
    if (v->is_constant()) {
      map[v] = clone_value(*v, g);
      continue;
    }
    const Tensor& t = values_.at(v);
    Type type = type_of(*v, t);
    // With fixed extents a runtime may refuse a branch that the data never take.
    if (has_bodies && type.dims) std::fill(type.dims->begin(), type.dims->end(), Dim());
    map[v] = g.add_input(v->name(), std::move(type));
    inputs_.push_back(t);
  }
  const Node* copy = clone_node(n, g, map);
  for (Value* v : copy->outputs())
    if (v != nullptr) g.outputs.push_back(v);
}

/// Releases the values that no later node needs.
void IsolatedRun::release(const std::vector<Value*>& used) {
  for (const Value* v : used)
    if (const auto it = uses_.find(v); it != uses_.end() && --it->second == 0) values_.erase(v);
}

std::string IsolatedRun::node(const Node& n) {
  const std::vector<Value*> used = used_values(n);
  std::string result = answer(kSkipped);
  if (std::all_of(used.begin(), used.end(),
                  [&](const Value* v) { return v->is_constant() || values_.contains(v); })) {
    try {
      build(n, used);
      SessionOptions options = options_.session;
      options.on_warning = [](std::string_view) {};
      const auto session = options_.backend->open({.model = single_, .path = ""}, options);
      std::vector<const Value*> outputs;
      for (const Value* v : n.outputs())
        if (v != nullptr) outputs.push_back(v);
      session->run(inputs_, [&](size_t i, Tensor t) {
        if (uses_.contains(outputs.at(i))) values_[outputs[i]] = std::move(t);
      });
      result = answer(kRan);
    } catch (const Error& e) {
      result = answer(kRefused, message_of(e));
    }
  }
  release(used);
  return result;
}

void IsolatedRun::whole_done(const IsolatedJobResult& result) {
  if (!result.death.empty()) {
    whole_death_ = result.death;
  } else if (result.text[0] == kRan) {
    is_over_ = true;
    outcome_.ran_whole = true;
    std::istringstream lines(result.text.substr(1));
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) report_.add(kRuntimeWarning, {}, pruned_message(line));
  } else if (result.text[0] == kRefused) {
    diag::verbose("{} cannot run the model: {}", options_.backend->human_name, result.text.substr(1));
  }
}

void IsolatedRun::node_done(size_t i, const IsolatedJobResult& result) {
  const Node& n = *nodes_[i];
  Place place{n.name, n.op_type, {}};
  if (!result.death.empty()) {
    crashed_[i] = true;
    whole_death_.clear();  // the node explains the death
    report_.add(kRuntimeCrash, place, options_.backend->human_name, result.death, "this node");
  } else if (result.text[0] == kRan) {
    report_.add_passing(n.name);
  } else if (result.text[0] == kRefused) {
    const std::string message = result.text.substr(1);
    const bool is_unknown = is_unknown_operator(message);
    // It may be a node of a body, which upstream does not identify.
    if (const std::string inner = named_node(message);
        !report_.upstream_only() && !inner.empty() && inner != n.name)
      place.inside = fmt::format("at node '{}': ", inner);
    report_.add(is_unknown ? kRuntimeUnknown : kRuntimeError, place, pruned_message(message));
    if (is_unknown) report_.add_passing(n.name);
  }
}

RunOutcome IsolatedRun::run() {
  run_isolated(
      nodes_.size() + 1, {.workers = 1}, [&](size_t i) { return job(i); },
      [&](const IsolatedJobResult& result) {
        has_deaths_ = has_deaths_ || !result.death.empty();
        const std::string_view text = result.text;
        if (text.starts_with(kThrown)) fail(static_cast<ErrorCode>(text[1] - '0'), "{}", text.substr(3));
        constexpr std::string_view kThrew = "error: ";
        if (result.death.empty() && text.starts_with(kThrew))
          fail(ErrorCode::kUnsupported, "{}", text.substr(kThrew.size()));
        if (text.starts_with(kNoData)) {
          is_over_ = true;
          outcome_.no_data = text.substr(1);
        } else if (result.job == 0) {
          whole_done(result);
        } else {
          node_done(result.job - 1, result);
        }
      });
  outcome_.ran_nodes = !outcome_.ran_whole && outcome_.no_data.empty();
  if (!whole_death_.empty())
    report_.add(kRuntimeCrash, {}, options_.backend->human_name, whole_death_, "the whole model");
  return outcome_;
}

void erase_all(std::string& text, std::string_view word) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;) text.erase(at, word.size());
}

/// Erases up to the end of the last `word`, if the text holds one at or after `from`.
void erase_through_last(std::string& text, std::string_view word, size_t from = 0) {
  const size_t at = text.rfind(word);
  if (at != std::string::npos && at >= from) text.erase(0, at + word.size());
}

/// `/path/file.cc:12 onnxruntime::Function(arguments)` at the beginning, up to the last parenthesis.
void erase_source_place(std::string& text) {
  const size_t file = text.find(".cc:");
  const size_t slash = text.find('/');
  if (file == std::string::npos || slash == std::string::npos || slash > file) return;
  const size_t after = text.find_first_not_of("0123456789", file + 4);
  if (after == file + 4 || after == std::string::npos) return;
  if (text.compare(after, 14, " onnxruntime::") != 0 || text.find('(', after) == std::string::npos) return;
  erase_through_last(text, ")", after);
}

}  // namespace

std::string pruned_message(std::string_view message) {
  std::string text(message);
  erase_all(text, " : ");
  for (char& c : text)
    if (c == '"') c = '`';
  for (const std::string_view word :
       {"This is an invalid model. ", "Error: ", "Failed to load model with error: ", "Exception caught: ",
        "Exception during loading: ", "\n"})
    erase_all(text, word);
  if (text.starts_with("Node (") && text.find(") Op (") != std::string::npos)
    erase_through_last(text, ") [ShapeInferenceError]");
  erase_source_place(text);
  if (text.starts_with("In Node, ")) erase_through_last(text, ", Error ", 8);
  erase_through_last(text, "Status Message: ");
  if (text == "std::bad_alloc") return "ONNX Runtime was refused memory that it asked for";
  return text;
}

RunOutcome run_model(const std::shared_ptr<const Model>& model, const RunOptions& options, Report& report) {
  return IsolatedRun(model, options, report).run();
}

}  // namespace assay::lint
