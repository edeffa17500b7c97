// Building engines and running them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "assay/builder.h"
#include "assay/inspect.h"
#include "assay/loaders.h"
#include "assay/runtime.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"

namespace assay::python {
namespace {

using EngineRef = std::shared_ptr<Engine>;
using RuntimeRef = std::shared_ptr<Runtime>;

// ---- building ----

/// An interrupt ends a build at its next report of progress.
void build_hook(const nb::object& progress, const BuildProgress& p) {
  if (InterruptScope::interrupted()) {
    const Locked lock;
    InterruptScope::check();
  }
  if (progress.is_none()) return;
  const Locked lock;
  drain_log();
  const nb::object goes_on = progress(to_text(p.phase), to_text(p.what), p.done, p.total, p.from_cache);
  if (goes_on.ptr() == Py_False) throw Cancelled();
}

nb::tuple build(const RuntimeRef& runtime, const std::shared_ptr<Model>& model, nb::handle settings,
                nb::object progress) {
  BuildSettings build = read_build_settings(settings);
  build.config.on_progress = [&](const BuildProgress& p) { build_hook(progress, p); };
  const InterruptScope interrupts;
  const Builder builder(*runtime);
  const EngineRef engine = without_lock([&] {
    const poly::Network network = poly::PrepareNetwork(model)();
    return builder.build_engine(network, build.config);
  });
  InterruptScope::check();
  return nb::make_tuple(engine, to_text(builder.summary()), to_text(builder.explanation()),
                        to_text(builder.type_summary()));
}

RuntimeRef make_runtime(int threads) {
  RuntimeOptions options;
  options.threads = threads;
  options.on_warning = [](const std::string& sentence) { collect_message(30, sentence); };
  return std::make_shared<Runtime>(std::move(options));
}

EngineRef deserialize(const RuntimeRef& runtime, nb::handle plan) {
  const BorrowedBytes b = borrow_bytes(plan, "the plan");
  return without_lock([&] { return runtime->deserialize_engine(b.bytes, b.owner); });
}

nb::bytes serialize(const EngineRef& engine) {
  const std::string plan = without_lock([&] { return engine->serialize(); });
  return nb::bytes(plan.data(), plan.size());
}

// ---- engines ----

nb::list io_tensors(const std::vector<IoTensor>& tensors) {
  nb::list list;
  for (const IoTensor& t : tensors) list.append(describe_value(t.name, t.type));
  return list;
}

nb::list profiles(const EngineRef& engine) {
  nb::list list;
  for (const OptimizationProfile& p : engine->profiles()) {
    nb::dict ranges;
    for (const OptimizationProfile::Range& r : p.ranges())
      ranges[to_text(r.input)] = nb::make_tuple(nb::tuple(nb::cast(r.min)), nb::tuple(nb::cast(r.opt)),
                                                nb::tuple(nb::cast(r.max)), r.holds_values);
    list.append(ranges);
  }
  return list;
}

nb::str engine_information(const EngineRef& engine, bool json) {
  using Format = EngineInspector::Format;
  const std::string text = without_lock(
      [&] { return EngineInspector(engine).engine_information(json ? Format::kJson : Format::kOneLine); });
  return to_text(text);
}

nb::list layer_information(const EngineRef& engine, bool json) {
  using Format = EngineInspector::Format;
  const EngineInspector inspector(engine);
  nb::list list;
  for (size_t i = 0; i < inspector.layer_count(); ++i)
    list.append(to_text(inspector.layer_information(i, json ? Format::kJson : Format::kOneLine)));
  return list;
}

// ---- contexts ----

/// One run at a time, seen before anything of the context is touched.
class RunScope {
 public:
  explicit RunScope(Context& c) : context_(c) {
    if (c.is_running)
      throw Error(ErrorCode::kInvalidArgument, "the context is used by another thread")
          .set_remedy("Make a context for each thread.");
    c.is_running = true;
  }
  ~RunScope() { context_.is_running = false; }

 private:
  Context& context_;
};

class ProfilerBridge final : public Profiler {
 public:
  explicit ProfilerBridge(nb::object report) : report_(std::move(report)) {}
  void report_layer_time(const std::string& layer, double milliseconds) override {
    const Locked lock;
    report_(to_text(layer), milliseconds);
  }

