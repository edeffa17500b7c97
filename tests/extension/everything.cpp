// A module that adds one of each kind, with results that tell which code ran.
#include <assay/extension.h>

#include <cmath>
#include <cstdlib>

namespace ext = assay::ext;

namespace {

/// test.everything.Scale: y = factor x, with a float attribute that has a default.
class Scale : public ext::Operator {
 public:
  const char* domain() const override { return "test.everything"; }
  const char* name() const override { return "Scale"; }
  const char* schema() const override {
    return "in X: T\nout Y: T\nattr factor: float = 2.0\ntype T: float double";
  }
  void infer(ext::InferContext& c) override { c.set_output(0, c.input_dtype(0), c.input_dims(0)); }
  void eval(ext::EvalContext& c) override {
    const ext::Tensor x = c.input(0);
    const double factor = *c.node().number("factor");
    auto* y = static_cast<double*>(c.outputs().give(0, ext::kFloat64, x.dims()));
    for (int64_t i = 0; i < x.size(); ++i) y[i] = factor * x.data<double>()[i];
  }
};

/// test.everything.Sum: the sum of all elements, with an error model of its own.
class Sum : public ext::Operator {
 public:
  const char* domain() const override { return "test.everything"; }
  const char* name() const override { return "Sum"; }
  const char* schema() const override { return "in X: T\nout Y: T\ntype T: float"; }
  void infer(ext::InferContext& c) override { c.set_output(0, ext::kFloat32, ext::Dims{}); }
  void eval(ext::EvalContext& c) override {
    const ext::Tensor x = c.input(0);
    double sum = 0;
    for (int64_t i = 0; i < x.size(); ++i) sum += x.data<double>()[i];
    *static_cast<double*>(c.outputs().give(0, ext::kFloat64, {})) = sum;
  }
  int32_t error() const override { return ASSAY_CUSTOM_ERROR; }
  void bound(ext::EvalContext& c, double u, uint64_t, const ext::Tensor&, double* bound) override {
    const ext::Tensor x = c.input(0);
    double size = 0;
    for (int64_t i = 0; i < x.size(); ++i) size += std::abs(x.data<double>()[i]);
    *bound = static_cast<double>(x.size()) * u * size;
  }
};

/// test.everything.Soften: x tanh(ln(1 + e^x)), ONNX's Mish: an activation that the engine runs by its facts
/// alone.
class Soften : public ext::Operator {
 public:
  const char* domain() const override { return "test.everything"; }
  const char* name() const override { return "Soften"; }
  const char* schema() const override { return "in X: T\nout Y: T\ntype T: float double"; }
  void infer(ext::InferContext& c) override { c.set_output(0, c.input_dtype(0), c.input_dims(0)); }
  void eval(ext::EvalContext& c) override {
    const ext::Tensor x = c.input(0);
    auto* y = static_cast<double*>(c.outputs().give(0, ext::kFloat64, x.dims()));
    for (int64_t i = 0; i < x.size(); ++i)
      y[i] = x.data<double>()[i] * std::tanh(std::log1p(std::exp(x.data<double>()[i])));
  }
  int32_t error() const override { return ASSAY_ELEMENTWISE; }
  double ulps() const override { return 16; }
  AssayOperatorFacts facts() const override {
    AssayOperatorFacts f{};
    f.elementwise = 1;
    f.instruction = "Mish";
    return f;
  }
};

/// test.everything.Lengthen: the same elements as one row: a view, for which nothing runs.
class Lengthen : public ext::Operator {
 public:
  const char* domain() const override { return "test.everything"; }
  const char* name() const override { return "Lengthen"; }
  const char* schema() const override { return "in X: T\nout Y: T\ntype T: float"; }
  int32_t error() const override { return ASSAY_EXACT; }
  void infer(ext::InferContext& c) override {
    const ext::Dims dims = *c.input_dims(0);
    int64_t size = 1;
    for (const int64_t extent : dims) size *= extent;
    c.set_output(0, c.input_dtype(0), ext::Dims{1, size});
  }
  void eval(ext::EvalContext& c) override {
    const ext::Tensor x = c.input(0);
    auto* y = static_cast<double*>(c.outputs().give(0, ext::kFloat64, ext::Dims{1, x.size()}));
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x.data<double>()[i];
  }
  AssayOperatorFacts facts() const override {
    AssayOperatorFacts f{};
    f.moves = ASSAY_MOVES_VIEW;
    return f;
  }
  int64_t multiply_accumulates(const ext::Node&) override { return 0; }
};

/// test.everything.Outer: a column times a row, whose multiplications are counted.
class Outer : public ext::Operator {
 public:
  const char* domain() const override { return "test.everything"; }
  const char* name() const override { return "Outer"; }
  const char* schema() const override { return "in A: T\nin B: T\nout Y: T\ntype T: float double"; }
  void infer(ext::InferContext& c) override {
    c.set_output(0, c.input_dtype(0), ext::Dims{(*c.input_dims(0))[0], (*c.input_dims(1))[0]});
  }
  void eval(ext::EvalContext& c) override {
    const ext::Tensor a = c.input(0), b = c.input(1);
    auto* y = static_cast<double*>(c.outputs().give(0, ext::kFloat64, ext::Dims{a.size(), b.size()}));
    for (int64_t i = 0; i < a.size(); ++i)
      for (int64_t k = 0; k < b.size(); ++k) y[i * b.size() + k] = a.data<double>()[i] * b.data<double>()[k];
  }
  int64_t multiply_accumulates(const ext::Node& n) override {
    const ext::Dims dims = *n.output(0).dims();
    return dims[0] * dims[1];
  }
};

/// Runs Scale in the engine. EVERYTHING_EXTRA is added to each result, so that a test sees that this ran.
class ScalePlugin : public ext::Plugin {
 public:
  explicit ScalePlugin(float factor) : factor_(factor) {}
  void serialize(std::string& bytes) const override {
    bytes.assign(reinterpret_cast<const char*>(&factor_), sizeof factor_);
  }
  void ways(const std::vector<ext::Tensor>& inputs, const std::vector<ext::Tensor>&,
            ext::Ways& ways) override {
    if (inputs[0].dtype() != ext::kFloat32) return;
    ways.add("row");
    ways.add("blocked", {8, 8});
  }
  int64_t workspace(const std::vector<ext::Tensor>&, const std::vector<ext::Tensor>&,
                    const std::string&) override {
    return 64;
  }
  void configure(const std::vector<ext::Tensor>& inputs, const std::vector<ext::Tensor>&,
                 const std::string& way) override {
    const ext::Dims dims = inputs[0].dims();
    size_ = 1;
    for (size_t i = 0; i < dims.size(); ++i)
      size_ *= i == 1 && way == "blocked" ? (dims[i] + 7) / 8 * 8 : dims[i];
  }
  void enqueue(const AssayTensor* inputs, uint64_t, void* const* outputs, uint64_t, void* scratch) override {
    static_cast<char*>(scratch)[63] = 1;
    const char* extra = std::getenv("EVERYTHING_EXTRA");
    const float more = extra != nullptr ? std::strtof(extra, nullptr) : 0;
    for (int64_t i = 0; i < size_; ++i)
      static_cast<float*>(outputs[0])[i] = factor_ * static_cast<const float*>(inputs[0].data)[i] + more;
  }

