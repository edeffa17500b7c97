// Several profiles, contexts and streams on one engine; events; a recorded run; times by layer.
#include <map>

#include "assay/builder.h"
#include "network.h"

using namespace assay;

namespace {

class Times : public Profiler {
 public:
  void report_layer_time(const std::string& layer, double milliseconds) override {
    by_layer[layer] += milliseconds;
  }
  std::map<std::string, double> by_layer;
};

}  // namespace

int main() {
  return example::run([] {
    const Runtime runtime;
    BuilderConfig config;
    OptimizationProfile few, many;
    few.set_shape("x", {1, 4}, {1, 4}, {4, 4});
    many.set_shape("x", {5, 4}, {64, 4}, {64, 4});
    config.profiles = {few, many};
    const auto engine = Builder(runtime).build_engine(example::network(), config);

    const auto first = engine->create_execution_context(), second = engine->create_execution_context();
    second->set_optimization_profile(1);
    alignas(64) float x[64 * 4], y1[4 * 2], y2[64 * 2];
    std::fill(std::begin(x), std::end(x), 1.0F);
    first->set_input_shape("x", {4, 4});
    second->set_input_shape("x", {64, 4});
    for (const auto& [context, y, bytes] :
         {std::tuple{first.get(), y1, sizeof y1}, std::tuple{second.get(), y2, sizeof y2}}) {
      context->set_tensor_address("x", x, sizeof x);
      context->set_tensor_address("y", y, bytes);
    }

    Stream a, b;
    Event begin, end;
    begin.record(a);
    first->enqueue(a);  // these two run at the same time
    second->enqueue(b);
    b.synchronize();
    end.record(a);
    a.synchronize();
    fmt::print("{} {}, {:.3f} ms\n", y1[0], y2[127], Event::elapsed_milliseconds(begin, end));
    example::check(y1[0] == 2.5F && y2[127] == 1.5F, "the results are wrong");

    // A run that is noted once and repeated.
    a.begin_capture();
    first->enqueue(a);
    const Recording recording = a.end_capture();
    x[0] = 3;
    for (int i = 0; i < 10; ++i) recording.launch(a);
    a.synchronize();
    example::check(y1[0] == 4.5F, "the recorded run is wrong");

    Times times;
    second->set_profiler(&times);
    second->execute();
    for (const auto& [layer, ms] : times.by_layer) fmt::print("{}: {:.4f} ms\n", layer, ms);
  });
}
