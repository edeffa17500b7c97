#include "analysis/match.h"
#include "passes/lower_fused.h"

namespace assay::pass_lower_fused {
namespace {

/// What a RotaryEmbedding turns.
struct RotaryForm {
  Shape given;  ///< of the input: [batch, sequence, heads * size] or [batch, heads, sequence, size]
  bool by_sequence = false;
  bool looked_up = false;  ///< tables are [positions, half], else [batch, sequence, half]
  bool interleaved = false;
  int64_t batch = 0, sequence = 0, heads = 0, size = 0;
  int64_t half = 0;  ///< pairs of numbers of a head that are turned; the others stay

  int64_t rotated() const { return 2 * half; }
};

/// The input's side of it; nothing where it does not consist of heads.
std::optional<RotaryForm> heads_of(const Node& n) {
  const std::optional<Shape> x = shape_of(n.input(0));
  if (x->size() != 3 && x->size() != 4) return std::nullopt;
  RotaryForm r{.given = *x, .by_sequence = x->size() == 3};
  r.heads = r.by_sequence ? int_attribute(n, "num_heads", 0) : (*x)[1];
  if (r.heads <= 0 || (r.by_sequence && (*x)[2] % r.heads != 0)) return std::nullopt;
  r.batch = (*x)[0];
  r.sequence = (*x)[r.by_sequence ? 1 : 2];
  r.size = r.by_sequence ? (*x)[2] / r.heads : (*x)[3];
  return r;
}

/// Whether the node wants as many numbers of each head turned as the tables are for.
bool wants_turned(const Node& n, const RotaryForm& r) {
  const int64_t asked = int_attribute(n, "rotary_embedding_dim", 0);
  return r.rotated() <= r.size && r.rotated() == (asked != 0 ? asked : r.size);
}

/// Whether the tables have a row for each place, or there are positions that look it up.
bool has_rows_of_places(const Node& n, const RotaryInputs& inputs, const RotaryForm& r) {
  if (!r.looked_up) return shape_of(n.input(inputs.cosines)) == Shape{r.batch, r.sequence, r.half};
  const Value* positions = n.input(inputs.positions);
  return positions != nullptr && shape_of(positions) == Shape{r.batch, r.sequence};
}

std::optional<RotaryForm> rotary_form(const Node& n, const RotaryInputs& inputs) {
  const std::optional<Shape> table = shape_of(n.input(inputs.cosines));
  if (int_attribute(n, "is_packed_batching", 0) != 0) return std::nullopt;
  std::optional<RotaryForm> r = heads_of(n);
  if (!r || shape_of(n.input(inputs.sines)) != table || table->size() < 2) return std::nullopt;
  r->half = table->back();
  r->looked_up = table->size() == 2;
  r->interleaved = int_attribute(n, "interleaved", 0) != 0;
  return wants_turned(n, *r) && has_rows_of_places(n, inputs, *r) ? r : std::nullopt;
}

/// The rows of a table for all places, so that they broadcast to the heads.
Term rows_of_places(Writer& w, const RotaryForm& r, size_t table, const Term& places) {
  const Term rows = r.looked_up ? w.f.gather(w.in(table), places) : w.in(table);
  return w.f.reshape(
      rows, r.by_sequence ? Shape{r.batch, r.sequence, 1, r.half} : Shape{r.batch, 1, r.sequence, r.half});
}

/// The turned numbers in the order in which they were, to be put one behind the other.
std::vector<Term> in_order_of(const RotaryForm& r, Formula& f, const Term& first, const Term& second) {
  if (!r.interleaved) return {first, second};
  Shape pairs = first.shape;
  pairs.push_back(1);
  Shape flat = first.shape;
  flat[3] = r.rotated();
  return {f.reshape(f.concat({f.reshape(first, pairs), f.reshape(second, pairs)}, 4), flat)};
}

}  // namespace

std::optional<Patch> rotary(const Node& n, const PassContext& context, const RotaryInputs& inputs) {
  const std::optional<RotaryForm> form = rotary_form(n, inputs);
  if (!form) return std::nullopt;
  const RotaryForm& r = *form;
  Writer w(n, context);
  Formula& f = w.f;
  // [batch, sequence, heads, size] or [batch, heads, sequence, size].
  const Term x = r.by_sequence ? f.reshape(w.in(0), {r.batch, r.sequence, r.heads, r.size}) : w.in(0);
  const Term places = r.looked_up ? f.from_start(w.in(inputs.positions)) : Term{};
  const Term cosine = rows_of_places(w, r, inputs.cosines, places),
             sine = rows_of_places(w, r, inputs.sines, places);
  const Term a = r.interleaved ? f.slice(x, 3, 0, r.rotated(), 2) : f.slice(x, 3, 0, r.half);
  const Term b = r.interleaved ? f.slice(x, 3, 1, r.rotated(), 2) : f.slice(x, 3, r.half, r.rotated());
  // One by one: compilers do not agree on the order of a call's arguments.
  const Term a_cosine = f.binary("Mul", a, cosine), b_sine = f.binary("Mul", b, sine);
  const Term first = f.binary("Sub", a_cosine, b_sine);
  const Term a_sine = f.binary("Mul", a, sine), b_cosine = f.binary("Mul", b, cosine);
  const Term second = f.binary("Add", a_sine, b_cosine);
  std::vector<Term> parts = in_order_of(r, f, first, second);
  if (r.rotated() < r.size) parts.push_back(f.slice(x, 3, r.rotated(), r.size));
  const Term y = parts.size() == 1 ? parts[0] : f.concat(parts, 3);
  return w.done(f.reshape(y, r.given));
}

}  // namespace assay::pass_lower_fused
