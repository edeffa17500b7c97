#include "library.h"

#include <assay/extension.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ov {
namespace {

namespace ext = assay::ext;
namespace fs = std::filesystem;

constexpr const char* kVariable = "ASSAY_OPENVINO";
constexpr int kOldestYear = 2023;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<fs::path> sorted_children(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> list;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().filename().string().starts_with(prefix)) list.push_back(it->path());
  std::sort(list.rbegin(), list.rend());  // newest version first
  return list;
}

void add_libraries_in(const fs::path& folder, std::vector<std::string>& out) {
  for (const fs::path& p : sorted_children(folder, "libopenvino_c.so")) out.push_back(p.string());
}

/// The wheels in an environment's lib/python3.X/site-packages (Debian: dist-packages).
void add_python_environment(const fs::path& prefix, std::vector<std::string>& out) {
  for (const fs::path& python : sorted_children(prefix / "lib", "python3"))
    for (const char* packages : {"site-packages", "dist-packages"})
      add_libraries_in(python / packages / "openvino" / "libs", out);
}

/// The folders that a variable such as PATH lists; `has_others`: relative or empty ones were among them,
/// which mean the current folder and are left out.
std::vector<fs::path> absolute_folders(const char* variable, bool& has_others) {
  const std::string value = environment(variable);
  std::vector<fs::path> folders;
  has_others = false;
  for (size_t begin = 0; !value.empty() && begin <= value.size();) {
    const size_t end = std::min(value.find_first_of(":;", begin), value.size());
    if (value[begin] == '/')
      folders.emplace_back(value.substr(begin, end - begin));
    else
      has_others = true;
    begin = end + 1;
  }
  return folders;
}

void add_path_python(std::vector<std::string>& out) {
  bool ignored = false;
  for (const fs::path& folder : absolute_folders("PATH", ignored)) {
    std::error_code ec;
    const fs::path python = folder / "python3";
    if (!fs::exists(python, ec)) continue;
    add_python_environment(folder.parent_path(), out);
    const fs::path real = fs::canonical(python, ec);
    if (!ec) add_python_environment(real.parent_path().parent_path(), out);
    return;
  }
}

void add_library_path(std::vector<std::string>& out) {
  bool has_others = false;
  for (const fs::path& folder : absolute_folders("LD_LIBRARY_PATH", has_others))
    add_libraries_in(folder, out);
  for (const char* folder : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                             "/usr/lib64", "/usr/lib", "/opt/intel/openvino/runtime/lib/intel64"})
    add_libraries_in(folder, out);
  // By its bare name the system's loader would search the current folder, too, if it was told so.
  if (!has_others) out.emplace_back("libopenvino_c.so");
}

std::vector<std::string> expand(const std::string& named) {
  std::vector<std::string> out;
  std::error_code ec;
  if (!fs::is_directory(named, ec)) {
    // With a slash: never searched for.
    out.push_back(fs::absolute(named, ec).string());
    return out;
  }
  const fs::path folder = fs::absolute(named, ec);
  add_libraries_in(folder, out);
  for (const char* below : {"lib", "libs", "runtime/lib/intel64"}) add_libraries_in(folder / below, out);
  add_python_environment(folder, out);
  return out;
}

/// Why a file cannot be loaded, or nothing.
std::string not_a_file(const std::string& path) {
  if (path.find('/') == std::string::npos) return {};
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  if (!fs::exists(status)) return "there is no such file";
  return fs::is_regular_file(status) ? "" : "it is no regular file";  // the loader would wait for a pipe
}

}  // namespace

std::vector<std::string> candidates(const std::string& given) {
  if (!given.empty()) return expand(given);
  if (const std::string named = environment(kVariable); !named.empty()) return expand(named);
  std::vector<std::string> out;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = environment(variable);
    if (!prefix.starts_with('/')) continue;
    add_libraries_in(fs::path(prefix) / "lib", out);
    add_python_environment(prefix, out);
  }
  add_path_python(out);
  if (const std::string home = environment("HOME"); home.starts_with('/'))
    add_python_environment(fs::path(home) / ".local", out);
  add_python_environment("/usr/local", out);
  add_libraries_in("/usr/lib/python3/dist-packages/openvino/libs", out);
  add_library_path(out);
  return out;
}

Library::Library(const std::string& path) : path_(path) {
  if (const std::string reason = not_a_file(path); !reason.empty()) throw ext::Error(reason);
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    throw ext::Error(reason != nullptr ? reason : "it cannot be loaded");
  }
  find_functions(handle);
  read_version();
  measure_element_types();
  Core* core = nullptr;
  check(ov_core_create(&core), "it cannot be started");
  core_ = owned(core, ov_core_free);
}