 private:
  nb::object report_;
};

[[noreturn]] void refuse_feed(const Context& c, const nb::dict& feed) {
  std::string known;
  for (const IoTensor& t : c.engine->inputs()) known += (known.empty() ? "'" : ", '") + t.name + "'";
  for (auto [key, value] : feed) {
    const auto name = nb::cast<std::string>(nb::str(key));
    const IoTensor* t = c.engine->find_tensor(name);
    if (t == nullptr || !t->is_input)
      throw Error(ErrorCode::kNotFound, "the engine has no input '" + name + "'")
          .set_remedy("Its inputs are " + known + ".");
  }
  for (const IoTensor& t : c.engine->inputs())
    if (!feed.contains(to_text(t.name)))
      fail(ErrorCode::kInvalidArgument, "the input '{}' is not fed", t.name);
  fail(ErrorCode::kInternal, "the feed does not fit");
}

std::vector<Tensor> feed_tensors(Context& c, const nb::dict& feed) {
  const std::vector<IoTensor>& tensors = c.engine->io_tensors();
  const size_t count = c.input_names.size();
  if (feed.size() != count) refuse_feed(c, feed);
  std::vector<Tensor> inputs;
  inputs.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    PyObject* array = PyDict_GetItem(feed.ptr(), nb::object(c.input_names[i]).ptr());
    if (array == nullptr) refuse_feed(c, feed);
    inputs.push_back(to_tensor(array, "the input '" + tensors[i].name + "'", tensors[i].type.dtype));
  }
  return inputs;
}

/// The memory of an output that the caller gave; throws Error where it cannot be used.
Tensor target_of(nb::handle array, const std::string& name) {
  return to_memory(array, "the memory for the output '" + name + "'");
}

std::vector<Tensor> infer(Context& c, const std::vector<Tensor>& inputs) {
  const RunScope scope(c);
  for (;;) {
    const InterruptScope interrupts(c.context.get());
    std::optional<std::vector<Tensor>> outputs;
    try {
      outputs = without_lock([&] {
        const Running run(*c.context);
        return c.context->infer(inputs);
      });
    } catch (const Cancelled&) {
      // Ctrl-C; its handler may say that work goes on.
      if (!InterruptScope::interrupted()) throw;
    }
    if (InterruptScope::interrupted()) InterruptScope::check();
    if (outputs) return *std::move(outputs);
  }
}

void copy_out(const Tensor& t, const Tensor& target, const std::string& name) {
  if (t.dtype() != target.dtype() || !(t.shape() == target.shape()))
    fail(ErrorCode::kInvalidArgument, "the memory for the output '{}' is {}{}, but the output is {}{}", name,
         array_type_name(target.dtype()), target.shape().str(), array_type_name(t.dtype()), t.shape().str());
  if (t.nbytes() > 0) std::memcpy(const_cast<void*>(target.data()), t.data(), t.nbytes());
}

nb::dict run(Context& c, const nb::dict& feed, nb::handle out) {
  const std::vector<Tensor> inputs = feed_tensors(c, feed);
  std::vector<std::pair<size_t, Tensor>> targets;
  if (!out.is_none()) {
    const nb::dict given = nb::cast<nb::dict>(out);
    for (size_t i = 0; i < c.output_names.size(); ++i)
      if (given.contains(c.output_names[i]))
        targets.emplace_back(i,
                             target_of(given[c.output_names[i]], nb::cast<std::string>(c.output_names[i])));
    if (targets.size() != given.size())
      fail(ErrorCode::kNotFound, "'out' names tensors that are no outputs of the engine");
  }
  std::vector<Tensor> outputs = infer(c, inputs);
  nb::dict result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const nb::object name = c.output_names[i];
    const auto target =
        std::find_if(targets.begin(), targets.end(), [&](const auto& t) { return t.first == i; });
    if (target == targets.end()) {
      result[name] = to_array(outputs[i]);
      continue;
    }
    copy_out(outputs[i], target->second, nb::cast<std::string>(name));
    result[name] = nb::cast<nb::dict>(out)[name];
  }
  return result;
}

/// Memory by its address: of an array, or a number with its bytes.
void bind_memory(Context& c, const std::string& name, uintptr_t address, size_t bytes, nb::object owner) {
  const RunScope scope(c);
  const IoTensor* t = c.engine->find_tensor(name);
  if (t == nullptr) fail(ErrorCode::kNotFound, "the engine has no tensor '{}'", name);
  auto* memory = reinterpret_cast<void*>(address);
  if (t->is_input)
    c.context->set_input_address(name, memory, bytes);
  else
    c.context->set_tensor_address(name, memory, bytes);
  c.bound[to_text(name)] = std::move(owner);
}

