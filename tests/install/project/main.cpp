// Makes a network, saves and loads it, builds an engine, and runs it on two backends.
#include <assay/backend_set.h>
#include <assay/builder.h>
#include <assay/edit.h>
#include <assay/io.h>
#include <assay/version.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

int main(int, char** words) try {
  using namespace assay;
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 17}};
  Graph& graph = *model->graph;
  Value* x = graph.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(4)}));
  graph.outputs = layer(graph, "Add", {x, 1.0}, {"y"});
  save_model(*model, words[1]);
  const std::shared_ptr<Model> loaded = load_model(words[1]);

  const Tensor input = Tensor::from<float>(Shape{1, 4}, std::vector<float>{0, 1, 2, 3});
  const Runtime runtime(RuntimeOptions{.threads = 1});
  const std::vector<Tensor> outputs = Builder(runtime)
                                          .build_engine(loaded, {.optimization_level = 0})
                                          ->create_execution_context()
                                          ->infer({&input, 1});
  float worst = 0;
  const auto session = built_in_backends().get("reference").open({loaded, {}}, {});
  session->run({&input, 1}, [&](size_t, Tensor t) {
    for (int64_t i = 0; i < t.numel(); ++i)
      worst = std::max(worst, std::abs(t.data<float>()[i] - outputs[0].data<float>()[i]));
  });
  try {
    load_model("nothing.onnx");
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
  }
  std::printf("assay %s: %g, worst difference %g\n", library_version(), outputs[0].data<float>()[3], worst);
  return worst == 0 && outputs[0].data<float>()[3] == 4 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