 private:
  float factor_;
  int64_t size_ = 0;
};

class ScaleTactic : public ext::Tactic {
 public:
  const char* name() const override { return "everything_scale"; }
  const char* operators() const override { return "test.everything.Scale"; }
  std::unique_ptr<ext::Plugin> create(const ext::Node& node) override {
    const double factor = node.number("factor").value_or(2.0);
    if (factor == 0) throw ext::Error("a factor of 0 is not worth a plugin");
    return std::make_unique<ScalePlugin>(static_cast<float>(factor));
  }
  std::unique_ptr<ext::Plugin> deserialize(std::string_view bytes) override {
    float factor = 0;
    if (bytes.size() != sizeof factor) throw ext::Error("these bytes are no factor");
    std::memcpy(&factor, bytes.data(), sizeof factor);
    return std::make_unique<ScalePlugin>(factor);
  }
};

/// Two Scales in a row become one.
class MergeScales : public ext::Pass {
 public:
  const char* name() const override { return "merge_scales"; }
  const char* summary() const override { return "two Scale nodes in a row become one"; }
  bool run(ext::Model& model) override {
    for (ext::Node n : model.graph().nodes()) {
      if (n.op_type() != "Scale") continue;
      const auto before = n.input(0).producer();
      if (!before || before->op_type() != "Scale" || before->output(0).consumers().size() != 1) continue;
      n.set("factor", n.number("factor").value_or(2.0) * before->number("factor").value_or(2.0));
      n.set_inputs({before->input(0)});
      model.clean_up();
      return true;
    }
    return false;
  }
};

/// Puts a Scale behind the first output.
class Append : public ext::Loader {
 public:
  const char* name() const override { return "append_scale"; }
  const char* summary() const override { return "Put a Scale behind the first output"; }
  const char* option() const override { return "--append-scale"; }
  void apply(ext::Model& model, const ext::Args& args) override {
    ext::Graph g = model.graph();
    ext::Value last = g.outputs().front(), scaled = g.add_value("scaled");
    ext::Node n = g.add_node("Scale", {last}, {scaled}, "scale", "test.everything");
    n.set("factor", args.number("--scale-factor").value_or(2.0));
    scaled.set_type(last.dtype(), last.dims());
    model.set_opset("test.everything", 1);
    g.set_outputs({scaled});
  }
};

class Options : public ext::OptionGroup {
 public:
  const char* title() const override { return "Everything"; }
  std::vector<ext::Option> options() const override {
    return {{.names = "--scale-factor --factor",
             .help = "What --append-scale multiplies by.",
             .kind = ASSAY_NUMBER},
            {.names = "--everything-words", .help = "Words.", .arity = ASSAY_ANY}};
  }
  void validate(const ext::Args& args) override {
    if (args.number("--scale-factor").value_or(1) < 0)
      throw ext::Error("--scale-factor must not be negative");
  }
};

class Hello : public ext::Command {
 public:
  const char* name() const override { return "hello"; }
  const char* summary() const override { return "Greet somebody."; }
  std::vector<ext::Option> options() const override {
    return {{.names = "who", .help = "Whom to greet."},
            {.names = "--times", .help = "How often.", .kind = ASSAY_INTEGER}};
  }
  int run(const ext::Args& args) override {
    for (int64_t i = 0; i < args.integer("--times").value_or(1); ++i)
      ext::log(ext::Severity::kInfo, "Hello " + *args.text("who"));
    return args.text("who") == "nobody" ? 1 : 0;
  }
};

class Negate : public ext::Postprocess {
 public:
  const char* name() const override { return "negate"; }
  void apply(const std::vector<std::pair<std::string, ext::Tensor>>& outputs, ext::Outputs& changed,
             const ext::Args&) override {
    for (const auto& [name, t] : outputs) {
      auto* y = static_cast<float*>(changed.give(name, ext::kFloat32, t.dims()));
      for (int64_t i = 0; i < t.size(); ++i) y[i] = -t.data<float>()[i];
    }
  }
};

class SameSign : public ext::Comparison {
 public:
  const char* name() const override { return "same_sign"; }
  bool compare(const std::string&, const ext::Tensor& a, const ext::Tensor& b, const ext::Args&,
               std::string& text) override {
    int64_t differ = 0;
    for (int64_t i = 0; i < a.size(); ++i)
      differ += std::signbit(a.data<float>()[i]) != std::signbit(b.data<float>()[i]) ? 1 : 0;
    text = std::to_string(differ) + " element(s) of another sign";
    return differ == 0;
  }
};

}  // namespace

ASSAY_EXTENSION("everything", "1.2", "One of each kind", [](ext::Registry& r) {
  r.add<Scale>();
  r.add<Sum>();
  r.add<Soften>();
  r.add<Lengthen>();
  r.add<Outer>();
  r.add<ScaleTactic>();
  r.add<MergeScales>();
  r.add<Append>();
  r.add<Options>();
  r.add<Hello>();
  r.add<Negate>();
  r.add<SameSign>();
})
