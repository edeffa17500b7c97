#include <cstdio>
#include <set>

#include "lint/lint_test_util.h"
#include "onnx/writer.h"

namespace assay::lint::lint_test {
namespace {

using onnx::MessageWriter;

struct Case {
  std::string text;
  std::string expected;  ///< all lines of the report
};

const Case kCases[] = {
    {model("[n] y = Relu (x)", "", "", ""),
     "no-opset : the model imports no opset\n"
     "unimported-domain n: the model does not import the domain 'ai.onnx' of the operator\n"},
    {"<opset_import: [\"\" : 21]> g (float x) => (float y) { [n] y = Relu (x) }",
     "no-ir-version : the model has no IR version\n"},
    {"<ir_version: 10, opset_import: [\"\" : 21], metadata_props: [\"k\": \"a\", \"k\": \"b\"]> g (float x) "
     "=> (float y) "
     "{ [n] y = Relu (x) }",
     "duplicate-metadata : the metadata key 'k' is given twice\n"},
    {model("[n] y = Relu (x)", "", "", "\"\" : 21, \"ai.onnx\" : 20"),
     "duplicate-opset : the domain 'ai.onnx' is imported twice, with versions 21 and 20\n"},
    {model("[n] y = Relu (x)", "", "", "\"\" : 9999"),
     "new-opset : the model imports version 9999 of 'ai.onnx', but 28 is the newest that this build knows; "
     "where "
     "later versions changed an operator, its results would be those of version 28\n"},
    {model("[n] y = l.f (x)", "", "<domain: \"l\", opset_import: [\"\" : 20]> f (a) => (b) { b = Relu (a) }",
           "\"\" : 21, \"l\" : 1"),
     "function-opset : function 'f' imports version 20 of the domain 'ai.onnx', but the model imports 21\n"},
    {model("[n] y = l.f (x)", "",
           "<domain: \"l\", opset_import: [\"\" : 21]> f (a) => (b) { b = Relu (a) }\n"
           "<domain: \"l\", opset_import: [\"\" : 21]> f (a) => (b) { b = Neg (a) }\n"
           "<domain: \"l\", opset_import: [\"\" : 21]> g (a) => (b) { b = Neg (q) }",
           "\"\" : 21, \"l\" : 1"),
     "duplicate-function : two functions are named 'f' in the domain 'l'\n"
     "undefined-input : in function 'g': at node (Neg) producing 'b': the input 'q' is not defined: no graph "
     "input, initializer or node "
     "output "
     "has that name\n"
     "unused-function : function 'g' of the domain 'l' is never called\n"},
    // Arguments of a call apply in the function's body, also through nested calls.
    {model("[n] y = l.f <k = 2, p = [0, 1]> (x)", "",
           "<domain: \"l\", opset_import: [\"\" : 21, \"l\" : 1]> f <k, p> (a) => (b) { i = Constant "
           "<value_int: "
           "int = @k> () c = Cast <to = 1> (i) d = Mul (a, c) b = l.g <q: ints = @p> (d) }\n"
           "<domain: \"l\", opset_import: [\"\" : 21]> g <q> (a) => (b) { b = Transpose <perm: ints = @q> "
           "(a) }",
           "\"\" : 21, \"l\" : 1"),
     ""},
    {model("[n] y = l.f (x)", "",
           "<domain: \"l\", opset_import: [\"\" : 21]> f <k, k> (a) => (b, b) { b = Relu (a) }",
           "\"\" : 21, \"l\" : 1"),
     "duplicate-output : in function 'f': 'b' is listed twice among the graph outputs\n"
     "duplicate-attribute : in function 'f': the attribute 'k' is given twice\n"},
    {model("[n] y = If (c) <then_branch: graph = t () => (float[2, 3] r) { x = Neg (i) r = Relu (x) }, "
           "else_branch: "
           "graph = e () => (float[2, 3] i) { i = Abs (x) }>\n[m] z = Relu (x)",
           "<float[2, 3] i = {1, 2, 3, 4, 5, 6}>"),
     "shadowed-output n: in 'then_branch' of node 'n' (If): at node (Neg) producing 'x': 'x' is a node "
     "output here, "
     "and a value of an enclosing graph has that name; names of node outputs must differ from all that the "
     "graph "
     "sees\n"
     "shadowed-output n: in 'else_branch' of node 'n' (If): at node (Abs) producing 'i': 'i' is a node "
     "output here, "
     "and a value of an enclosing graph has that name; names of node outputs must differ from all that the "
     "graph "
     "sees\n"
     "unused-node m: Does not affect outputs, can be removed.\n"},
    {model("[n] y = Loop (m, c, x) <body: graph = b (int64 i, bool c, float[2, 3] s) => (bool l, float[2, 3] "
           "t) "
           "{ l = Identity (c) t = Neg (s) }>",
           "<int64 m = {3}>"),
     "shadowed-name n: in 'body' of node 'n' (Loop): 'c' is a graph input here and hides a value of an "
     "enclosing "
     "graph\n"},
    {model("[n] y = Loop (m, c, x) <body: graph = b (int64 i, bool k, float[2, 3] s) => (bool l, float[2, 3] "
           "t) "
           "<float[2, 3] s = {1, 2, 3, 4, 5, 6}> { l = Identity (k) t = Neg (s) }>",
           "<int64 m = {3}>"),
     "body-default n: in 'body' of node 'n' (Loop): 's' is an input of the body and an initializer, which is "
     "never "
     "used: bodies get all their inputs\n"},
    {"<ir_version: 10, opset_import: [\"\" : 21]> \"\" (float x) => (float y) { [n] y = Relu (x) }",
     "graph-name : Field 'name' of 'graph' is required to be non-empty.\n"},
    {model("[n] y = If (c) <then_branch: graph = \"\" () => (float[2, 3] a) { a = Relu (x) }, else_branch: "
           "graph = e () "
           "=> (float[2, 3] b) { b = Neg (x) }>"),
     "subgraph-name n: in 'then_branch' of node 'n' (If): the graph has no name\n"},
    {model("[n] y = If (c) <then_branch: graph = t () => (float[2, 3] h) { h = Relu (x) }, else_branch: "
           "graph = e () => "
           "(float[2, 3] b) { b = Relu (q) }>",
           "<float[2, 3] h = {1, 2, 3, 4, 5, 6}>"),
     "shadowed-output n: in 'then_branch' of node 'n' (If): at node (Relu) producing 'h': 'h' is a node "
     "output "
     "here, and a value of an enclosing graph has that name; names of node outputs must differ from all that "
     "the graph sees\n"
     "undefined-input n: in 'else_branch' of node 'n' (If): at node (Relu) producing 'b': the input 'q' is "
     "not defined: no graph input, "
     "initializer "
     "or node output has that name\n"
     "unused-initializer : initializer 'h' is never used\n"},
    {model("[n] y = Relu (x)\n[m] y = Neg (x)"),
     "duplicate-name m: 'y' is defined twice: as a node output and as a node output\n"
     "unused-node m: Does not affect outputs, can be removed.\n"},
    {model("[n] y = Relu (x)", "<float w = {1}, float w = {1}>"),
     "duplicate-name : 'w' is defined twice: as an initializer and as an initializer\n"
     "unused-initializer : initializer 'w' is never used\n"},
    {"<ir_version: 10, opset_import: [\"\" : 21]> g (float x) => (float y, float y) { [n] y = Relu (x) }",
     "duplicate-output : 'y' is listed twice among the graph outputs\n"},
    {"<ir_version: 3, opset_import: [\"\" : 8]> g (float x, float v = {1}) => (float y) <float w = {1}> { "
     "[n] h = Add "
     "(x, v) [m] y = Add (h, w) }",
     "unlisted-initializer : initializer 'w' is not listed among the graph inputs, as IR version 3 "
     "demands\n"},
    {"<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] x, float[3] v = {1, 2, 3}) => (float[3] y) "
     "{ [n] y = Identity (v) [m] z = Neg (x) }",
     "unused-input : Input: 'x' does not affect outputs, can be removed.\n"
     "unused-node m: Does not affect outputs, can be removed.\n"},
    {model("[n] y = Relu (h)\n[m] h = Neg (x)"),
     "unsorted-nodes n: the input 'h' is only defined by a later node; nodes must stand in topological "
     "order\n"},
    {model("[n] y = Add (x, h)\n[m] h = Neg (y)"),
     "unsorted-nodes n: the input 'h' is only defined by a later node; nodes must stand in topological "
     "order\n"
     "not-importable : the graph has a cycle: 'n' (Add) <- 'm' (Neg) <- 'n' (Add)\n"},
    {model("[n] z = Relu (x)"),
     "undefined-output : the graph output 'y' is not defined: no graph input, initializer or node output has "
     "that "
     "name\n"
     "unused-input : Input: 'c' does not affect outputs, can be removed.\n"
     "unused-input : Input: 'x' does not affect outputs, can be removed.\n"
     "unused-node n: Does not affect outputs, can be removed.\n"},
    {model("[n] h = Relu (x)\n[n] y = Relu (h)"),
     "duplicate-node-name n: Duplicate node name: 'n' for nodes with topological IDs: [0, 1] found.\n"},
    {model("[n] y = Relu (x)", "<float z>"),
     "unknown-value-info : a type is declared for 'z', which no graph input, initializer or node output "
     "is\n"},
    {"<ir_version: 10, opset_import: [\"\" : 21]> g (x) => (float y) { [n] y = Relu (x) }",
     "no-type : the graph input 'x' has no type\n"},
    {model("[n] h = Cast <to: int = 7> (x)\n[m] y = Cast <to: int = 1> (h)", "<float[2, 3] h>"),
     "type-contradiction n: 'h' is declared as float32[2, 3], but the node gives int64[2, 3]\n"},
    {model("[n] h = Relu (x)\n[m] y = Relu (h)", "<float[3, 2] h>"),
     "shape-contradiction n: 'h' is declared with the shape (3, 2), but the node gives (2, 3)\n"},
    {model("[n] h = \"\" (x)\n[m] y = Relu (x)"), "no-operator n: the node has no operator type\n"},
    {model("[n] y = LeakyRelu <alpha = 1.0, alpha = 2.0> (x)"),
     "duplicate-attribute n: the attribute 'alpha' is given twice\n"},
    {model("[n] y = com.x.Relu (x)"),
     "unimported-domain n: the model does not import the domain 'com.x' of the operator\n"},
    {model("[n] y = Frobnicate (x)"),
     "no-such-operator n: the domain 'ai.onnx' has no operator Frobnicate, and no function of the model has "
     "that "
     "name\n"},
    {model("[n] y = com.x.Relu (x)", "", "", "\"\" : 21, \"com.x\" : 1"),
     "unknown-operator n: the operator Relu of the domain 'com.x' is unknown, and no function of the model "
     "has "
     "that name\n"},
    {"<ir_version: 10, opset_import: [\"\" : 21]> g (float[] x, seq(float[]) s) => (float[] y) { [n] y = "
     "Relu (x) [m] z "
     "= SequenceLength (s) }",
     "no-shape : Field 'shape' of 'type' is required but missing. The graph input 'x' is of unknown rank\n"
     "unused-input : Input: 's' does not affect outputs, can be removed.\n"
     "unused-node m: Does not affect outputs, can be removed.\n"},
    {"<ir_version: 10, opset_import: [\"\" : 21]> g (float[a, b] x) => (float[a, b, c] y) <float[a] h> { [n] "
     "h = Relu "
     "(x) [m] y = Neg (h) }",
     "shape-contradiction n: 'h' is declared with the shape ('a',), but the node gives ('a', 'b')\n"
     "shape-contradiction m: 'y' is declared with the shape ('a', 'b', 'c'), but the node gives ('a', "
     "'b')\n"},
    {model("[n] y = Gelu (x)", "", "", "\"\" : 17"),
     "new-operator n: Gelu exists since version 20 of the domain 'ai.onnx', but version 17 is imported\n"},
    {model("[n] y = Add (x)"), "arity n: Add-14 takes 2 inputs, but 1 are given\n"},
    {model("[n] y = Add (x, \"\")"), "left-out n: Add-14 needs its inputs 'B', which is left out\n"},
    {model("[n] h = Relu <a: int = 1> (x)\n[m] y = Cast (h)\n[k] z = Flatten <axis = 1.5> (x)"),
     "unknown-attribute n: Relu-14 has no attribute 'a'\n"
     "missing-attribute m: Cast-21 needs its attribute 'to'\n"
     "attribute-type k: the attribute 'axis' of Flatten-21 must be of type INT, not FLOAT\n"
     "unused-node k: Does not affect outputs, can be removed.\n"},
    {model("[n] y = Add (x, c)"),
     "input-type n: the input 'B' of Add-14 ('c') is of type bool, which is not one of uint8, uint16, "
     "uint32, uint64, int8, int16, int32, int64, float16, float, double, bfloat16\n"
     "input-type n: the inputs of Add-14 that share type T differ: 'c' is bool, another is float\n"},
    {model("[n] h = MatMul (x, x)\n[m] y = Relu (x)"),
     "operator-rule n: the inner extents 3 and 2 differ\n"
     "unused-node n: Does not affect outputs, can be removed.\n"},
    {model("[n] y = If (c) <then_branch: graph = t () => (h) { h = MatMul (x, x) }, else_branch: graph = e "
           "() => (b) { b "
           "= Neg (x) }>"),
     "branch-rule n: in 'then_branch' of node 'n' (If): at node (MatMul) producing 'h': the inner extents 3 "
     "and 2 differ; that is an error "
     "when this "
     "branch runs\n"},
    {model("[n] y = If (c) <then_branch: graph = t () => (float[3] h) <int64[2, 3] k> { k = Neg (x) h = Relu "
           "(x) }, "
           "else_branch: graph = e () => (float[2, 3] b) { b = Neg (x) }>"),
     "branch-type n: in 'then_branch' of node 'n' (If): at node (Neg) producing 'k': 'k' is declared as "
     "int64[2, 3], "
     "but the node gives float32[2, 3]; that is an error when this branch runs\n"
     "branch-shape n: in 'then_branch' of node 'n' (If): at node (Relu) producing 'h': 'h' is declared with "
     "the shape "
     "(3,), but the node gives (2, 3); that is an error when this branch runs\n"},
    {model("[n] y = Relu (x)", "<float w = {1}>"), "unused-initializer : initializer 'w' is never used\n"},
};

/// Where only the condition is not used, that is not a part of the case.
std::string without_condition(std::string text) {
  const std::string line = "unused-input : Input: 'c' does not affect outputs, can be removed.\n";
  if (const size_t at = text.find(line); at != std::string::npos) text.erase(at, line.size());
  return text;
}

TEST_F(LintTest, EveryRuleFindsItsFault) {
  for (const Case& c : kCases)
    EXPECT_EQ(without_condition(lines(lint(c.text))), without_condition(c.expected)) << c.text;
}

TEST_F(LintTest, FindsIndependentErrorsInOneRun) {
  const Report report =
      lint(model("[a] p = Add (x)\n[b] q = Relu (nowhere)\n[d] r = Cast (x)\n[e] y = Concat <axis: int = "
                 "0> (p, q, r, s)\n[f] s = Frobnicate (x)"));
  std::set<std::string> rules;
  for (const Entry& e : report.entries()) rules.insert(std::string(e.rule->name));
  EXPECT_EQ(rules, (std::set<std::string>{"arity", "undefined-input", "missing-attribute", "unsorted-nodes",
                                          "no-such-operator", "unused-input"}))
      << lines(report);
  EXPECT_EQ(report.failing(), (std::vector<std::string>{"b", "e", "a", "d", "f"}));
  EXPECT_TRUE(report.passing().empty());
}

TEST_F(LintTest, FindsOrphanedExternalData) {
  const auto write = [&](const std::string& data) {
    AtomicFile file(folder_ / "w.bin");
    file.write(data);
    file.commit();
  };
  const auto text = [](std::string_view place) {
    return model("[n] y = Where (c, x, w)",
                 fmt::format("<float[1] w = [\"location\": \"w.bin\", {}]>", place));
  };
  const std::string one("\0\0\x80\x3f", 4);
  const auto found = [&](const std::string& data, std::string_view place) {
    write(data);
    return without_condition(lines(lint(text(place))));
  };
  const auto orphaned = [](int bytes, int all) {
    return fmt::format(
        "orphaned-external-data : {} of the {} bytes of the external data file 'w.bin' belong to no tensor "
        "of the "
        "model; saving it with external data of its own leaves them out\n",
        bytes, all);
  };
  EXPECT_EQ(found(one, "\"offset\": \"0\", \"length\": \"4\""), "");
  EXPECT_EQ(found(one + "gone", "\"offset\": \"0\", \"length\": \"4\""), orphaned(4, 8));
  EXPECT_EQ(found("gone" + one, "\"offset\": \"4\", \"length\": \"4\""), orphaned(4, 8));
  EXPECT_EQ(found("lost" + one + "gone", "\"offset\": \"4\", \"length\": \"4\""), orphaned(8, 12));
  // Padding before an aligned tensor.
  EXPECT_EQ(found(std::string(4092, '\0') + one, "\"offset\": \"4092\", \"length\": \"4\""), "");
  // More zeros than any alignment needs are a former tensor.
  EXPECT_EQ(found(std::string(1 << 17, '\0') + one, "\"offset\": \"131072\", \"length\": \"4\""),
            orphaned(1 << 17, (1 << 17) + 4));
  // The checks that Polygraphy does not have.
  write(one + "gone");
  EXPECT_EQ(lines(lint(text("\"offset\": \"0\", \"length\": \"4\""), /*upstream_only=*/true)), "");
}

TEST_F(LintTest, FindsDamagedFiles) {
  EXPECT_EQ(lines(lint("")), "empty-file : Empty ONNX model given\n");
  EXPECT_EQ(lines(lint("\x08\x07:\x7f")),
            "damaged-file : the bytes are damaged at offset 4: a length reaches beyond "
            "its end\n");
  EXPECT_EQ(lines(lint("\x08\x07")), "damaged-file : this is not an ONNX model: it has no graph\n");
  EXPECT_EQ(
      lines(lint("<ir_version 7>")),
      "damaged-file : expected ':' after a key, but found '7' [at line 1, column 13: <ir_version 7>]\n");
}

TEST_F(LintTest, AModelWithoutNodesIsOnlyOdd) {
  const Report report = lint("<ir_version: 10, opset_import: [\"\" : 21]> g (float x) => (float x) {}");
  EXPECT_EQ(lines(report), "no-nodes : ONNX model has no nodes\n");
  EXPECT_TRUE(report.is_valid());
}

/// Models that the text form cannot write.
TEST_F(LintTest, FindsBadTensorsTypesAndNames) {
  MessageWriter tensor;
  tensor.integer(1, 2), tensor.integer(2, 1), tensor.text(8, "w"), tensor.text(9, "1234");
  MessageWriter element, type, input, unnamed, attribute, node, graph, opset, file;
  element.integer(1, 99), type.message(1, element);
  input.text(1, "x"), input.message(2, type);
  attribute.text(1, "a"), attribute.integer(20, 77);
  node.text(1, "x"), node.text(1, "w"), node.text(2, "y"), node.text(3, "n"), node.text(4, "Add");
  node.message(5, attribute);
  graph.message(1, node), graph.text(2, "g"), graph.message(5, tensor), graph.message(11, input);
  graph.message(11, unnamed);
  MessageWriter dim, shape, tensor_type, vector, listed, constant;
  dim.integer(1, 3), shape.message(1, dim), tensor_type.integer(1, 1), tensor_type.message(2, shape);
  vector.message(1, tensor_type), listed.text(1, "v"), listed.message(2, vector);
  constant.integer(1, 2), constant.integer(2, 1), constant.text(8, "v"), constant.text(9, "12345678");
  graph.message(11, listed), graph.message(5, constant);
  MessageWriter output;
  output.text(1, "y");
  graph.message(12, output);
  opset.integer(2, 21);
  file.integer(1, 10), file.message(7, graph), file.message(8, opset);
  std::string bytes;
  file.write_to([&](std::string_view piece) { bytes += piece; });
  EXPECT_EQ(
      lines(lint(bytes)),
      "unknown-type : 'x' is declared with the unknown element type 99\n"
      "no-name : a graph input has no name\n"
      "no-type : the graph input 'x' has no type\n"
      "initializer : initializer 'w': it has 4 bytes of data, but float32 of shape (2,) needs 8\n"
      "initializer-type : the graph input 'v' is declared as float32(3), but its initializer is float32(2)\n"
      "lost-initializer n: the input 'w' is an initializer without usable data\n"
      "bad-attribute n: the attribute 'a': its type 77 is unknown\n"
      "unknown-attribute n: Add-14 has no attribute 'a'\n"
      "unused-initializer : initializer 'v' is never used\n");
}

TEST_F(LintTest, NamesNodesAsUpstreamDoes) {
  const Report report = lint(model("h = Relu (x)\n[polygraphy_unnamed_node_2] k = Relu (h)\ny = Relu (k)"));
  EXPECT_EQ(report.passing(),
            (std::vector<std::string>{"polygraphy_unnamed_node_0", "polygraphy_unnamed_node_2",
                                      "polygraphy_unnamed_node_2_0"}));
}

TEST_F(LintTest, UpstreamsRulesLeaveOurFindingsOut) {
  const std::string text = model("[n] y = Add (x)", "<float w = {1}>");
  EXPECT_FALSE(lint(text).is_valid());
  const Report report = lint(text, true);
  EXPECT_TRUE(report.is_valid());
  EXPECT_EQ(lines(report), "unused-input : Input: 'c' does not affect outputs, can be removed.\n");
}

TEST_F(LintTest, ShapesMayBeOverridden) {
  options.input_shapes = {{"x", {Dim(5), Dim(3)}}};
  EXPECT_EQ(
      without_condition(lines(lint(model("[n] h = Relu (x)\n[m] y = MatMul (h, w)",
                                         "<float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>")))),
      "operator-rule m: the inner extents 3 and 4 differ\n");
  options.input_shapes = {{"nope", {}}};
  EXPECT_THROW(lint(model("[n] y = Relu (x)")), Error);
}

TEST_F(LintTest, SavesUpstreamsSchema) {
  const Report report = lint(model("[n] y = Add (x)"));
  const std::string text = findings_json(report.findings());
  EXPECT_EQ(text.substr(0, text.find("        {\n            \"level\": \"warning\"")),
            R"({
    "summary": {
        "passing": [],
        "failing": [
            "n"
        ]
    },
    "lint_entries": [
        {
            "level": "exception",
            "source": "assay",
            "message": "Add-14 takes 2 inputs, but 1 are given",
            "nodes": [
                "n"
            ],
            "rule": "arity"
        },
)");
}

/// Each rule is in a test: the names of all rules appear among the expectations of this file.
TEST_F(LintTest, NoRuleIsWithoutATest) {
  std::set<std::string_view> untested;
  for (const Rule* rule : all_rules()) untested.insert(rule->name);
  for (const char* elsewhere :
       {"empty-file", "damaged-file", "no-nodes", "unknown-type", "no-name", "initializer",
        "lost-initializer", "initializer-type", "bad-attribute", "runtime-error", "runtime-warning",
        "runtime-crash", "runtime-unknown-operator", "orphaned-external-data"})
    untested.erase(elsewhere);
  for (const Case& c : kCases) {
    const Report report = lint(c.text);
    for (const Entry& e : report.entries()) untested.erase(e.rule->name);
  }
  EXPECT_TRUE(untested.empty()) << *untested.begin();
}

}  // namespace
}  // namespace assay::lint::lint_test
