#include "plugin/expression.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

#include "assay/error.h"
#include "plugin/expression_term.h"

namespace assay {
namespace {

/// Maximum nesting of brackets and operators.
constexpr int kMaxDepth = 100;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Recursive descent; one function for each level of precedence, the loosest first.
class Parser {
 public:
  using Term = ExpressionTerm;

  explicit Parser(std::string_view text) : text_(text) {}

  Term parse() {
    Term t = expression();
    if (at_ < text_.size()) error(fmt::format("'{}' is not expected", text_[at_]));
    return t;
  }
  std::set<std::string> nodes, tensors;

 private:
  [[noreturn]] void error(std::string_view what) const {
    fail(ErrorCode::kInvalidArgument, "{} at character {}", what, at_ + 1);
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  /// Consumes the operator if it is next.
  bool take(std::string_view sign) {
    if (!text_.substr(at_).starts_with(sign)) return false;
    const bool is_word = is_name_start(sign[0]);
    if (is_word && at_ + sign.size() < text_.size() && is_name_part(text_[at_ + sign.size()])) return false;
    at_ += sign.size();
    skip_blanks();
    return true;
  }
  void expect(std::string_view sign) {
    if (!take(sign)) error(fmt::format("'{}' is expected", sign));
  }
  /// The operator of these that is next; empty if none is.
  std::string_view take_any(std::initializer_list<std::string_view> signs) {
    for (const std::string_view sign : signs)
      if (take(sign)) return sign;
    return {};
  }

  static Term binary(std::string_view sign, Term left, Term right) {
    Term t{.kind = Term::Kind::kBinary, .name = std::string(sign)};
    t.operands.push_back(std::move(left));
    t.operands.push_back(std::move(right));
    return t;
  }
  static Term unary(std::string_view sign, Term operand) {
    Term t{.kind = Term::Kind::kUnary, .name = std::string(sign)};
    t.operands.push_back(std::move(operand));
    return t;
  }

  /// Tracks the depth of the parser, and of the tree on the left.
  struct Level {
    explicit Level(Parser& p) : parser(p) {
      if (++parser.depth_ > kMaxDepth) parser.error(fmt::format("it nests deeper than {}", kMaxDepth));
    }
    ~Level() { --parser.depth_; }
    Parser& parser;
  };

  Term expression() {
    const Level level(*this);
    skip_blanks();
    return chain({"or"}, [this] { return conjunction(); });
  }
  Term conjunction() {
    return chain({"and"}, [this] { return negation(); });
  }
  Term negation() {
    const Level level(*this);
    if (take("not")) return unary("not", negation());
    return comparison();
  }
  Term comparison() {
    Term left = sum();
    const std::string_view sign = take_any({"==", "!=", "<=", ">=", "<", ">", "in"});
    return sign.empty() ? left : binary(sign, std::move(left), sum());
  }
  Term sum() {
    return chain({"+", "-"}, [this] { return product(); });
  }
  Term product() {
    return chain({"*", "//", "/", "%"}, [this] { return factor(); });
  }
  Term factor() {
    const Level level(*this);
    if (take("-")) return unary("-", factor());
    return postfix();
  }

  /// operand operator operand operator ..., left-associative.
  template <typename Operand>
  Term chain(std::initializer_list<std::string_view> signs, Operand operand) {
    Term left = operand();
    for (int count = 0;; ++count) {
      const std::string_view sign = take_any(signs);
      if (sign.empty()) return left;
      if (count > kMaxDepth) error(fmt::format("more than {} operators stand in a row", kMaxDepth));
      left = binary(sign, std::move(left), operand());
    }
  }

  Term postfix() {
    Term t = primary();
    for (int count = 0; take("["); ++count) {
      if (count > kMaxDepth) error(fmt::format("more than {} indices stand in a row", kMaxDepth));
      Term index{.kind = Term::Kind::kIndex};
      index.operands.push_back(std::move(t));
      index.operands.push_back(expression());
      expect("]");
      t = std::move(index);
    }
    return t;
  }

  Term primary() {
    if (at_ >= text_.size()) error("a value is expected");
    const char c = text_[at_];
    if (take("(")) {
      Term t = expression();
      expect(")");
      return t;
    }
    if (take("[")) return {.kind = Term::Kind::kList, .operands = values("]")};
    if (c == '\'' || c == '"') return text_literal(c);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    if (is_name_start(c)) return named();
    error(fmt::format("'{}' is not expected", c));
  }

  std::vector<Term> values(std::string_view end) {
    std::vector<Term> list;
    if (take(end)) return list;
    do list.push_back(expression());
    while (take(","));
    expect(end);
    return list;
  }

  Term text_literal(char quote) {
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) error("the text that begins has no end");
    Term t{.value = ExpressionValue(std::string(text_.substr(at_ + 1, end - at_ - 1)))};
    at_ = end + 1;
    skip_blanks();
    return t;
  }

