// Extension modules in C++: derive from the classes here, and name them in ASSAY_EXTENSION. Header-only and
// independent of libassay: a module needs only this folder on the include path and links nothing.
//
//   class Twice : public assay::ext::Operator { ... };
//
//   ASSAY_EXTENSION("twice", "1.0", "An operator that doubles", [](assay::ext::Registry& r) { r.add<Twice>();
//   })
//
// Callbacks may throw; what they throw reaches the user as an error of this module. docs/guide/extensions.md
// is the tutorial.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/extension_abi.h"

namespace assay::ext {

/// The status of a host function or a callback.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The host's functions. Set when the module is registered.
inline const AssayHost*& host_pointer() {
  static const AssayHost* pointer = nullptr;
  return pointer;
}
inline const AssayHost& host() { return *host_pointer(); }

/// Throws Error with the host's reason if a status is a failure.
inline void check(int32_t answer) {
  if (answer < 0) throw Error(host().error());
}
template <typename T>
T* check(T* answer) {
  if (answer == nullptr) throw Error(host().error());
  return answer;
}

/// ONNX's element types that have a C++ type here.
enum DType : int32_t {
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kBFloat16 = 16,
};

using Dims = std::vector<int64_t>;

/// A tensor of the host: elements in row-major order, readable during the callback.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const AssayTensor& raw) : raw_(raw) {}

  /// False for an optional input that is left out.
  bool is_there() const { return raw_.data != nullptr; }
  int32_t dtype() const { return raw_.dtype; }
  Dims dims() const { return Dims(raw_.dims, raw_.dims + raw_.rank); }
  int64_t size() const {
    int64_t n = 1;
    for (int32_t i = 0; i < raw_.rank; ++i) n *= raw_.dims[i];
    return n;
  }
  const void* data() const { return raw_.data; }
  /// The caller knows the type from dtype().
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(raw_.data);
  }
  uint64_t bytes() const { return raw_.bytes; }
  std::string string(int64_t i) const {
    const AssayText& t = static_cast<const AssayText*>(raw_.data)[i];
    return {t.data, t.length};
  }
  const AssayTensor& raw() const { return raw_; }

 private:
  AssayTensor raw_{};
};

/// Receives results.
class Outputs {
 public:
  explicit Outputs(AssayOutputs* raw) : raw_(raw) {}
  /// Memory for a result, to be filled before the callback returns. Throws Error.
  void* give(uint64_t index, int32_t dtype, const Dims& dims) {
    return check(host().give(raw_, index, dtype, static_cast<int32_t>(dims.size()), dims.data()));
  }
  void* give(const std::string& name, int32_t dtype, const Dims& dims) {
    return check(
        host().give_named(raw_, name.c_str(), dtype, static_cast<int32_t>(dims.size()), dims.data()));
  }
  /// A copy of a tensor. Throws Error.
  void give_copy(uint64_t index, const Tensor& t) {
    if (t.dtype() == kString) {
      check(host().give_strings(raw_, index, nullptr, t.raw().rank, t.raw().dims, t.data<AssayText>()));
    } else if (void* memory = give(index, t.dtype(), t.dims()); t.bytes() != 0) {
      std::memcpy(memory, t.data(), t.bytes());
    }
  }
  void give_copy(const std::string& name, const Tensor& t) {
    if (t.dtype() == kString) {
      check(host().give_strings(raw_, 0, name.c_str(), t.raw().rank, t.raw().dims, t.data<AssayText>()));
    } else if (void* memory = give(name, t.dtype(), t.dims()); t.bytes() != 0) {
      std::memcpy(memory, t.data(), t.bytes());
    }
  }
  AssayOutputs* raw() { return raw_; }

 private:
  AssayOutputs* raw_;
};

/// The parsed command line. Options are identified by their first name.
class Args {
 public:
  explicit Args(const AssayArgs* raw) : raw_(raw) {}
  bool has(const char* option) const {
    const int32_t answer = host().has_option(raw_, option);
    check(answer);
    return answer != 0;
  }
  std::optional<std::string> text(const char* option) const {
    AssayText t{};
    return found(host().option_text(raw_, option, &t)) ? std::optional(std::string(t.data, t.length))
                                                       : std::nullopt;
  }
  std::optional<int64_t> integer(const char* option) const {
    int64_t v = 0;
    return found(host().option_integer(raw_, option, &v)) ? std::optional(v) : std::nullopt;
  }
  std::optional<double> number(const char* option) const {
    double v = 0;
    return found(host().option_number(raw_, option, &v)) ? std::optional(v) : std::nullopt;
  }
  std::vector<std::string> words(const char* option) const {
    std::vector<std::string> list;
    AssayText t{};
    for (uint64_t i = 0; found(host().option_word(raw_, option, i, &t)); ++i)
      list.emplace_back(t.data, t.length);
    return list;
  }

