// Axes that no input has: inference refuses the node, and passes see it all the same.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graph/import.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "passes/pass_manager.h"

namespace assay::wrong_axes_test {
namespace {

constexpr const char* kAxes[] = {"[3, 0, 1]",
                                 "[7, 0, 1]",
                                 "[-1, 0, 1]",
                                 "[-4, 0, 1]",
                                 "[0]",
                                 "[0, 1, 2, 3]",
                                 "[0, 0, 0]",
                                 "[9223372036854775807, 0, 1]",
                                 "[-9223372036854775808, 0, 1]"};

// {} are the axes.
constexpr const char* kNodes[] = {
    "y = Transpose <perm = {}> (x)",
    "t = Transpose <perm = {}> (x) y = Transpose <perm = {}> (t)",
    "t = Transpose <perm = [2, 1, 0]> (x) y = Transpose <perm = {}> (t)",
    "t = Transpose <perm = {}> (x) u = Relu (t) y = Transpose <perm = [2, 1, 0]> (u)",
    "t = Transpose <perm = [2, 1, 0]> (x) u = Add (t, w) y = Transpose <perm = {}> (u)",
    "t = Reshape (x, s) u = Transpose <perm = {}> (t) y = Reshape (u, s)",
    "y = ReduceMean <axes = {}> (x)",
    "t = ReduceSum <axes = {}> (x) y = ReduceSum <axes = {}> (t)",
    "y = Squeeze <axes = {}> (x)",
    "t = Unsqueeze <axes = {}> (x) y = Squeeze <axes = {}> (t)",
    "a = Constant <value_ints = {}> () y = Slice (x, s, s, a)",
    "a = Constant <value_ints = {}> () t = Slice (x, s, s, a) y = Slice (t, s, s, a)",
    "a = Constant <value_ints = {}> () y = Gather (x, a)",
    "a = Constant <value_ints = {}> () y = ReduceMax (x, a)",
};

constexpr const char* kOutputs[] = {"float[1, 2, 3] y", "float[3, 2, 1] y", "float[1, 1, 1] y", "y"};

TEST(WrongAxes, AreNotIndices) {
  for (const int opset : {11, 13, 18})
    for (const char* nodes : kNodes)
      for (const char* axes : kAxes)
        for (const char* output : kOutputs) {
          std::string text = nodes;
          for (size_t at = 0; (at = text.find("{}", at)) != std::string::npos;) text.replace(at, 2, axes);
          text = fmt::format(
              "<ir_version: 8, opset_import: [\"\" : {}]> g (float[1, 2, 3] x) => ({}) <float[3] w = {{1, 2, "
              "3}}, "
              "int64[3] s = {{1, 2, 3}}> {{ {} }}",
              opset, output, text);
          const std::shared_ptr<Model> model = parse_text(text, "the text");
          infer_shapes(*model, {.on_problem = [](const Node&, const std::string&) {}});
          try {
            run_passes(*model, built_in_passes().stage(PassStage::kCanonical), {.verify = true});
          } catch (const Error& e) {
            EXPECT_NE(e.code(), ErrorCode::kInternal) << text << "\n" << e.what();
          } catch (const std::exception& e) {
            ADD_FAILURE() << text << "\n" << e.what();
          }
        }
}

}  // namespace
}  // namespace assay::wrong_axes_test
