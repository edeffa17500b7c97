// RNN, GRU and LSTM on the engine, in every form that ONNX has.
#include "backends/engine_fixture.h"

namespace assay::engine_recurrent_test {
namespace {

class EngineRecurrentTest : public EngineTest {
 protected:
  EngineRecurrentTest() { model->opsets = {{"", 22}}; }

  /// The differences of a node from the simplest one.
  struct Form {
    int64_t steps = 5, batch = 2, inputs = 10, hidden = 16;
    std::string direction = "forward";
    bool biased = true, lengths = false, states = false, peepholes = false, by_batch = false, constant = true;
    AttributeList attributes;
  };

  void check(const std::string& op_type, Form f) {
    g.outputs.clear();
    feed.clear();
    model->graph->inputs.clear();
    const int64_t gates = op_type == "LSTM"  ? 4
                          : op_type == "GRU" ? 3
                                             : 1,
                  d = f.direction == "bidirectional" ? 2 : 1;
    const auto name = [&](const char* what) { return g.unique_name(what); };
    // Small enough that rounding errors of one step do not grow in later ones.
    const auto made = [&](const Shape& s) {
      const float most = 1 / std::sqrt(static_cast<float>(f.hidden));
      if (f.constant) return g.add_constant(name("w"), random(s, -most, most));
      Value* const v = input(name("given"), s);
      feed.back() = random(s, -most, most);
      return v;
    };
    const Shape state = f.by_batch ? Shape{f.batch, d, f.hidden} : Shape{d, f.batch, f.hidden};
    std::vector<Value*> inputs = {
        input(name("x"), f.by_batch ? Shape{f.batch, f.steps, f.inputs} : Shape{f.steps, f.batch, f.inputs}),
        made({d, gates * f.hidden, f.inputs}),
        made({d, gates * f.hidden, f.hidden}),
        f.biased ? made({d, 2 * gates * f.hidden}) : nullptr,
        nullptr,
        nullptr};
    if (f.lengths) {
      std::vector<int32_t> lengths;
      for (int64_t b = 0; b < f.batch; ++b) lengths.push_back(static_cast<int32_t>(b % (f.steps + 1)));
      inputs[4] = g.add_constant(name("lengths"), Tensor::vector<int32_t>(lengths));
    }
    if (f.states) inputs[5] = input(name("h"), state);
    if (op_type == "LSTM") {
      inputs.push_back(f.states ? input(name("c"), state) : nullptr);
      inputs.push_back(f.peepholes ? made({d, 3 * f.hidden}) : nullptr);
    }
    f.attributes.emplace_back("hidden_size", f.hidden);
    f.attributes.emplace_back("direction", f.direction);
    f.attributes.emplace_back("layout", int64_t{f.by_batch});
    std::vector<Value*> outputs = {g.add_value(name("Y")), g.add_value(name("H"))};
    if (op_type == "LSTM") outputs.push_back(g.add_value(name("C")));
    Node* const n = g.add_node(op_type, inputs, outputs, std::move(f.attributes));
    for (Value* v : outputs) output(v);
    expect_agreement({"recurrent"});
    g.outputs.clear();
    g.remove_node(n);
  }
};

constexpr const char* kOperators[] = {"RNN", "GRU", "LSTM"};

TEST_F(EngineRecurrentTest, Directions) {
  for (const char* op : kOperators)
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      check(op, {.direction = direction});
      check(op, {.steps = 1, .batch = 1, .inputs = 1, .hidden = 1, .direction = direction, .biased = false});
    }
}

TEST_F(EngineRecurrentTest, LengthsAndStates) {
  for (const char* op : kOperators)
    for (const bool by_batch : {false, true})
      check(op, {.batch = 7,
                 .hidden = 19,
                 .direction = "bidirectional",
                 .lengths = true,
                 .states = true,
                 .by_batch = by_batch});
}

TEST_F(EngineRecurrentTest, WeightsThatOnlyTheRunKnows) {
  for (const char* op : kOperators)
    check(op,
          {.hidden = 13, .direction = "bidirectional", .states = true, .peepholes = true, .constant = false});
}

TEST_F(EngineRecurrentTest, ClipsPeepholesCoupledGatesAndResets) {
  check("LSTM", {.peepholes = true, .attributes = {{"clip", 0.5F}, {"input_forget", int64_t{1}}}});
  check("LSTM", {.states = true, .peepholes = true});
  for (const int64_t linear : {0, 1}) {
    check("GRU", {.hidden = 33, .states = true, .attributes = {{"linear_before_reset", linear}}});
    check("GRU", {.biased = false,
                  .constant = false,
                  .attributes = {{"linear_before_reset", linear}, {"clip", 1.0F}}});
    check("GRU", {.constant = false, .attributes = {{"linear_before_reset", linear}}});
  }
}

TEST_F(EngineRecurrentTest, OtherFunctions) {
  const std::vector<std::string> functions = {"HardSigmoid", "ScaledTanh", "Elu"};
  const std::vector<float> alphas = {0.3F, 1.5F, 0.7F}, betas = {0.4F, 0.6F};
  check("LSTM", {.attributes = {
                     {"activations", functions}, {"activation_alpha", alphas}, {"activation_beta", betas}}});
  check("GRU", {.attributes = {{"activations", std::vector<std::string>{"Softsign", "LeakyRelu"}}}});
  check("RNN", {.direction = "bidirectional",
                .attributes = {{"activations", std::vector<std::string>{"Relu", "Softplus"}}}});
}

TEST_F(EngineRecurrentTest, WideOnesAreSharedOut) {
  for (const char* op : kOperators) {
    check(op, {.batch = 1, .hidden = 300});
    check(op, {.batch = 17, .hidden = 40});
  }
}

TEST_F(EngineRecurrentTest, DirectionsThatDoNotFitTheCachesTogetherGoInTurn) {
  const Form form{
      .steps = 3, .batch = 1, .inputs = 3, .hidden = 880, .direction = "bidirectional", .states = true};
  check("LSTM", form);
  for (const int threads : {1, 2, 16}) {
    Value* x = input(g.unique_name("x"), {3, 1, 3});
    Node* n = g.add_node("LSTM", {x, weight({2, 4 * 880, 3}), weight({2, 4 * 880, 880})},
                         {g.add_value(g.unique_name("Y"))},
                         {{"hidden_size", int64_t{880}}, {"direction", std::string("bidirectional")}});
    output(n->output(0));
    infer_shapes(*model);
    std::vector<Shape> shapes;
    for (const Tensor& t : feed) shapes.push_back(t.shape());
    const auto plan = engine::PlanBuilder(*model, engine::default_config(threads)).build(shapes);
    ASSERT_EQ(plan->steps.size(), 1U);
    EXPECT_EQ(plan->steps[0].variant, threads == 1 ? "" : "in_turn");
    g.outputs.clear();
    g.remove_node(n);
    g.inputs.clear();
    feed.clear();
  }
}

TEST_F(EngineRecurrentTest, ALengthBeyondTheSequenceEndsTheRun) {
  Value* x = input("x", {3, 1, 4});
  Value* lengths = g.add_input("lengths", Type::tensor(DType::kInt32, {Dim(1)}));
  feed.push_back(Tensor::vector<int32_t>({4}));
  Node* n = g.add_node("GRU", {x, weight({1, 48, 4}), weight({1, 48, 16}), nullptr, lengths},
                       {g.add_value("Y")}, {{"hidden_size", int64_t{16}}});
  output(n->output(0));
  infer_shapes(*model);
  const auto session = open();
  EXPECT_THROW(run(*session), Error);
}

/// The differences of a DynamicQuantizeLSTM from the simplest one.
struct QuantizedForm {
  int64_t steps = 4, batch = 1, inputs = 7, hidden = 9;
  std::string direction = "forward";
  DType dtype = DType::kInt8;
  int zero = 3;
  bool by_column = false, biased = true, states = false, peepholes = false;
  AttributeList attributes;
};

class EngineQuantizedLstmTest : public EngineTest {
 protected:
  EngineQuantizedLstmTest() { model->opsets = {{"", 17}, {"com.microsoft", 1}}; }

