#include "base/temporary_name.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <random>

#include "base/descriptor.h"

namespace assay {
namespace {

constexpr std::string_view kStart = "assay-";

std::string_view suffix(TemporaryKind kind) { return kind == TemporaryKind::kData ? ".data" : ".tmp"; }

/// FNV-1a.
uint64_t sum_of(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char ch : text) hash = (hash ^ static_cast<unsigned char>(ch)) * 0x100000001B3;
  return hash;
}
uint32_t short_sum_of(std::string_view text) {
  const uint64_t sum = sum_of(text);
  return static_cast<uint32_t>(sum ^ sum >> 32);
}

/// Identifies the boot of the machine, the same in all containers; 0 if unknown.
uint32_t boot_number() {
  static const uint32_t number = [] {
    const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    std::array<char, 64> text{};
    const ssize_t n = file ? ::read(file.get(), text.data(), text.size()) : 0;
    return n > 0 ? short_sum_of({text.data(), static_cast<size_t>(n)}) : 0;
  }();
  return number;
}

std::string text_of(const TemporaryName& p) {
  std::string text = fmt::format("{}{:08x}-{:016x}-{:016x}-", kStart, p.boot, p.writer, p.destination);
  return text += fmt::format("{:08x}{}", short_sum_of(text), suffix(p.kind));
}

}  // namespace

uint64_t new_writer_id() {
  uint64_t id = 0;
  if (::getrandom(&id, sizeof id, 0) == static_cast<ssize_t>(sizeof id)) return id;
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

std::string temporary_name(TemporaryKind kind, uint64_t writer, std::string_view destination) {
  return text_of({boot_number(), writer, sum_of(destination), kind});
}

std::optional<TemporaryName> parse_temporary_name(std::string_view name) {
  // assay- 8 - 16 - 16 - 8 and a suffix
  constexpr size_t kBoot = kStart.size(), kWriter = kBoot + 9, kDestination = kWriter + 17,
                   kEnd = kDestination + 25;
  if (name.size() <= kEnd || !name.starts_with(kStart)) return std::nullopt;
  TemporaryName p;
  const auto number = [&](size_t at, size_t digits, auto& out) {
    std::from_chars(name.data() + at, name.data() + at + digits, out, 16);
  };
  number(kBoot, 8, p.boot);
  number(kWriter, 16, p.writer);
  number(kDestination, 16, p.destination);
  p.kind = name.substr(kEnd) == suffix(TemporaryKind::kData) ? TemporaryKind::kData : TemporaryKind::kFile;
  // Rejects text that does not round-trip.
  return text_of(p) == name ? std::optional(p) : std::nullopt;
}

bool TemporaryName::is_of_this_boot() const { return boot != 0 && boot == boot_number(); }

bool is_temporary_name(std::string_view name, TemporaryKind kind) {
  const auto parts = parse_temporary_name(name);
  return parts && parts->kind == kind;
}

bool is_temporary_name_of(std::string_view name, std::string_view destination) {
  const auto parts = parse_temporary_name(name);
  return parts && parts->destination == sum_of(destination);
}

}  // namespace assay