 private:
  static bool found(int32_t answer) {
    check(answer);
    return answer != 0;
  }
  const AssayArgs* raw_;
};

class Node;

/// A tensor of a graph. A handle: copies refer to the same value; one without a value stands for an optional
/// input that is left out.
class Value {
 public:
  explicit Value(AssayValue* raw = nullptr) : raw_(raw) {}
  explicit operator bool() const { return raw_ != nullptr; }
  bool operator==(const Value& o) const { return raw_ == o.raw_; }
  std::string name() const { return host().value_name(raw_); }
  void set_name(const std::string& name) { check(host().set_value_name(raw_, name.c_str())); }
  /// 0 when it is not known.
  int32_t dtype() const { return host().value_dtype(raw_); }
  /// Extents, ASSAY_UNKNOWN for those that are not known; nothing when the rank is not.
  std::optional<Dims> dims() const {
    const int32_t rank = host().value_rank(raw_);
    if (rank < 0) return std::nullopt;
    Dims dims;
    for (int32_t i = 0; i < rank; ++i) dims.push_back(host().value_dim(raw_, static_cast<uint64_t>(i)));
    return dims;
  }
  void set_type(int32_t dtype, const std::optional<Dims>& dims) {
    check(host().set_value_type(raw_, dtype, dims ? static_cast<int32_t>(dims->size()) : ASSAY_UNKNOWN,
                                dims ? dims->data() : nullptr));
  }
  bool is_constant() const { return host().value_is_constant(raw_) != 0; }
  /// A constant's data, including outputs of Constant nodes; nothing for others.
  std::optional<Tensor> tensor() const {
    AssayTensor t{};
    const int32_t answer = host().value_tensor(raw_, &t);
    check(answer);
    return answer != 0 ? std::optional(Tensor(t)) : std::nullopt;
  }
  std::optional<Node> producer() const;
  std::vector<Node> consumers() const;
  void replace_uses(Value to) { check(host().replace_uses(raw_, to.raw_)); }
  AssayValue* raw() const { return raw_; }

 private:
  AssayValue* raw_;
};

class Graph;

/// A node of a graph. A handle.
class Node {
 public:
  explicit Node(AssayNode* raw) : raw_(raw) {}
  explicit Node(const AssayNode* raw) : raw_(const_cast<AssayNode*>(raw)) {}
  std::string name() const { return host().node_name(raw_); }
  std::string op_type() const { return host().node_op_type(raw_); }
  std::string domain() const { return host().node_domain(raw_); }
  void set_name(const std::string& name) { check(host().set_node_name(raw_, name.c_str())); }
  void set_op_type(const std::string& op_type, const std::string& domain = "") {
    check(host().set_node_op_type(raw_, op_type.c_str(), domain.c_str()));
  }
  uint64_t input_count() const { return host().node_input_count(raw_); }
  Value input(uint64_t i) const { return Value(host().node_input(raw_, i)); }
  void set_inputs(const std::vector<Value>& list) {
    std::vector<AssayValue*> raw = raw_of(list);
    check(host().set_node_inputs(raw_, raw.data(), raw.size()));
  }
  uint64_t output_count() const { return host().node_output_count(raw_); }
  Value output(uint64_t i) const { return Value(host().node_output(raw_, i)); }
  void set_outputs(const std::vector<Value>& list) {
    std::vector<AssayValue*> raw = raw_of(list);
    check(host().set_node_outputs(raw_, raw.data(), raw.size()));
  }
  void remove() { check(host().remove_node(raw_)); }

  /// Nothing when the node has no such attribute, and its schema no default. Throws Error for one of another
  /// kind.
  std::optional<int64_t> integer(const char* name) const {
    int64_t v = 0;
    return found(host().attribute_integer(raw_, name, &v)) ? std::optional(v) : std::nullopt;
  }
  std::optional<double> number(const char* name) const {
    double v = 0;
    return found(host().attribute_float(raw_, name, &v)) ? std::optional(v) : std::nullopt;
  }
  std::optional<std::string> text(const char* name) const {
    AssayText t{};
    return found(host().attribute_text(raw_, name, &t)) ? std::optional(std::string(t.data, t.length))
                                                        : std::nullopt;
  }
  std::optional<std::vector<int64_t>> integers(const char* name) const {
    uint64_t count = 0;
    if (!found(host().attribute_integers(raw_, name, nullptr, &count))) return std::nullopt;
    std::vector<int64_t> list(count);
    check(host().attribute_integers(raw_, name, list.data(), &count));
    return list;
  }
  std::optional<std::vector<double>> numbers(const char* name) const {
    uint64_t count = 0;
    if (!found(host().attribute_floats(raw_, name, nullptr, &count))) return std::nullopt;
    std::vector<double> list(count);
    check(host().attribute_floats(raw_, name, list.data(), &count));
    return list;
  }
  std::optional<Tensor> tensor(const char* name) const {
    AssayTensor t{};
    return found(host().attribute_tensor(raw_, name, &t)) ? std::optional(Tensor(t)) : std::nullopt;
  }
  std::optional<Graph> graph(const char* name) const;
  void set(const char* name, int64_t v) { check(host().set_attribute_integer(raw_, name, v)); }
  void set(const char* name, double v) { check(host().set_attribute_float(raw_, name, v)); }
  void set(const char* name, const std::string& v) {
    check(host().set_attribute_text(raw_, name, {v.data(), v.size()}));
  }
  void set(const char* name, const std::vector<int64_t>& v) {
    check(host().set_attribute_integers(raw_, name, v.data(), v.size()));
  }
  void set(const char* name, const std::vector<double>& v) {
    check(host().set_attribute_floats(raw_, name, v.data(), v.size()));
  }
  void remove_attribute(const char* name) { check(host().remove_attribute(raw_, name)); }
  AssayNode* raw() const { return raw_; }

