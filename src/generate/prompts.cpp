#include "generate/prompts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "assay/tensor.h"
#include "base/atomic_file.h"
#include "base/foreign_file.h"
#include "base/mapped_file.h"
#include "base/visible_text.h"
#include "tensor/npy.h"

namespace assay::generate {
namespace {

bool is_numpy(const std::string& path) { return path.ends_with(".npy"); }

std::vector<Tokens> sequences_in(const Tensor& t, const std::string& path) {
  require(is_integer(t.dtype()) && (t.rank() == 1 || t.rank() == 2), ErrorCode::kInvalidArgument,
          "{} holds {}{}, not integers of one or two dimensions", path, dtype_name(t.dtype()),
          t.shape().str());
  const std::vector<int64_t> all = t.to_int64();
  const int64_t rows = t.rank() == 2 ? t.dim(0) : 1, length = t.dim(static_cast<size_t>(t.rank()) - 1);
  std::vector<Tokens> sequences;
  for (int64_t r = 0; r < rows; ++r) {
    const auto first = all.begin() + r * length;
    const auto end = std::find_if(first, first + length, [](int64_t token) { return token < 0; });
    require(std::all_of(end, first + length, [](int64_t token) { return token < 0; }),
            ErrorCode::kInvalidArgument, "row {} of {} has a token behind the negative number that ends it",
            r, path);
    sequences.emplace_back(first, end);
  }
  return sequences;
}

std::vector<Tokens> sequences_in(std::string_view text, const std::string& path) {
  std::vector<Tokens> sequences;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line(text.substr(at, end - at));
    at = end + 1;
    ++number;
    line.resize(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r,") == std::string::npos) continue;
    sequences.push_back(parse_tokens(line, fmt::format("line {} of {}", number, path)));
  }
  return sequences;
}

Tensor as_tensor(const std::vector<Tokens>& sequences) {
  size_t longest = 0;
  for (const Tokens& s : sequences) longest = std::max(longest, s.size());
  Tensor t = Tensor::allocate(DType::kInt64,
                              Shape{static_cast<int64_t>(sequences.size()), static_cast<int64_t>(longest)});
  int64_t* out = t.mutable_data<int64_t>();
  for (const Tokens& s : sequences) {
    std::copy(s.begin(), s.end(), out);
    std::fill(out + s.size(), out + longest, int64_t{-1});
    out += longest;
  }
  return t;
}

}  // namespace

void check_prompts(const std::vector<Tokens>& prompts, int64_t max_tokens) {
  require(!prompts.empty(), ErrorCode::kInvalidArgument, "there is no prompt");
  require(max_tokens > 0, ErrorCode::kInvalidArgument, "{} tokens are none to generate: give 1 or more",
          max_tokens);
  for (size_t p = 0; p < prompts.size(); ++p)
    require(!prompts[p].empty(), ErrorCode::kInvalidArgument,
            "prompt {} has no token: what follows nothing cannot be generated, so give at least one, such as "
            "the one that begins a text",
            p);
}

Tokens parse_tokens(const std::string& text, const std::string& what) {
  Tokens tokens;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    if (*at == ' ' || *at == '\t' || *at == '\r' || *at == ',') {
      ++at;
      continue;
    }
    int64_t token = 0;
    const auto [rest, problem] = std::from_chars(at, end, token);
    const bool ends = rest == end || *rest == ' ' || *rest == '\t' || *rest == '\r' || *rest == ',';
    if (problem != std::errc() || !ends) {
      const char* stop =
          std::find_if(at, end, [](char c) { return c == ' ' || c == ',' || c == '\t' || c == '\r'; });
      fail(ErrorCode::kInvalidArgument, "{}: '{}' is not the number of a token", what,
           visible_text({at, std::min<size_t>(static_cast<size_t>(stop - at), 40)}, Lines::kOne));
    }
    tokens.push_back(token);
    at = rest;
  }
  return tokens;
}

std::vector<Tokens> load_token_file(const std::string& path) {
  std::vector<Tokens> sequences;
  if (is_numpy(path)) {
    sequences = sequences_in(load_npy(path), path);
  } else {
    const auto file = MappedFile::open(path);
    refuse_stand_in(file->bytes(), path);
    sequences = sequences_in(file->bytes(), path);
  }
  require(!sequences.empty(), ErrorCode::kInvalidArgument, "{} holds no tokens", path);
  return sequences;
}

void save_token_file(const std::vector<Tokens>& sequences, const std::string& path) {
  if (is_numpy(path)) {
    save_npy(as_tensor(sequences), path);
    return;
  }
  AtomicFile file(path);
  for (const Tokens& s : sequences) file.write(fmt::format("{}\n", fmt::join(s, " ")));
  file.commit();
}

}  // namespace assay::generate