  Term number() {
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
    int64_t integer = 0;
    double real = 0;
    const auto as_integer = std::from_chars(begin, end, integer);
    const auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc() || (as_real.ptr == as_integer.ptr && as_integer.ec != std::errc()))
      error("the number is out of range, or none");
    Term t;
    if (as_real.ptr == as_integer.ptr)
      t.value = ExpressionValue(integer);
    else
      t.value = ExpressionValue(real);
    at_ += static_cast<size_t>(as_real.ptr - begin);
    if (at_ < text_.size() && is_name_part(text_[at_])) error("a number ends in a letter");
    skip_blanks();
    return t;
  }

  std::string name() {
    if (at_ >= text_.size() || !is_name_start(text_[at_])) error("a name is expected");
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    std::string out(text_.substr(begin, at_ - begin));
    skip_blanks();
    return out;
  }

  Term attribute() {
    Term t{.kind = Term::Kind::kAttribute, .name = name()};
    expect(".");
    t.member = name();
    nodes.insert(t.name);
    return t;
  }

  Term named() {
    const size_t begin = at_;
    const std::string word = name();
    if (word == "true" || word == "false") return {.value = ExpressionValue(word == "true")};
    if (take("(")) return call(word);
    if (at_ < text_.size() && text_[at_] == '.') {
      at_ = begin;
      return attribute();
    }
    error(fmt::format("'{}' alone says nothing: write {}.ATTRIBUTE for a node, or shape({}) for a tensor;",
                      word, word, word));
  }

  Term call(const std::string& word) {
    const FunctionDef* f = find_function(word);
    if (f == nullptr) error(fmt::format("there is no function '{}';", word));
    Term t{.kind = Term::Kind::kCall, .name = word};
    switch (f->arguments) {
      case ArgumentKind::kTensor:
        t.operands.push_back({.kind = Term::Kind::kTensor, .name = name()});
        tensors.insert(t.operands[0].name);
        expect(")");
        break;
      case ArgumentKind::kAttribute:
        t.operands.push_back(attribute());
        expect(")");
        break;
      case ArgumentKind::kValues:
        t.operands = values(")");
        break;
    }
    return t;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

/// Runs the body; adds the expression to its Errors.
template <typename Body>
auto in_expression(const std::string& text, Body body) {
  return with_context([&] { return fmt::format("in the expression `{}`", text); }, body);
}

}  // namespace

std::string_view ExpressionValue::kind() const {
  constexpr std::string_view kKinds[] = {"an unknown extent", "a truth value", "an integer",
                                         "a number",          "text",          "a list"};
  return kKinds[data_.index()];
}

Expression::Expression(std::string text) : text_(std::move(text)) {
  in_expression(text_, [&] {
    Parser parser(text_);
    root_ = std::make_shared<ExpressionTerm>(parser.parse());
    nodes_ = std::move(parser.nodes);
    tensors_ = std::move(parser.tensors);
  });
}

ExpressionValue Expression::evaluate(const ExpressionScope& scope) const {
  return in_expression(text_, [&] { return evaluate_term(*root_, scope); });
}

bool Expression::holds(const ExpressionScope& scope) const {
  const ExpressionValue v = evaluate(scope);
  const bool* truth = v.get_if<bool>();
  if (truth == nullptr)
    in_expression(text_, [&] {
      fail(ErrorCode::kInvalidArgument, "it gives {} where true or false is needed", v.kind());
    });
  return *truth;
}

}  // namespace assay