  static std::vector<AssayValue*> raw_of(const std::vector<Value>& list) {
    std::vector<AssayValue*> raw;
    for (const Value& v : list) raw.push_back(v.raw());
    return raw;
  }

 private:
  static bool found(int32_t answer) {
    check(answer);
    return answer != 0;
  }
  AssayNode* raw_;
};

/// A graph or a body of one. A handle.
class Graph {
 public:
  explicit Graph(AssayGraph* raw) : raw_(raw) {}
  std::string name() const { return host().graph_name(raw_); }
  void set_name(const std::string& name) { check(host().set_graph_name(raw_, name.c_str())); }
  /// A snapshot: the graph may be changed during iteration.
  std::vector<Node> nodes() const {
    std::vector<Node> list;
    for (uint64_t i = 0, n = host().node_count(raw_); i < n; ++i) list.emplace_back(host().node_at(raw_, i));
    return list;
  }
  std::vector<Value> inputs() const {
    std::vector<Value> list;
    for (uint64_t i = 0, n = host().graph_input_count(raw_); i < n; ++i)
      list.emplace_back(host().graph_input(raw_, i));
    return list;
  }
  std::vector<Value> outputs() const {
    std::vector<Value> list;
    for (uint64_t i = 0, n = host().graph_output_count(raw_); i < n; ++i)
      list.emplace_back(host().graph_output(raw_, i));
    return list;
  }
  void set_outputs(const std::vector<Value>& list) {
    std::vector<AssayValue*> raw = Node::raw_of(list);
    check(host().set_graph_outputs(raw_, raw.data(), raw.size()));
  }
  /// Without a value when there is none.
  Value find(const std::string& name) const { return Value(host().find_value(raw_, name.c_str())); }
  /// A new value; its name is made unique.
  Value add_value(const std::string& name) { return Value(check(host().add_value(raw_, name.c_str()))); }
  Value add_input(const std::string& name, int32_t dtype, const Dims& dims) {
    return Value(check(
        host().add_graph_input(raw_, name.c_str(), dtype, static_cast<int32_t>(dims.size()), dims.data())));
  }
  template <typename T>
  Value add_constant(const std::string& name, int32_t dtype, const Dims& dims,
                     const std::vector<T>& elements) {
    const AssayTensor t = {dtype, static_cast<int32_t>(dims.size()), dims.data(), elements.data(),
                           elements.size() * sizeof(T)};
    return Value(check(host().add_constant(raw_, name.c_str(), &t)));
  }
  Node add_node(const std::string& op_type, const std::vector<Value>& inputs,
                const std::vector<Value>& outputs, const std::string& name = "",
                const std::string& domain = "") {
    std::vector<AssayValue*> in = Node::raw_of(inputs), out = Node::raw_of(outputs);
    return Node(check(host().add_node(raw_, op_type.c_str(), domain.c_str(), name.c_str(), in.data(),
                                      in.size(), out.data(), out.size())));
  }
  AssayGraph* raw() const { return raw_; }

 private:
  AssayGraph* raw_;
};

inline std::optional<Node> Value::producer() const {
  AssayNode* n = host().value_producer(raw_);
  return n != nullptr ? std::optional(Node(n)) : std::nullopt;
}
inline std::vector<Node> Value::consumers() const {
  std::vector<Node> list;
  for (uint64_t i = 0, n = host().value_consumer_count(raw_); i < n; ++i)
    list.emplace_back(host().value_consumer(raw_, i));
  return list;
}
inline std::optional<Graph> Node::graph(const char* name) const {
  AssayGraph* g = host().attribute_graph(raw_, name);
  return g != nullptr ? std::optional(Graph(g)) : std::nullopt;
}

