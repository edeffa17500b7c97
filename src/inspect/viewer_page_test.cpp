#include "inspect/viewer_page.h"

#include <gtest/gtest.h>

#include "inspect/inspect_test_util.h"

namespace assay::viewer_page_test {
namespace {

std::string page_of(const Model& model) {
  std::string page;
  write_model_page(model, "m.onnx", [&](std::string_view piece) { page += piece; });
  return page;
}

/// The text of the model's data in the page.
std::string data_of(const std::string& page) {
  const std::string_view begin = R"(<script type="application/json" id="model">)";
  const size_t from = page.find(begin) + begin.size();
  return page.substr(from, page.find("</script>", from) - from);
}

size_t count(std::string_view text, std::string_view part) {
  size_t n = 0;
  for (size_t i = text.find(part); i != std::string_view::npos; i = text.find(part, i + 1)) ++n;
  return n;
}

/// Of one use of a tensor.
std::string tensor(const std::string& name, const std::string& type, const std::string& preview = "null") {
  return R"({"name":")" + name + R"(",)" + type + R"(,"docstring":null,"weight_preview":)" + preview + "}";
}

TEST(ViewerPage, IsWholeAndAsksNobody) {
  TestModel m;
  m.input("x", {1});
  m.node("Relu", {"x"}, {"y"});
  const std::string page = page_of(*m.model);
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(page.find('@' + std::string("DATA@")), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* address : {"http://", "https://", "src=", "href=", "@import", "url("})
    EXPECT_EQ(page.find(address), std::string::npos) << address;
}

TEST(ViewerPage, NodesAsPolygraphyDescribesThem) {
  TestModel m;
  m.input("x", {Dim::symbol("n"), 2, Dim()});
  m.constant("w", {2});
  m.node("Op", {"x", "", "w"}, {"y"}, {{"to", int64_t{7}}, {"t", Tensor::vector<int64_t>({5})}}, "n",
         "my.domain");
  m.graph->outputs.push_back(m.graph->find_value("y"));
  const std::string data = data_of(page_of(*m.model));
  const std::string x = tensor("x", R"("dtype":"float32","shape":["n","2","-1"])");
  const std::string y = tensor("y", R"("dtype":null,"shape":null)");
  EXPECT_NE(
      data.find(
          R"("input_0":{"kind":"input","node_id":"input_0","name":"x","op_type":"Graph Input","inputs":[],"outputs":[)" +
          x + R"(],"attrs":[],"subgraphs":{},"origin":null,"tactic":null})"),
      std::string::npos)
      << data;
  EXPECT_NE(
      data.find(
          R"("node_0":{"kind":"node","node_id":"node_0","name":"n","op_type":"Op","inputs":[)" + x + "," +
          tensor("", R"("dtype":null,"shape":null)") + "," +
          tensor("Initializer | w", R"("dtype":"float32","shape":["2"])",
                 R"({"values":[1.0,2.0],"total":2,"truncated":false})") +
          R"(],"outputs":[)" + y + R"(],"attrs":[{"key":"to","val":"int64","weight_preview":null},)" +
          R"({"key":"t","val":"Tensor [dtype=int64, shape=[1]]","weight_preview":{"values":[5],"total":1,"truncated":false}}],)" +
          R"("subgraphs":{},"origin":null,"tactic":null,"domain":"my.domain"})"),
      std::string::npos)
      << data;
  EXPECT_NE(data.find(R"("graphs":[{"title":"g","nodes":["input_0","node_0","output_0"]}])"),
            std::string::npos)
      << data;
}

TEST(ViewerPage, BodiesAndFunctions) {
  TestModel m;
  m.input("c", {}, DType::kBool);
  const auto body = m.subgraph();
  TestModel::node(*body, "Neg", {"c"}, {"inner"});
  body->outputs.push_back(body->find_value("inner"));
  m.node("If", {"c"}, {"y"}, {{"then_branch", body}}, "if");
  m.node("F", {"c"}, {"z"}, {}, "call", "my");
  Function& f = m.model->functions.emplace_back();
  f.domain = "my";
  f.name = "F";
  f.attribute_names = {"alpha"};
  Node* inside = TestModel::node(*f.body, "Elu", {"a"}, {"b"}, {{"alpha", 1.0F}});
  inside->attributes[0].ref_attr_name = "alpha";
  const std::string data = data_of(page_of(*m.model));
  EXPECT_NE(
      data.find(
          R"("subgraphs":{"then_branch":{"all_node_ids":["node_0__sg_then_branch__node_0","node_0__sg_then_branch__output_0"]}})"),
      std::string::npos)
      << data;
  EXPECT_NE(data.find(R"("node_0__sg_then_branch__node_0":{"kind":"node")"), std::string::npos) << data;
  EXPECT_NE(data.find(R"("domain":"my","calls":1})"), std::string::npos) << data;
  EXPECT_NE(data.find(R"({"title":"my::F","nodes":["function_0__node_0"]})"), std::string::npos) << data;
  EXPECT_NE(data.find(R"({"key":"alpha","val":"the call's alpha","weight_preview":null})"), std::string::npos)
      << data;
}

TEST(ViewerPage, HostileNamesStayInside) {
  TestModel m;
  const std::string name = "</script><script>alert(1)</script><!--\n\xff\xe2\x80\xa8";
  m.graph->name = name;
  m.input(name, {Dim::symbol(name)});
  m.node(name, {name}, {"y" + name}, {{name, name}}, name, name);
  const std::string page = page_of(*m.model), data = data_of(page);
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_EQ(count(page, "<script"), 4u) << "the model, the report, the other model, and the script";
  EXPECT_EQ(count(page, "</script>"), 4u);
  EXPECT_TRUE(data.ends_with("}}")) << "it is whole";
  EXPECT_NE(data.find(R"(\u003c!--\n\udcff\u2028)"), std::string::npos) << data;
}

TEST(ViewerPage, GrowsWithTheFileAndNotWithUses) {
  TestModel m;
  Value* x = m.input("x", Dims(100'000, Dim::symbol(std::string(1000, 's'))));
  x->doc_string = std::string(1'000'000, 'd');
  for (int i = 0; i < 100; ++i)
    m.node("Op", {"x"}, {"y" + std::to_string(i)}, {{"list", std::vector<int64_t>(10'000, 1)}});
  EXPECT_LT(page_of(*m.model).size(), 100u * 64 * 150 + 200'000);
}

}  // namespace
}  // namespace assay::viewer_page_test
