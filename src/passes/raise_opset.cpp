// A model below opset 7 is rewritten to opset 7, so that whatever comes later knows one form of each
// operator.
#include <algorithm>
#include <cmath>

#include "passes/match.h"
#include "passes/origins.h"
#include "passes/pass_list.h"
#include "tensor/convert.h"

namespace assay {
namespace {

constexpr int64_t kOpset = 7;

[[noreturn]] void cannot(const std::string& reason) {
  Error error(ErrorCode::kUnsupported, reason + ", so the node has no equivalent in opset 7");
  throw error.set_remedy("Run it on the reference, or convert the model.");
}

/// `v` under another rank: its own extents, then ones.
Value* with_trailing_ones(Node& n, Value* v, int rank, int ones) {
  Graph& g = n.graph();
  std::vector<int64_t> shape(static_cast<size_t>(rank), 0);  // 0 copies an extent
  shape.insert(shape.end(), static_cast<size_t>(ones), 1);
  Value* wanted = g.add_constant(g.unique_name(v->name() + "/shape"), Tensor::vector(shape));
  Value* out = g.add_value(g.unique_name(v->name() + "/aligned"), Type::tensor(dtype_of(v)));
  Node* reshape = g.insert_node(&n, "Reshape", {v, wanted}, {out}, {}, n.name);
  set_origins(*reshape, origins_of(n));
  return out;
}

/// The second input meets the first one's dimensions from `axis` on; NumPy's rule wants ones after it.
void align_second(Node& n) {
  if (int_attribute(n, "broadcast", 0) != 0 && n.find_attribute("axis") != nullptr) {
    const int a = rank_of(n.input(0)), b = rank_of(n.input(1));
    if (a < 0 || b < 0) cannot("the ranks of inputs that are broadcast from an axis on are not known");
    const int64_t axis = int_attribute(n, "axis", 0);
    const int64_t ones = a - b - (axis < 0 ? axis + a : axis);
    if (ones > 0) n.set_input(1, with_trailing_ones(n, n.input(1), b, static_cast<int>(ones)));
  }
  n.remove_attribute("broadcast");
  n.remove_attribute("axis");
}

void align_slope(Node& n) {
  const int x = rank_of(n.input(0)), slope = rank_of(n.input(1));
  if (x < 0 || slope < 0) cannot("the ranks of its inputs are not known");
  if (slope == 1 && x > 2) n.set_input(1, with_trailing_ones(n, n.input(1), 1, x - 2));
}

void leave_training(Node& n) {
  const bool is_test = int_attribute(n, "is_test", 0) != 0;
  if (is_op(n, "Dropout") && !is_test) cannot("it drops elements at random (is_test is 0)");
  if (is_op(n, "BatchNormalization") && is_test) n.set_outputs({n.output(0)});
  n.remove_attribute("is_test");
}

void name_target(Node& n) {
  std::string name(string_attribute(n, "to", ""));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::optional<DType> to = dtype_from_name(name);
  if (!to) cannot(fmt::format("the attribute 'to' names the unknown element type '{}'", name));
  n.set_attribute("to", static_cast<int64_t>(*to));
}

void whole_exponent(Node& n) {
  const double p = float_attribute(n, "p", 2);
  if (p != std::floor(p)) cannot(fmt::format("the exponent {} is no whole number", p));
  n.set_attribute("p", static_cast<int64_t>(p));
}

void scale_extents(Node& n) {
  n.set_attribute("scales",
                  std::vector<float>{1, 1, static_cast<float>(float_attribute(n, "height_scale", 1)),
                                     static_cast<float>(float_attribute(n, "width_scale", 1))});
  n.remove_attribute("height_scale");
  n.remove_attribute("width_scale");
}

void shape_to_input(Node& n) {
  Graph& g = n.graph();
  n.set_input(1, g.add_constant(g.unique_name(n.output(0)->name() + "/shape"),
                                Tensor::vector(ints_attribute(n, "shape"))));
  n.remove_attribute("shape");
}

/// The whole numbers in a constant floating input.
std::vector<int64_t> constant_numbers(const Node& n, size_t i, const char* name) {
  const Tensor* t = constant_of(n.input(i));
  if (t == nullptr) cannot(fmt::format("its input '{}' is not constant", name));
  return convert(*t, DType::kInt64).to_int64();
}

void lengths_to_attribute(Node& n) {
  if (n.input(1) == nullptr) return;
  n.set_attribute("split", constant_numbers(n, 1, "split"));
  n.set_inputs({n.input(0)});
}

void tiles_to_repeats(Node& n) {
  const int rank = rank_of(n.input(0));
  if (rank < 0) cannot("the rank of its input is not known");
  const std::vector<int64_t> tiles = constant_numbers(n, 1, "tiles"), axis = constant_numbers(n, 2, "axis");
  if (tiles.size() != 1 || axis.size() != 1) cannot("tiles and axis must have one element");
  std::vector<int64_t> repeats(static_cast<size_t>(rank), 1);
  repeats[static_cast<size_t>(normalize_axis(axis[0], rank))] = tiles[0];
  Graph& g = n.graph();
  n.set_inputs(
      {n.input(0), g.add_constant(g.unique_name(n.output(0)->name() + "/repeats"), Tensor::vector(repeats))});
}

void rename_pads(Node& n) {
  n.set_attribute("pads", ints_attribute(n, "paddings"));
  n.remove_attribute("paddings");
}

void default_axis(Node& n) { n.set_attribute("axis", int_attribute(n, "axis", 1)); }

void default_slope(Node& n) {
  n.set_attribute("alpha", static_cast<float>(float_attribute(n, "alpha", 1.6732F)));
  n.set_attribute("gamma", static_cast<float>(float_attribute(n, "gamma", 1.0507F)));
}

void drop_output_sequence(Node& n) {
  n.remove_attribute("output_sequence");
  if (string_attribute(n, "direction", "forward") == "foward")
    n.set_attribute("direction", std::string("forward"));
}

void drop_broadcast(Node& n) { n.remove_attribute("broadcast"); }

/// How nodes of versions before `since` are written in opset 7.
struct Rule {
  std::string_view op;
  int since;
  void (*rewrite)(Node&);
};

constexpr Rule kRules[] = {
    {"Add", 7, align_second},
    {"And", 7, align_second},
    {"BatchNormalization", 7, leave_training},
    {"Cast", 6, name_target},
    {"Concat", 4, default_axis},
    {"Div", 7, align_second},
    {"Dropout", 7, leave_training},
    {"Equal", 7, align_second},
    {"GRU", 7, drop_output_sequence},
    {"Gemm", 7, drop_broadcast},
    {"GlobalLpPool", 2, whole_exponent},
    {"Greater", 7, align_second},
    {"LSTM", 7, drop_output_sequence},
    {"Less", 7, align_second},
    {"LpPool", 2, whole_exponent},
    {"Mul", 7, align_second},
    {"Or", 7, align_second},
    {"PRelu", 7, align_slope},
    {"Pad", 2, rename_pads},
    {"Pow", 7, align_second},
    {"RNN", 7, drop_output_sequence},
    {"Reshape", 5, shape_to_input},
    {"Selu", 6, default_slope},
    {"Split", 2, lengths_to_attribute},
    {"Sub", 7, align_second},
    {"Tile", 6, tiles_to_repeats},
    {"Upsample", 7, scale_extents},
    {"Xor", 7, align_second},
};

void rewrite(Graph& g, int64_t opset) {
  std::vector<Node*> nodes;
  for (const auto& n : g.nodes()) nodes.push_back(n.get());
  for (Node* n : nodes) {
    for (Attribute& a : n->attributes)
      if (auto* sub = std::get_if<std::shared_ptr<Graph>>(&a.data)) rewrite(**sub, opset);
    if (!n->domain.empty()) continue;
    n->remove_attribute("consumed_inputs");
    for (const Rule& rule : kRules)
      if (n->op_type == rule.op && opset < rule.since)
        with_context([&] { return "at node " + n->label(); }, [&] { rule.rewrite(*n); });
  }
}

bool run(Model& model) {
  const int64_t opset = model.opset("");
  if (opset <= 0 || opset >= kOpset) return false;
  rewrite(*model.graph, opset);
  for (OpsetImport& o : model.opsets)
    if (o.domain.empty() || o.domain == "ai.onnx") o.version = kOpset;
  return true;
}

}  // namespace

constinit const PassDef pass_raise_opset = {
    .name = "raise_opset",
    .summary = "a model below opset 7 is rewritten to opset 7",
    .run = run,
};

}  // namespace assay