/// A model: its own, or one that the host lends to a callback.
/// Bytes of the host, released with the last copy.
class Bytes {
 public:
  Bytes() : raw_(check(host().new_bytes()), [](AssayBytes* r) { host().release_bytes(r); }) {}
  /// Valid until they are written to.
  std::string_view view() const {
    uint64_t size = 0;
    const void* data = host().bytes_data(raw_.get(), &size);
    return {static_cast<const char*>(data), static_cast<size_t>(size)};
  }
  AssayBytes* raw() const { return raw_.get(); }

 private:
  std::shared_ptr<AssayBytes> raw_;
};

class Model {
 public:
  /// Lent.
  explicit Model(const AssayModel* lent) : raw_(const_cast<AssayModel*>(lent)) {}
  static Model load(const std::string& path) { return own(host().load_model(path.c_str())); }
  /// From ONNX's message in memory, which is copied.
  static Model parse(std::string_view bytes) { return own(host().parse_model(bytes.data(), bytes.size())); }
  Model copy() const { return own(host().copy_model(raw_)); }

  void save(const std::string& path) const { check(host().save_model(raw_, path.c_str())); }
  /// The model in its current state as ONNX's message, including weights of external files. Throws Error
  /// beyond 2 GB, the limit of every reader; save() then writes external data.
  Bytes serialize() const {
    Bytes bytes;
    check(host().serialize_model(raw_, bytes.raw()));
    return bytes;
  }
  int64_t opset(const char* domain = "") const { return host().opset(raw_, domain); }
  void set_opset(const char* domain, int64_t version) { check(host().set_opset(raw_, domain, version)); }
  Graph graph() const { return Graph(check(host().main_graph(raw_))); }
  void infer_shapes() { check(host().infer_shapes(raw_)); }
  /// Removes unused nodes and values, and sorts.
  void clean_up() { check(host().clean_up(raw_)); }
  AssayModel* raw() const { return raw_; }

 private:
  static Model own(AssayModel* raw) {
    Model m(check(raw));
    m.owner_ = std::shared_ptr<AssayModel>(raw, [](AssayModel* r) { host().release_model(r); });
    return m;
  }
  AssayModel* raw_;
  std::shared_ptr<AssayModel> owner_;
};

enum class Severity : int32_t { kExtraVerbose = 10, kVerbose = 20, kInfo = 30, kWarning = 40, kError = 50 };
/// A line in the program's log.
inline void log(Severity severity, const std::string& text) {
  host().log(static_cast<int32_t>(severity), text.c_str());
}

/// Runs a callback; what it throws becomes the error that the host reads.
template <typename Body>
int32_t guarded(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (const std::exception& e) {
    host().set_error(e.what());
  } catch (...) {
    host().set_error("it threw something that is no std::exception");
  }
  return -1;
}

/// An option. Texts must be literals, or live as long as the module.
struct Option {
  const char* names;  ///< "--slow -s": identified by the first
  const char* help;
  int32_t arity = ASSAY_ONE;
  int32_t kind = ASSAY_WORD;
  std::vector<const char*> choices = {};
  const char* metavar = nullptr;
};

/// Options of `run`, under a title of their own.
class OptionGroup {
 public:
  virtual ~OptionGroup() = default;
  virtual const char* title() const = 0;
  virtual const char* description() const { return ""; }
  virtual std::vector<Option> options() const = 0;
  /// Throws Error for invalid options, before anything runs.
  virtual void validate(const Args&) {}
};

/// Changes a model.
class Loader {
 public:
  virtual ~Loader() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const { return ""; }
  /// The flag of `run` that applies it to the model before any runner gets it; null: there is none.
  virtual const char* option() const { return nullptr; }
  virtual void apply(Model& model, const Args& args) = 0;
};

/// Receives the description of a session.
class TensorInfos {
 public:
  explicit TensorInfos(AssayTensorInfos* raw) : raw_(raw) {}
  void add_input(const std::string& name, int32_t dtype, const std::optional<Dims>& dims) {
    add(1, name, dtype, dims);
  }
  void add_output(const std::string& name, int32_t dtype, const std::optional<Dims>& dims) {
    add(0, name, dtype, dims);
  }
  /// As the graph declares them.
  void add_all(const Graph& graph) {
    for (const Value& v : graph.inputs()) add_input(v.name(), v.dtype(), v.dims());
    for (const Value& v : graph.outputs()) add_output(v.name(), v.dtype(), v.dims());
  }

 private:
  void add(int32_t is_input, const std::string& name, int32_t dtype, const std::optional<Dims>& dims) {
    check(host().add_tensor_info(raw_, is_input, name.c_str(), dtype,
                                 dims ? static_cast<int32_t>(dims->size()) : ASSAY_UNKNOWN,
                                 dims ? dims->data() : nullptr));
  }
  AssayTensorInfos* raw_;
};