void bind_array(Context& c, const std::string& name, nb::object array) {
  const IoTensor* t = c.engine->find_tensor(name);
  if (t == nullptr) fail(ErrorCode::kNotFound, "the engine has no tensor '{}'", name);
  if (!t->is_input) {
    const Tensor target = target_of(array, name);
    if (t->type.dtype != target.dtype())
      fail(ErrorCode::kInvalidArgument, "the output '{}' is {}, and its memory {}", name,
           array_type_name(t->type.dtype), array_type_name(target.dtype()));
    bind_memory(c, name, reinterpret_cast<uintptr_t>(target.data()), target.nbytes(), std::move(array));
    return;
  }
  const Tensor tensor = to_tensor(array, "the input '" + name + "'", t->type.dtype);
  if (t->type.dtype != tensor.dtype())
    fail(ErrorCode::kInvalidArgument, "the input '{}' is {}, and gets {}", name,
         array_type_name(t->type.dtype), array_type_name(tensor.dtype()));
  c.context->set_input_shape(name, tensor.shape());
  // A copy that was made is kept with the array.
  nb::object kept = nb::capsule(new Tensor(tensor), [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  bind_memory(c, name, reinterpret_cast<uintptr_t>(tensor.data()), tensor.nbytes(),
              nb::make_tuple(array, kept));
}

void execute(Context& c) {
  const RunScope scope(c);
  for (;;) {
    const InterruptScope interrupts(c.context.get());
    bool done = false;
    try {
      without_lock([&] {
        const Running run(*c.context);
        c.context->execute();
      });
      done = true;
    } catch (const Cancelled&) {
      if (!InterruptScope::interrupted()) throw;
    }
    if (InterruptScope::interrupted()) InterruptScope::check();
    if (done) return;
  }
}

void set_profiler(Context& c, nb::object report) {
  const RunScope scope(c);
  c.context->set_profiler(nullptr);
  c.profiler_bridge = nullptr;
  if (report.is_none()) return;
  c.profiler_bridge = std::make_unique<ProfilerBridge>(std::move(report));
  c.context->set_profiler(c.profiler_bridge.get());
}

void set_tap(Context& c, nb::object on_value) {
  const RunScope scope(c);
  if (on_value.is_none()) {
    c.context->set_tap({});
    return;
  }
  const std::shared_ptr<const void> kept = keep(on_value);
  const nb::handle call = on_value;
  c.context->set_tap([kept, call](const std::string& name, const Tensor& value) {
    const Locked lock;
    call(to_text(name), to_array(value));
  });
}

nb::object aligned_array(nb::handle shape, nb::handle dtype) {
  return to_array(Tensor::zeros(to_dtype(dtype), to_shape(shape, "the array")));
}

void bind_engine(nb::module_& m) {
  nb::class_<Engine>(m, "Engine")
      .def_prop_ro("name", [](const EngineRef& e) { return to_text(e->name()); })
      .def_prop_ro("inputs", [](const EngineRef& e) { return io_tensors(e->inputs()); })
      .def_prop_ro("outputs", [](const EngineRef& e) { return io_tensors(e->outputs()); })
      .def_prop_ro("profiles", &profiles)
      .def_prop_ro("is_refittable", [](const EngineRef& e) { return e->is_refittable(); })
      .def_prop_ro("lacks_weights", [](const EngineRef& e) { return e->lacks_weights(); })
      .def_prop_ro("device_memory_size", [](const EngineRef& e) { return e->device_memory_size(); })
      .def("create_context", [](const EngineRef& e) { return new Context(e); })
      .def("save",
           [](const EngineRef& e, nb::handle path) {
             const std::string file = to_path(path);
             without_lock([&] { e->save(file); });
           })
      .def("serialize", &serialize)
      .def("information", &engine_information, nb::arg("json") = true)
      .def("layers", &layer_information, nb::arg("json") = true)
      .def("text", [](const EngineRef& e, bool layers) {
        return to_text(engine_text(describe(*e, {.layers = layers})));
      });
}

void bind_context(nb::module_& m) {
  nb::class_<Context>(m, "Context")
      .def("run", &run, nb::arg("feed"), nb::arg("out") = nb::none())
      .def("bind", &bind_array, nb::arg("name"), nb::arg("array").none())
      .def("bind_address", &bind_memory, nb::arg("name"), nb::arg("address"), nb::arg("bytes"),
           nb::arg("owner") = nb::none())
      .def("execute", &execute)
      .def("cancel", [](Context& c) { c.context->cancel(); })
      .def("set_profile",
           [](Context& c, size_t index) {
             const RunScope scope(c);
             c.context->set_optimization_profile(index);
           })
      .def_prop_ro("profile", [](Context& c) { return c.context->optimization_profile(); })
      .def("set_input_shape",
           [](Context& c, const std::string& name, nb::handle shape) {
             const RunScope scope(c);
             c.context->set_input_shape(name, to_shape(shape, "the shape of '" + name + "'"));
           })
      .def("tensor_shape",
           [](Context& c, const std::string& name) -> nb::object {
             const RunScope scope(c);
             const std::optional<Shape> shape = c.context->tensor_shape(name);
             return shape ? nb::object(from_shape(*shape)) : nb::none();
           })
      .def_prop_ro("has_all_input_shapes", [](Context& c) { return c.context->all_input_shapes_specified(); })
      .def("set_profiler", &set_profiler, nb::arg("report").none())
      .def("set_tap", &set_tap, nb::arg("on_value").none())
      .def(
          "set_device_memory",
          [](Context& c, uintptr_t address, size_t bytes, nb::object owner) {
            const RunScope scope(c);
            c.context->set_device_memory(reinterpret_cast<void*>(address), bytes);
            c.bound["(device memory)"] = std::move(owner);
          },
          nb::arg("address"), nb::arg("bytes"), nb::arg("owner") = nb::none());
}

void bind_refitter(nb::module_& m) {
  nb::class_<Refitter>(m, "Refitter")
      .def("__init__", [](Refitter* self, const EngineRef& engine) { new (self) Refitter(engine); })
      .def("all_weights", &Refitter::all_weights)
      .def("missing_weights", &Refitter::missing_weights)
      .def("set_weights",
           [](Refitter& r, const std::string& name, nb::handle weights) {
             const Tensor t = to_tensor(weights, "the weights of '" + name + "'");
             // They outlive the array that they come from.
             Tensor own = t.dtype() == DType::kString ? t : Tensor::allocate(t.dtype(), t.shape());
             if (t.dtype() != DType::kString && t.nbytes() > 0)
               std::memcpy(own.mutable_data(), t.data(), t.nbytes());
             r.set_weights(name, own);
           })
      .def("refit", [](Refitter& r) { without_lock([&] { r.refit(); }); });
}

void bind_timing_cache(nb::module_& m) {
  nb::class_<TimingCache>(m, "TimingCache")
      .def("__init__",
           [](TimingCache* self, const RuntimeRef& runtime) {
             new (self) TimingCache(runtime->timing_environment());
           })
      .def("__len__", &TimingCache::size)
      .def_prop_ro("foreign_size", &TimingCache::foreign_size)
      .def("merge", &TimingCache::merge)
      .def("load", [](TimingCache& c, nb::handle path) { c.load(to_path(path)); })
      .def("save", [](const TimingCache& c, nb::handle path) { c.save(to_path(path)); })
      .def("read",
           [](TimingCache& c, nb::handle bytes) {
             c.read(std::string(borrow_bytes(bytes, "the timing cache").bytes), "the timing cache");
           })
      .def("to_bytes", [](const TimingCache& c) {
        const std::string text = c.str();
        return nb::bytes(text.data(), text.size());
      });
}

}  // namespace

Context::Context(std::shared_ptr<Engine> of)
    : engine(std::move(of)), context(engine->create_execution_context()) {
  for (const IoTensor& t : engine->io_tensors())
    (t.is_input ? input_names : output_names).append(to_text(t.name));
}

void bind_engines(nb::module_& m) {
  nb::class_<Runtime>(m, "Runtime")
      .def_prop_ro("threads", [](const RuntimeRef& r) { return r->threads(); })
      .def_prop_ro("environment", [](const RuntimeRef& r) { return to_text(r->environment()); })
      .def("load",
           [](const RuntimeRef& r, nb::handle path) {
             const std::string file = to_path(path);
             return without_lock([&] { return r->load_engine(file); });
           })
      .def("deserialize", &deserialize)
      .def("build", &build, nb::arg("model"), nb::arg("settings"), nb::arg("progress").none());
  m.def("runtime", &make_runtime, nb::arg("threads") = 0);
  bind_engine(m);
  bind_context(m);
  bind_refitter(m);
  bind_timing_cache(m);
  m.def("zeros", &aligned_array, nb::arg("shape"), nb::arg("dtype"));
}

}  // namespace assay::python