  void check(QuantizedForm f, const std::string& tactic = "quantized_lstm") {
    g.outputs.clear();
    feed.clear();
    model->graph->inputs.clear();
    const int64_t d = f.direction == "bidirectional" ? 2 : 1, gates = 4 * f.hidden;
    const auto name = [&](const char* what) { return g.unique_name(what); };
    const auto reals = [&](const Shape& s, float low, float high) {
      return g.add_constant(name("c"), random(s, low, high));
    };
    const auto levels = [&](const Shape& s, float low, float high) {
      return g.add_constant(name("q"), convert(random(s, low, high), f.dtype));
    };
    const float low = f.dtype == DType::kInt8 ? -128 : 0;
    const auto zero = static_cast<float>(f.zero);
    const Shape scales = f.by_column ? Shape{d, gates} : Shape{d}, state{d, f.batch, f.hidden};
    const float most = 1 / (128 * std::sqrt(static_cast<float>(f.hidden)));
    const auto scale = [&] { return reals(scales, most / 2, most); };
    const std::vector<Value*> inputs = {input(name("x"), {f.steps, f.batch, f.inputs}),
                                        levels({d, f.inputs, gates}, low, low + 255.9F),
                                        levels({d, f.hidden, gates}, low, low + 255.9F),
                                        f.biased ? reals({d, 2 * gates}, -1, 1) : nullptr,
                                        nullptr,
                                        f.states ? input(name("h"), state) : nullptr,
                                        f.states ? input(name("c"), state) : nullptr,
                                        f.peepholes ? reals({d, 3 * f.hidden}, -1, 1) : nullptr,
                                        scale(),
                                        levels(scales, zero, zero + 0.5F),
                                        scale(),
                                        levels(scales, zero, zero + (f.by_column ? 4 : 0.5F))};
    f.attributes.emplace_back("hidden_size", f.hidden);
    f.attributes.emplace_back("direction", f.direction);
    const std::vector<Value*> outputs = {g.add_value(name("Y")), g.add_value(name("H")),
                                         g.add_value(name("C"))};
    Node* const n = g.add_node("DynamicQuantizeLSTM", inputs, outputs, std::move(f.attributes));
    n->domain = "com.microsoft";
    for (Value* v : outputs) output(v);
    expect_agreement({tactic});
    g.outputs.clear();
    g.remove_node(n);
  }
};

TEST_F(EngineQuantizedLstmTest, DirectionsAndSizes) {
  for (const char* direction : {"forward", "reverse", "bidirectional"})
    for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
      check({.direction = direction, .dtype = dtype, .states = true});
      check({.steps = 1, .inputs = 1, .hidden = 1, .direction = direction, .dtype = dtype, .biased = false});
    }
  check({.batch = 3, .inputs = 16, .hidden = 32, .by_column = true, .states = true});
  check({.steps = 2, .inputs = 33, .hidden = 160, .direction = "bidirectional"});  // units are shared out
}

TEST_F(EngineQuantizedLstmTest, ZeroPointsPeepholesAndFunctions) {
  check({.dtype = DType::kUInt8, .zero = 128, .peepholes = true});
  check({.dtype = DType::kUInt8, .zero = 250, .by_column = true});  // nine bits
  check({.zero = -100, .attributes = {{"clip", 0.5F}, {"input_forget", int64_t{1}}}});
  // Padding units of a vector then have states, which do not belong to the batch's range.
  check({.batch = 2,
         .attributes = {{"activations", std::vector<std::string>{"Sigmoid", "Softplus", "Affine"}},
                        {"activation_alpha", std::vector<float>{2.0F}},
                        {"activation_beta", std::vector<float>{5.0F}}}});
}

}  // namespace
}  // namespace assay::engine_recurrent_test