/// A prepared model.
class Session {
 public:
  virtual ~Session() = default;
  virtual void describe(TensorInfos& infos) = 0;
  /// Inputs in the order of describe(). Computes every output. Returns the seconds that inference took;
  /// negative: as long as this call does.
  virtual double infer(const std::vector<Tensor>& inputs, Outputs& outputs) = 0;
};

/// A backend of `run`.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual const char* name() const = 0;
  virtual const char* option() const = 0;
  virtual const char* human_name() const { return name(); }
  virtual const char* runner_prefix() const { return nullptr; }  ///< null: NAME-runner
  virtual const char* summary() const = 0;
  virtual bool reads_files() const { return false; }
  /// Throws Error that says why it cannot be used here, and what to do.
  virtual void probe() {}
  /// `path`: the file that holds exactly this model; empty: there is none. `threads`: 0, or how many it may
  /// use.
  virtual std::unique_ptr<Session> open(const Model& model, const std::string& path, int threads,
                                        const Args& args) = 0;
};

/// A node whose types are inferred.
class InferContext {
 public:
  explicit InferContext(AssayInfer* raw) : raw_(raw) {}
  Node node() const { return Node(host().infer_node(raw_)); }
  /// 0 for an input that is omitted, not a tensor, or of unknown type.
  int32_t input_dtype(uint64_t i) const {
    int32_t dtype = 0, rank = 0;
    const int64_t* dims = nullptr;
    const int32_t answer = host().infer_input(raw_, i, &dtype, &rank, &dims);
    check(answer);
    return answer != 0 ? dtype : 0;
  }
  std::optional<Dims> input_dims(uint64_t i) const {
    int32_t dtype = 0, rank = 0;
    const int64_t* dims = nullptr;
    const int32_t answer = host().infer_input(raw_, i, &dtype, &rank, &dims);
    check(answer);
    return answer != 0 && rank >= 0 ? std::optional(Dims(dims, dims + rank)) : std::nullopt;
  }
  /// The elements, if they are already known.
  std::optional<Tensor> input_value(uint64_t i) const {
    AssayTensor t{};
    const int32_t answer = host().infer_input_value(raw_, i, &t);
    check(answer);
    return answer != 0 ? std::optional(Tensor(t)) : std::nullopt;
  }
  void set_output(uint64_t i, int32_t dtype, const std::optional<Dims>& dims) {
    check(host().infer_set_output(raw_, i, dtype, dims ? static_cast<int32_t>(dims->size()) : ASSAY_UNKNOWN,
                                  dims ? dims->data() : nullptr));
  }

 private:
  AssayInfer* raw_;
};

/// A node that is evaluated.
class EvalContext {
 public:
  explicit EvalContext(AssayEval* raw) : raw_(raw) {}
  Node node() const { return Node(host().eval_node(raw_)); }
  uint64_t input_count() const { return host().eval_input_count(raw_); }
  Tensor input(uint64_t i) const {
    AssayTensor t{};
    check(host().eval_input(raw_, i, &t));
    return Tensor(t);
  }
  uint64_t output_count() const { return host().eval_output_count(raw_); }
  int32_t output_dtype(uint64_t i) const { return host().eval_output_dtype(raw_, i); }
  Outputs outputs() { return Outputs(host().eval_outputs(raw_)); }
  uint64_t seed() const { return host().eval_seed(raw_); }

 private:
  AssayEval* raw_;
};

/// An operator, in one version. Floats come to eval() as float64 and leave as float64, unless as_stored().
class Operator {
 public:
  virtual ~Operator() = default;
  virtual const char* domain() const = 0;
  virtual const char* name() const = 0;
  virtual int64_t since() const { return 1; }
  /// Inputs, outputs, attributes and types, one declaration per line.
  virtual const char* schema() const = 0;
  virtual void infer(InferContext& c) = 0;
  virtual void eval(EvalContext& c) = 0;
  virtual bool as_stored() const { return false; }
  virtual bool is_random() const { return false; }
  /// How far rounding may move a result: ASSAY_EXACT, ASSAY_ELEMENTWISE, ASSAY_ACCUMULATING (then terms()
  /// counts), or ASSAY_CUSTOM_ERROR (then bound() says it).
  virtual int32_t error() const { return ASSAY_ELEMENTWISE; }
  virtual double ulps() const { return 1; }
  virtual int64_t terms(EvalContext&) { return 1; }
  virtual void bound(EvalContext&, double /*u*/, uint64_t /*index*/, const Tensor& /*y*/, double* /*bound*/) {
  }
  /// Facts for passes, tactics, the verdict and
  /// inspection; `size` and the function need not be set.
  virtual AssayOperatorFacts facts() const { return {}; }
  /// For a node whose types are known.
  virtual int64_t multiply_accumulates(const Node&) { return ASSAY_UNKNOWN; }
};

