// The program that data_check.py runs: the data layer, from files to files.

#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "run/results.h"
#include "tensor/convert.h"
#include "tensor/narrow_float.h"
#include "tensor/npy.h"
#include "tensor/npz.h"
#include "tensor/print.h"
#include "tensor/random.h"

namespace assay {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), ErrorCode::kNotFound, "cannot read {}", path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

DType dtype(const std::string& name) {
  const std::optional<DType> found = dtype_from_name(name);
  require(found.has_value(), ErrorCode::kInvalidArgument, "unknown type {}", name);
  return *found;
}

/// Lines `FROM TO SATURATE ROUNDING COUNT IN OUT`: raw elements; strings one per line.
void convert_lines(std::istream& lines) {
  std::string from, to, in, out;
  bool saturate = false;
  int rounding = 0;
  int64_t count = 0;
  while (lines >> from >> to >> saturate >> rounding >> count >> in >> out) {
    const std::string bytes = read_all(in);
    const Tensor t = Tensor::view(dtype(from), Shape{count}, bytes.data(), nullptr);
    require(t.nbytes() == bytes.size(), ErrorCode::kInvalidArgument, "{} holds {} bytes", in, bytes.size());
    const Tensor result = dtype(to) == DType::kFloat8E8M0
                              ? convert_to_e8m0(t, saturate, static_cast<E8M0Rounding>(rounding))
                              : convert(t, dtype(to), saturate);
    AtomicFile file(out);
    if (result.dtype() == DType::kString)
      for (const std::string& s : result.span<std::string>()) file.write(s + "\n");
    else
      file.write(result.data(), result.nbytes());
    file.commit();
  }
}

Tensor draw(RandomState& random, const std::string& what, int64_t count, const std::string& a,
            const std::string& b) {
  const Shape shape{count};
  if (what == "random_sample") return random.doubles(shape);
  if (what == "standard_normal") return random.standard_normal(shape);
  if (what == "uniform") return random.uniform(std::stod(a), std::stod(b), shape);
  if (what == "normal") return random.normal(std::stod(a), std::stod(b), shape);
  if (what == "uint64") return random.integers_u64(shape, std::stoull(a), std::stoull(b));
  return random.integers(dtype(what), shape, std::stoll(a), std::stoll(b));
}

/// Lines `SEED WHAT COUNT A B`, SEED `-` to go on with the same generator; the raw elements one after the
/// other.
void draw_lines(std::istream& lines, const std::string& out) {
  AtomicFile file(out);
  RandomState random(0);
  std::string seed, what, a, b;
  int64_t count = 0;
  while (lines >> seed >> what >> count >> a >> b) {
    if (seed != "-") random = RandomState(static_cast<uint32_t>(std::stoul(seed)));
    const Tensor t = draw(random, what, count, a, b);
    file.write(t.data(), t.nbytes());
  }
  file.commit();
}

/// Lines `IN.npy PRECISION THRESHOLD EDGEITEMS LINEWIDTH SUPPRESS`; the texts, each followed by a byte 1.
void print_lines(std::istream& lines, const std::string& out) {
  AtomicFile file(out);
  std::string in;
  PrintOptions o;
  while (lines >> in >> o.precision >> o.threshold >> o.edgeitems >> o.linewidth >> o.suppress)
    file.write(array_str(load_npy(in), o) + '\1');
  file.commit();
}

/// The most memory this process had at a time, in KiB.
std::string peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::to_string(std::stoul(line.substr(6)));
  return "0";
}

/// Lines `KIND IN OUT`: reads a file and writes what was read; prints the peak memory.
void copy_lines(std::istream& lines) {
  std::string kind, in, out;
  while (lines >> kind >> in >> out) {
    if (kind == "npy") save_npy(load_npy(in), out);
    if (kind == "npz") save_npz(NpzReader::open(in).load_all(), out);
    if (kind == "results") save_run_results(load_run_results(in), out);
    if (kind == "inputs") save_inputs(load_inputs(in), out);
  }
  fmt::print("{}\n", peak_memory());
}

int run(const std::string& command, const std::string& script, const std::string& out) {
  std::ifstream lines(script);
  if (command == "convert")
    convert_lines(lines);
  else if (command == "draw")
    draw_lines(lines, out);
  else if (command == "print")
    print_lines(lines, out);
  else if (command == "copy")
    copy_lines(lines);
  else
    return 2;
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    return assay::run(argv[1], argv[2], argc > 3 ? argv[3] : "");
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
