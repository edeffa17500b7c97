// The whole cycle: a network, a builder with a profile, a plan file, a runtime, a context on the caller's
// memory.
//
//     engine01_build_and_run [PLAN]      writes the plan (default: a temporary file) and runs it
#include <cstdio>
#include <filesystem>

#include "assay/builder.h"
#include "network.h"

using namespace assay;

int main(int argc, char** argv) {
  return example::run([&] {
    const std::string path = argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "engine01.plan";
    {
      const Runtime runtime({.threads = 1});
      BuilderConfig config;
      OptimizationProfile profile;
      profile.set_shape("x", {1, 4}, {2, 4}, {8, 4});
      config.profiles = {profile};
      Builder(runtime).build_engine(example::network(), config)->save(path);
    }
    // As if in another process: nothing but the file is left.
    const Runtime runtime({.threads = 1});
    const auto engine = runtime.load_engine(path);
    for (const IoTensor& t : engine->io_tensors())
      fmt::print("{} {}: {}\n", t.is_input ? "input " : "output", t.name, t.type.str());
    const auto context = engine->create_execution_context();
    alignas(64) float x[12], y[6];
    for (int i = 0; i < 12; ++i) x[i] = static_cast<float>(i) - 4;
    context->set_input_shape("x", {3, 4});
    context->set_tensor_address("x", x, sizeof x);
    context->set_tensor_address("y", y, sizeof y);
    const Shape shape = context->tensor_shape("y").value();
    context->execute();
    fmt::print("y{}: {} {} | {} {} | {} {}\n", shape.str(), y[0], y[1], y[2], y[3], y[4], y[5]);
    example::check(y[0] == 0 && y[2] == 2.5F && y[4] == 10.5F, "the results are wrong");
    if (argc < 2) std::filesystem::remove(path);
  });
}
