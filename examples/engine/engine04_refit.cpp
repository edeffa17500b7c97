// A plan without weights, which come later; and other weights for an engine that runs.
#include "assay/builder.h"
#include "network.h"

using namespace assay;

int main() {
  return example::run([] {
    const Runtime runtime({.threads = 1});
    const auto network = example::network();
    BuilderConfig config;
    OptimizationProfile profile;
    profile.set_shape("x", {1, 4}, {1, 4}, {8, 4});
    config.profiles = {profile};
    config.strips_weights = true;
    const std::string plan = Builder(runtime).build_serialized_network(network, config);

    const auto engine = runtime.deserialize_engine(plan);
    Refitter refitter(engine);
    for (const std::string& name : refitter.missing_weights()) {
      fmt::print("missing: {}\n", name);
      refitter.set_weights(name, network->graph->find_value(name)->tensor().aligned());
    }
    refitter.refit();
    const auto context = engine->create_execution_context();
    const std::vector<Tensor> x = {Tensor::from<float>({1, 4}, std::vector<float>{1, 2, 3, 4})};
    example::check(context->infer(x)[0].data<float>()[0] == 4.5F, "the refitted engine is wrong");

    refitter.set_weights("b", Tensor::vector<float>({100, 200}));
    refitter.refit();
    const float y = context->infer(x)[0].data<float>()[0];
    fmt::print("with another bias: {}\n", y);
    example::check(y == 104, "the other weights were not taken");
  });
}