/// A graph pass.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;
  virtual int32_t stage() const { return ASSAY_STAGE_CANONICAL; }
  virtual int64_t since() const { return 0; }
  /// True when it changed something. Keeps what the model computes.
  virtual bool run(Model& model) = 0;
};

/// The formats that a plugin supports.
class Ways {
 public:
  explicit Ways(AssayWays* raw) : raw_(raw) {}
  /// `blocks`: for each input, then each output, 0 for row-major, or channel blocks of 8 or 16.
  /// Empty: all row-major.
  void add(const std::string& name = "", const std::vector<int32_t>& blocks = {}, double seconds = 0) {
    check(host().add_way(raw_, name.c_str(), blocks.data(), blocks.size(), seconds));
  }

 private:
  AssayWays* raw_;
};

/// Runs one node in an engine: TensorRT's plugin.
class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual void serialize(std::string& bytes) const = 0;
  /// Formats that it supports for these extents; the tensors have no data.
  virtual void ways(const std::vector<Tensor>& /*inputs*/, const std::vector<Tensor>& /*outputs*/,
                    Ways& ways) {
    ways.add();
  }
  /// Bytes of scratch memory.
  virtual int64_t workspace(const std::vector<Tensor>& /*inputs*/, const std::vector<Tensor>& /*outputs*/,
                            const std::string& /*way*/) {
    return 0;
  }
  virtual void configure(const std::vector<Tensor>& /*inputs*/, const std::vector<Tensor>& /*outputs*/,
                         const std::string& /*way*/) {}
  virtual void enqueue(const AssayTensor* inputs, uint64_t input_count, void* const* outputs,
                       uint64_t output_count, void* scratch) = 0;
};

/// Makes plugins: TensorRT's plugin creator.
class Tactic {
 public:
  virtual ~Tactic() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const { return ""; }
  virtual const char* operators() const = 0;  ///< "Relu com.example.Twice"
  virtual int32_t version() const { return 1; }
  virtual int32_t numerics() const { return ASSAY_TACTIC_REASSOCIATED; }
  /// Throws Error with the sentence that says why it cannot run the node.
  virtual std::unique_ptr<Plugin> create(const Node& node) = 0;
  /// Throws Error for invalid bytes.
  virtual std::unique_ptr<Plugin> deserialize(std::string_view bytes) = 0;
};

class Postprocess {
 public:
  virtual ~Postprocess() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const { return ""; }
  /// Returns, by name, the replacements of the outputs (`run --postprocess NAME`).
  virtual void apply(const std::vector<std::pair<std::string, Tensor>>& outputs, Outputs& changed,
                     const Args& args) = 0;
};

class Comparison {
 public:
  virtual ~Comparison() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const { return ""; }
  /// Whether they match (`run --compare NAME`); `text` receives a line that describes the finding, without a
  /// full stop.
  virtual bool compare(const std::string& output, const Tensor& first, const Tensor& second, const Args& args,
                       std::string& text) = 0;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;
  virtual const char* description() const { return summary(); }
  virtual std::vector<Option> options() const { return {}; }
  /// Returns the exit status.
  virtual int run(const Args& args) = 0;
};

/// Receives a module's additions. Objects created here live until the program ends.
class Registry {
 public:
  Registry(const AssayRegistration& functions, AssayRegistrar* raw) : functions_(functions), raw_(raw) {}

  /// Creates a T and registers it by its base class.
  template <typename T, typename... Given>
  T& add(Given&&... given) {
    T* made = new T(std::forward<Given>(given)...);
    put(made);
    return *made;
  }

 private:
  static std::vector<Tensor> tensors(const AssayTensor* list, uint64_t count) {
    std::vector<Tensor> all;
    for (uint64_t i = 0; i < count; ++i) all.emplace_back(list[i]);
    return all;
  }
  /// The C form of options, which lives as long as the module.
  static std::vector<const AssayOption*>& keep(const std::vector<Option>& options) {
    auto* list = new std::vector<const AssayOption*>;
    for (const Option& o : options) {
      const char* const* choices = nullptr;
      if (!o.choices.empty()) {
        auto* all = new std::vector<const char*>(o.choices);
        all->push_back(nullptr);
        choices = all->data();
      }
      list->push_back(
          new AssayOption{sizeof(AssayOption), o.names, o.help, o.metavar, o.arity, o.kind, choices});
    }
    return *list;
  }