void Library::find_functions(void* handle) {
#define ASSAY_OPENVINO_FIND(result, name, parameters)                                                        \
  name = reinterpret_cast<result(*) parameters>(::dlsym(handle, #name));                                     \
  if (name == nullptr)                                                                                       \
    throw ext::Error("it has no symbol " #name ", which OpenVINO has since " + std::to_string(kOldestYear) + \
                     ".0");
  ASSAY_OPENVINO_FUNCTIONS(ASSAY_OPENVINO_FIND)
#undef ASSAY_OPENVINO_FIND
  ov_core_read_model_from_memory_buffer =
      reinterpret_cast<ReadModelFromMemory>(::dlsym(handle, "ov_core_read_model_from_memory_buffer"));
}

void Library::read_version() {
  Version v{};
  check(ov_get_openvino_version(&v), "it does not tell its version");
  version_ = v.build_number != nullptr ? v.build_number : "";
  ov_version_free(&v);
  if (std::atoi(version_.c_str()) < kOldestYear)
    throw ext::Error("its version " + version_ + " is older than " + std::to_string(kOldestYear) + ".0");
}

/// OpenVINO renumbers its types when it adds or removes one; their order stays: boolean, bf16, f16, f32,
/// f64, i4, i8, i16, i32, i64, unsigned ones of less than a byte, u8, u16, u32, u64. The sizes tell where
/// they are.
void Library::measure_element_types() {
  constexpr int64_t kElements = 8;  // as many bytes as an element has bits
  constexpr ElementType kMax = 32;
  std::vector<size_t> bits;
  int64_t extent = kElements;
  for (ElementType type = 0; type < kMax; ++type) {
    Tensor* raw = nullptr;
    size_t bytes = 0;
    if (ov_tensor_create(type, Shape{1, &extent}, &raw) == 0) {
      const auto tensor = owned(raw, ov_tensor_free);
      if (ov_tensor_get_byte_size(raw, &bytes) != 0) bytes = 0;
    }
    bits.push_back(bytes);
  }
  // Up to the first type of a byte there is none with elements.
  const auto begin = std::find_if(bits.begin(), bits.end(), [](size_t b) { return b != 0; });
  const std::vector<size_t> first = {8, 16, 16, 32, 64, 4, 8, 16, 32, 64}, last = {8, 16, 32, 64};
  const auto rest = bits.end() - begin > static_cast<ptrdiff_t>(first.size())
                        ? begin + static_cast<ptrdiff_t>(first.size())
                        : bits.end();
  const auto unsigned_begin = std::find_if(rest, bits.end(), [](size_t b) { return b >= 8; });
  if (rest == bits.end() || !std::equal(first.begin(), first.end(), begin) ||
      bits.end() - unsigned_begin < static_cast<ptrdiff_t>(last.size()) ||
      !std::equal(last.begin(), last.end(), unsigned_begin))
    throw ext::Error("its element types are in an order that is not known (version " + version_ + ")");
  auto type = static_cast<ElementType>(begin - bits.begin());
  for (int32_t onnx : {+ext::kBool, +ext::kBFloat16, +ext::kFloat16, +ext::kFloat32, +ext::kFloat64, 0,
                       +ext::kInt8, +ext::kInt16, +ext::kInt32, +ext::kInt64}) {
    if (onnx != 0) types_[onnx] = type;
    ++type;
  }
  type = static_cast<ElementType>(unsigned_begin - bits.begin());
  for (int32_t onnx : {+ext::kUInt8, +ext::kUInt16, +ext::kUInt32, +ext::kUInt64}) types_[onnx] = type++;
}

void Library::check(Status status, const std::string& doing) const {
  if (status == 0) return;
  std::string message;
  if (const char* last = ov_get_last_err_msg(); last != nullptr) {
    message = last;
    ov_free(last);
  }
  if (message.empty())
    if (const char* info = ov_get_error_info(status); info != nullptr) message = info;
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  throw ext::Error(doing + ": OpenVINO says (code " + std::to_string(status) + "): " + message);
}

int32_t Library::onnx_type(ElementType type) const {
  for (const auto& [onnx, own] : types_)
    if (own == type) return onnx;
  return 0;
}

ElementType Library::element_type(int32_t onnx_type) const {
  const auto it = types_.find(onnx_type);
  if (it == types_.end())
    throw ext::Error("tensors of ONNX's type number " + std::to_string(onnx_type) +
                     " cannot be given to OpenVINO: it takes bool, integers of 8 to 64 bits, float16, "
                     "bfloat16, float and double. Run the model with --onnxrt.");
  return it->second;
}

std::shared_ptr<const Library> Libraries::load(const std::string& given) {
  const std::lock_guard lock(mutex_);
  if (const auto it = loaded_.find(given); it != loaded_.end()) return it->second;
  const std::string named = !given.empty() ? given : environment(kVariable);
  std::string tried;
  for (const std::string& path : candidates(given)) {
    try {
      return loaded_[given] = std::make_shared<const Library>(path);
    } catch (const ext::Error& e) {
      // The system's loader not finding a bare name is not news.
      if (path.find('/') != std::string::npos) tried += (tried.empty() ? "" : "; ") + path + ": " + e.what();
    }
  }
  loaded_.erase(given);
  const std::string what =
      named.empty() ? "OpenVINO was not found" : "there is no usable OpenVINO at " + named;
  throw ext::Error(
      what + (tried.empty() ? "" : " (tried " + tried + ")") +
      ". Install it: `python3 -m venv $HOME/openvino && $HOME/openvino/bin/pip install openvino && export " +
      kVariable +
      "=$HOME/openvino` (Debian and Ubuntu need the package python3-venv for it); or name another library, "
      "its folder or "
      "a Python environment with --openvino-library or " +
      kVariable + ".");
}

void Libraries::set_given(const std::string& path) {
  const std::lock_guard lock(mutex_);
  given_ = path;
}
std::string Libraries::given() const {
  const std::lock_guard lock(mutex_);
  return given_;
}

}  // namespace ov
