// A module with faults for the searches of `debug` to find: what a node's name begins with says which.
#include <assay/extension.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace ext = assay::ext;

namespace {

bool begins_with(const std::string& name, const std::string& what) { return name.rfind(what, 0) == 0; }

struct Function {
  const char* op_type;
  float (*f)(float);
};
constexpr Function kFunctions[] = {
    {"Relu", [](float x) { return std::fmax(x, 0.0F); }},
    {"Abs", [](float x) { return std::fabs(x); }},
    {"Neg", [](float x) { return -x; }},
    {"Tanh", [](float x) { return std::tanh(x); }},
    {"Sigmoid", [](float x) { return 1 / (1 + std::exp(-x)); }},
};

/// How a kernel spoils `y`, the right results for `x`. `run`: how often any has run before.
struct Fault {
  const char* name;
  void (*spoil)(const float* x, float* y, int64_t size, int run);
};
void add_to_thirds(float* y, int64_t size) {
  for (int64_t i = 0; i < size; i += 3) y[i] += 0.25F;
}
constexpr Fault kFaults[] = {
    {"wrong", [](const float*, float* y, int64_t size, int) { add_to_thirds(y, size); }},
    // A race that one run in five loses.
    {"flaky",
     [](const float*, float* y, int64_t size, int run) {
       if (run % 5 == 4) add_to_thirds(y, size);
     }},
    // The rest behind whole vectors is not computed.
    {"tail",
     [](const float*, float* y, int64_t size, int) { std::fill(y + (size - 1) / 8 * 8, y + size, 0.0F); }},
    {"shift", [](const float*, float* y, int64_t size, int) { std::rotate(y, y + 1, y + size); }},
    {"saturate",
     [](const float*, float* y, int64_t size, int) {
       for (int64_t i = 0; i < size; ++i) y[i] = std::clamp(y[i], -0.05F, 0.05F);
     }},
    // Three bits of a mantissa.
    {"coarse",
     [](const float*, float* y, int64_t size, int) {
       for (int64_t i = 0; i < size; ++i) {
         int exponent = 0;
         const float mantissa = std::frexp(y[i], &exponent);
         y[i] = std::ldexp(std::round(mantissa * 8) / 8, exponent);
       }
     }},
    {"sign",
     [](const float* x, float* y, int64_t size, int) {
       for (int64_t i = 0; i < size; ++i)
         if (x[i] < 0) y[i] = -x[i] / 2;
     }},
    {"invalid", [](const float*, float* y, int64_t size,
                   int) { y[size / 2] = std::numeric_limits<float>::quiet_NaN(); }},
    {"first", [](const float*, float* y, int64_t, int) { y[0] = y[0] * 2 + 1; }},
    // Of the run before: a buffer is swapped too late.
    {"stale",
     [](const float*, float* y, int64_t size, int run) {
       if (run % 2 == 0) std::fill(y, y + size, 0.125F);
     }},
};

class PlantedKernel : public ext::Plugin {
 public:
  PlantedKernel(size_t fault, size_t function) : fault_(fault), function_(function) {}
  void serialize(std::string& bytes) const override {
    bytes = {static_cast<char>(fault_), static_cast<char>(function_)};
  }
  void ways(const std::vector<ext::Tensor>&, const std::vector<ext::Tensor>&, ext::Ways& ways) override {
    ways.add("plain", {}, 1e-12);
  }
  void configure(const std::vector<ext::Tensor>& inputs, const std::vector<ext::Tensor>&,
                 const std::string&) override {
    size_ = inputs[0].size();
  }
  void enqueue(const AssayTensor* inputs, uint64_t, void* const* outputs, uint64_t, void*) override {
    static std::atomic<int> runs = 0;
    const auto* x = static_cast<const float*>(inputs[0].data);
    auto* y = static_cast<float*>(outputs[0]);
    for (int64_t i = 0; i < size_; ++i) y[i] = kFunctions[function_].f(x[i]);
    if (size_ > 0) kFaults[fault_].spoil(x, y, size_, runs++);
  }

 private:
  size_t fault_, function_;
  int64_t size_ = 0;
};

class PlantedTactic : public ext::Tactic {
 public:
  const char* name() const override { return "planted_kernel"; }
  const char* operators() const override { return "Relu Abs Neg Tanh Sigmoid"; }
  std::unique_ptr<ext::Plugin> create(const ext::Node& node) override {
    for (size_t i = 0; i < std::size(kFaults); ++i)
      if (begins_with(node.name(), kFaults[i].name))
        return std::make_unique<PlantedKernel>(i, function_of(node.op_type()));
    throw ext::Error("nothing is planted here");
  }
  std::unique_ptr<ext::Plugin> deserialize(std::string_view bytes) override {
    if (bytes.size() != 2 || static_cast<size_t>(bytes[0]) >= std::size(kFaults) ||
        static_cast<size_t>(bytes[1]) >= std::size(kFunctions))
      throw ext::Error("these bytes are no fault");
    return std::make_unique<PlantedKernel>(static_cast<size_t>(bytes[0]), static_cast<size_t>(bytes[1]));
  }