  void put(OptionGroup* g) {
    const auto& options = keep(g->options());
    AssayOptionGroup d{};
    d.size = sizeof d;
    d.self = g;
    d.title = g->title();
    d.description = g->description();
    d.options = options.data();
    d.option_count = options.size();
    d.validate = [](void* self, const AssayArgs* args) {
      return guarded([&] { static_cast<OptionGroup*>(self)->validate(Args(args)); });
    };
    check(functions_.add_option_group(raw_, &d));
  }
  void put(Loader* l) {
    AssayLoader d{};
    d.size = sizeof d;
    d.self = l;
    d.name = l->name();
    d.option = l->option();
    d.summary = l->summary();
    d.apply = [](void* self, AssayModel* model, const AssayArgs* args) {
      return guarded([&] {
        Model changed(model);
        static_cast<Loader*>(self)->apply(changed, Args(args));
      });
    };
    check(functions_.add_loader(raw_, &d));
  }
  void put(Runner* r) {
    AssayRunner d{};
    d.size = sizeof d;
    d.self = r;
    d.name = r->name();
    d.option = r->option();
    d.runner_prefix = r->runner_prefix();
    d.human_name = r->human_name();
    d.summary = r->summary();
    d.reads_files = r->reads_files() ? 1 : 0;
    d.probe = [](void* self) { return guarded([&] { static_cast<Runner*>(self)->probe(); }); };
    d.open = [](void* self, const AssayModel* model, const char* path, int32_t threads, const AssayArgs* args,
                void** session) {
      return guarded([&] {
        *session = static_cast<Runner*>(self)
                       ->open(Model(model), path != nullptr ? path : "", threads, Args(args))
                       .release();
      });
    };
    d.describe = [](void* session, AssayTensorInfos* infos) {
      return guarded([&] {
        TensorInfos all(infos);
        static_cast<Session*>(session)->describe(all);
      });
    };
    d.infer = [](void* session, const AssayTensor* inputs, uint64_t count, AssayOutputs* outputs,
                 double* seconds) {
      return guarded([&] {
        Outputs all(outputs);
        *seconds = static_cast<Session*>(session)->infer(tensors(inputs, count), all);
      });
    };
    d.close = [](void* session) { delete static_cast<Session*>(session); };
    check(functions_.add_runner(raw_, &d));
  }
  void put(Operator* o) {
    auto* v = new AssayOperatorVersion{};
    v->size = sizeof *v;
    v->since = o->since();
    v->schema = o->schema();
    v->infer = [](void* self, AssayInfer* c) {
      return guarded([&] {
        InferContext context(c);
        static_cast<Operator*>(self)->infer(context);
      });
    };
    v->eval = [](void* self, AssayEval* c) {
      return guarded([&] {
        EvalContext context(c);
        static_cast<Operator*>(self)->eval(context);
      });
    };
    auto* versions = new std::vector<const AssayOperatorVersion*>{v};
    AssayOperator d{};
    d.size = sizeof d;
    d.self = o;
    d.domain = o->domain();
    d.name = o->name();
    d.versions = versions->data();
    d.version_count = versions->size();
    d.as_stored = o->as_stored() ? 1 : 0;
    d.random = o->is_random() ? 1 : 0;
    d.error = o->error();
    d.ulps = o->ulps();
    d.terms = [](void* self, AssayEval* c) {
      int64_t count = -1;
      guarded([&] {
        EvalContext context(c);
        count = static_cast<Operator*>(self)->terms(context);
      });
      return count;
    };
    d.bound = [](void* self, AssayEval* c, double u, uint64_t index, const AssayTensor* y, double* bound) {
      return guarded([&] {
        EvalContext context(c);
        static_cast<Operator*>(self)->bound(context, u, index, Tensor(*y), bound);
      });
    };
    auto* facts = new AssayOperatorFacts(o->facts());
    facts->size = sizeof *facts;
    facts->multiply_accumulates = [](void* self, const AssayNode* n) {
      int64_t count = ASSAY_UNKNOWN;
      guarded([&] { count = static_cast<Operator*>(self)->multiply_accumulates(Node(n)); });
      return count;
    };
    d.facts = facts;
    check(functions_.add_operator(raw_, &d));
  }
  void put(Pass* p) {
    AssayPass d{};
    d.size = sizeof d;
    d.self = p;
    d.name = p->name();
    d.summary = p->summary();
    d.stage = p->stage();
    d.since = p->since();
    d.run = [](void* self, AssayModel* model, int32_t* has_changed) {
      return guarded([&] {
        Model changed(model);
        *has_changed = static_cast<Pass*>(self)->run(changed) ? 1 : 0;
      });
    };
    check(functions_.add_pass(raw_, &d));
  }
  void put(Tactic* t) {
    AssayTactic d{};
    d.size = sizeof d;
    d.self = t;
    d.name = t->name();
    d.summary = t->summary();
    d.version = t->version();
    d.operators = t->operators();
    d.numerics = t->numerics();
    d.create = [](void* self, const AssayNode* node, void** plugin) {
      return guarded([&] { *plugin = static_cast<Tactic*>(self)->create(Node(node)).release(); });
    };
    d.deserialize = [](void* self, const void* data, uint64_t size, void** plugin) {
      return guarded([&] {
        *plugin = static_cast<Tactic*>(self)->deserialize({static_cast<const char*>(data), size}).release();
      });
    };
    d.destroy = [](void* plugin) { delete static_cast<Plugin*>(plugin); };
    d.serialize = [](void* plugin, AssayBytes* out) {
      return guarded([&] {
        std::string bytes;
        static_cast<Plugin*>(plugin)->serialize(bytes);
        check(host().append(out, bytes.data(), bytes.size()));
      });
    };
    d.ways = [](void* plugin, const AssayTensor* in, uint64_t n, const AssayTensor* out, uint64_t m,
                AssayWays* ways) {
      return guarded([&] {
        Ways all(ways);
        static_cast<Plugin*>(plugin)->ways(tensors(in, n), tensors(out, m), all);
      });
    };
    d.workspace = [](void* plugin, const AssayTensor* in, uint64_t n, const AssayTensor* out, uint64_t m,
                     const char* way) {
      int64_t bytes = -1;
      guarded([&] { bytes = static_cast<Plugin*>(plugin)->workspace(tensors(in, n), tensors(out, m), way); });
      return bytes;
    };
    d.configure = [](void* plugin, const AssayTensor* in, uint64_t n, const AssayTensor* out, uint64_t m,
                     const char* way) {
      return guarded([&] { static_cast<Plugin*>(plugin)->configure(tensors(in, n), tensors(out, m), way); });
    };
    d.enqueue = [](void* plugin, const AssayTensor* in, uint64_t n, void* const* out, uint64_t m,
                   void* scratch) {
      return guarded([&] { static_cast<Plugin*>(plugin)->enqueue(in, n, out, m, scratch); });
    };
    check(functions_.add_tactic(raw_, &d));
  }
  void put(Postprocess* p) {
    AssayPostprocess d{};
    d.size = sizeof d;
    d.self = p;
    d.name = p->name();
    d.summary = p->summary();
    d.apply = [](void* self, const AssayArgs* args, const AssayNamedTensor* list, uint64_t count,
                 AssayOutputs* changed) {
      return guarded([&] {
        std::vector<std::pair<std::string, Tensor>> outputs;
        for (uint64_t i = 0; i < count; ++i) outputs.emplace_back(list[i].name, Tensor(list[i].tensor));
        Outputs all(changed);
        static_cast<Postprocess*>(self)->apply(outputs, all, Args(args));
      });
    };
    check(functions_.add_postprocess(raw_, &d));
  }
  void put(Comparison* c) {
    AssayComparison d{};
    d.size = sizeof d;
    d.self = c;
    d.name = c->name();
    d.summary = c->summary();
    d.compare = [](void* self, const AssayArgs* args, const char* output, const AssayTensor* a,
                   const AssayTensor* b, int32_t* passed, AssayBytes* text) {
      return guarded([&] {
        std::string line;
        *passed =
            static_cast<Comparison*>(self)->compare(output, Tensor(*a), Tensor(*b), Args(args), line) ? 1 : 0;
        check(host().append(text, line.data(), line.size()));
      });
    };
    check(functions_.add_comparison(raw_, &d));
  }
  void put(Command* c) {
    const auto& options = keep(c->options());
    AssayCommand d{};
    d.size = sizeof d;
    d.self = c;
    d.name = c->name();
    d.summary = c->summary();
    d.description = c->description();
    d.options = options.data();
    d.option_count = options.size();
    d.run = [](void* self, const AssayArgs* args, int32_t* exit_code) {
      return guarded([&] { *exit_code = static_cast<Command*>(self)->run(Args(args)); });
    };
    check(functions_.add_command(raw_, &d));
  }

  const AssayRegistration& functions_;
  AssayRegistrar* raw_;
};

}  // namespace assay::ext

/// Defines a module, once in it: its name, version, purpose, and a function that adds to an
/// assay::ext::Registry&.
#define ASSAY_EXTENSION(NAME, VERSION, SUMMARY, ...)                                               \
  extern "C" __attribute__((visibility("default"))) const AssayExtensionInfo assay_extension_info; \
  const AssayExtensionInfo assay_extension_info = {                                                \
      sizeof(AssayExtensionInfo), ASSAY_EXTENSION_ABI, 0, NAME, VERSION, SUMMARY};                 \
  extern "C" __attribute__((visibility("default"))) int32_t assay_extension_register(              \
      const AssayHost* host, const AssayRegistration* functions, AssayRegistrar* registrar) {      \
    assay::ext::host_pointer() = host;                                                             \
    return assay::ext::guarded([&] {                                                               \
      assay::ext::Registry registry(*functions, registrar);                                        \
      (__VA_ARGS__)(registry);                                                                     \
    });                                                                                            \
  }