 private:
  static size_t function_of(const std::string& op_type) {
    const auto* it = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                  [&](const Function& f) { return op_type == f.op_type; });
    return static_cast<size_t>(it - std::begin(kFunctions));
  }
};

/// A wrong rewrite of the nodes of one operator whose names hold `guilty`.
struct Rewrite {
  const char *name, *summary, *op_type;
  bool (*edit)(ext::Graph& graph, ext::Node& node);
};

bool set_once(ext::Node& n, const char* attribute, double value) {
  if (std::fabs(n.number(attribute).value_or(value + 1) - value) < 1e-6) return false;
  n.set(attribute, value);
  return true;
}

constexpr const char* kDone = "done_";

/// Marks the node, for what would otherwise be rewritten again and again.
bool mark_done(ext::Node& n) {
  n.set_name(kDone + n.name());
  return true;
}

constexpr Rewrite kRewrites[] = {
    {"planted_slope", "LeakyRelu gets another slope", "LeakyRelu",
     [](ext::Graph&, ext::Node& n) { return set_once(n, "alpha", 0.75); }},
    {"planted_swap", "Sub gets its operands in the other order", "Sub",
     [](ext::Graph&, ext::Node& n) {
       n.set_inputs({n.input(1), n.input(0)});
       return mark_done(n);
     }},
    {"planted_axis", "Softmax goes along another axis", "Softmax",
     [](ext::Graph&, ext::Node& n) {
       n.set("axis", int64_t{0});
       return mark_done(n);
     }},
    {"planted_order", "CumSum leaves an element out of each sum", "CumSum",
     [](ext::Graph&, ext::Node& n) {
       n.set("exclusive", int64_t{1});
       return mark_done(n);
     }},
    {"planted_epsilon", "LayerNormalization gets a large epsilon", "LayerNormalization",
     [](ext::Graph&, ext::Node& n) { return set_once(n, "epsilon", 0.5); }},
    {"planted_scale", "Elu gets another scale", "Elu",
     [](ext::Graph&, ext::Node& n) { return set_once(n, "alpha", 0.25); }},
    {"planted_constant", "The constant of an addition is lost", "Add",
     [](ext::Graph& graph, ext::Node& n) {
       const auto there = n.input(1).tensor();
       if (!there) return false;
       const std::vector<float> zeros(static_cast<size_t>(there->size()), 0);
       n.set_inputs({n.input(0), graph.add_constant("zeros", ext::kFloat32, there->dims(), zeros)});
       return mark_done(n);
     }},
    {"planted_drop", "A Clip that seems redundant goes", "Clip",
     [](ext::Graph&, ext::Node& n) {
       n.set_inputs({n.input(0)});
       return mark_done(n);
     }},
    {"planted_function", "HardSigmoid gets another offset", "HardSigmoid",
     [](ext::Graph&, ext::Node& n) { return set_once(n, "beta", 0.25); }},
    // Whatever it is fused with: for faults of a compiler in the middle of a network.
    {"planted_relu", "A Relu lets half of its negative operands through", "Relu",
     [](ext::Graph&, ext::Node& n) {
       n.set_op_type("LeakyRelu");
       n.set("alpha", 0.5);
       return mark_done(n);
     }},
};

class PlantedPass : public ext::Pass {
 public:
  explicit PlantedPass(const Rewrite& rewrite) : rewrite_(rewrite) {}
  const char* name() const override { return rewrite_.name; }
  const char* summary() const override { return rewrite_.summary; }
  bool run(ext::Model& model) override { return run(model.graph()); }

 private:
  bool run(ext::Graph graph) {
    bool has_changed = false;
    for (ext::Node n : graph.nodes()) {
      if (n.op_type() == rewrite_.op_type && n.name().find("guilty") != std::string::npos &&
          !begins_with(n.name(), kDone))
        has_changed = rewrite_.edit(graph, n) || has_changed;
      for (const char* body : {"body", "then_branch", "else_branch"})
        if (const auto inner = n.graph(body)) has_changed = run(*inner) || has_changed;
    }
    return has_changed;
  }

  const Rewrite& rewrite_;
};

}  // namespace

ASSAY_EXTENSION("planted", "2.0", "Faults for searches to find", [](ext::Registry& r) {
  r.add<PlantedTactic>();
  for (const Rewrite& rewrite : kRewrites) r.add<PlantedPass>(rewrite);
})
