"""Tokens that language models generate."""

import unittest

import numpy as np
import small_models as small

import assay

VOCABULARY, WIDTH = 11, 8


def weights(seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((VOCABULARY, WIDTH)).astype(np.float32), random.standard_normal((WIDTH, VOCABULARY)).astype(np.float32)


def plain():
    """Logits of each token by itself."""
    table, head = weights()
    nodes = [small.node("Gather", ["table", "input_ids"], ["h"]), small.node("MatMul", ["h", "head"], ["logits"])]
    return small.model(
        nodes, [("input_ids", "int64", (1, "n"))], [("logits", "float32", (1, "n", VOCABULARY))],
        [small.initializer("table", table), small.initializer("head", head)],
    )  # fmt: skip


def cached(inputs=("input_ids", "past", "present")):
    """Logits of the mean of all tokens so far, which a cache holds."""
    tokens, past, present = inputs
    table, head = weights()
    nodes = [
        small.node("Gather", ["table", tokens], ["h"]),
        small.node("Unsqueeze", ["h", "first"], ["h4"]),
        small.node("Concat", [past, "h4"], [present], axis=2),
        small.node("ReduceMean", [present, "second"], ["m"], keepdims=0),
        small.node("Squeeze", ["m", "zero"], ["s"]),
        small.node("MatMul", ["s", "head"], ["logits"]),
    ]
    constants = {"table": table, "head": head, "first": np.array([1]), "second": np.array([2]), "zero": np.array([0])}
    return small.model(
        nodes, [(tokens, "int64", (1, "n")), (past, "float32", (1, 1, "p", WIDTH))],
        [("logits", "float32", (1, VOCABULARY)), (present, "float32", (1, 1, "q", WIDTH))],
        [small.initializer(k, v) for k, v in constants.items()],
    )  # fmt: skip


def expected(prompt, count, mean=False):
    table, head = weights()
    tokens = list(prompt)
    for _ in range(count):
        h = table[tokens].mean(0) if mean else table[tokens[-1]]
        tokens.append(int((h @ head).argmax()))
    return tokens[len(prompt):]


class Broken:
    """Prefers token 0."""

    def __init__(self, data):
        self.session = assay.Session(data, "reference")

    def infer(self, feed):
        logits = self.session.infer(feed)["logits"].copy()
        logits[..., 0] += 1000
        return {"logits": logits}


class Generating(unittest.TestCase):
    def test_tokens(self):
        made = assay.generate(plain(), [3, 1], max_tokens=6)
        self.assertEqual(made.tokens, [expected([3, 1], 6)])
        self.assertTrue(made)
        (sequence,) = made.runners[0].sequences
        self.assertEqual((sequence.prompt, len(sequence.seconds), sequence.ended), ([3, 1], 6, False))
        self.assertIn("6 token(s)", repr(made))
        self.assertIn("<table", made._repr_html_())

    def test_caches_and_several_prompts(self):
        made = assay.generate(cached(), [[3, 1], np.array([2])], ["engine", "reference"], max_tokens=5)
        self.assertEqual(made.tokens, [expected([3, 1], 5, mean=True), expected([2], 5, mean=True)])
        self.assertTrue(made)
        self.assertEqual(made.agreements[0].equal_tokens, 10)
        self.assertEqual(made.interface["caches"], [{"input": "past", "output": "present"}])

    def test_names_that_tell_nothing(self):
        data = cached(("a=b", "c:0", "d:0"))
        with self.assertRaisesRegex(assay.InvalidArgument, "no such input"):
            assay.generate(data, [1], max_tokens=1, interface={"tokens": "no such input"})
        made = assay.generate(data, [1], max_tokens=3, interface={"tokens": "a=b", "cache": {"c:0": "d:0"}})
        self.assertEqual(made.tokens, [expected([1], 3, mean=True)])
        with self.assertRaisesRegex(assay.InvalidArgument, "no role 'token'"):
            assay.generate(data, [1], interface={"token": "a=b"})
        with self.assertRaisesRegex(assay.InvalidArgument, "dict"):
            assay.generate(data, [1], interface={"cache": "c:0"})

    def test_each_token_as_it_comes(self):
        seen = []
        made = assay.generate(plain(), [[1], [2]], max_tokens=3, on_token=lambda *args: seen.append(args))
        self.assertEqual([(runner, prompt, token) for runner, prompt, token, _ in seen],
                         [("engine", p, t) for p, tokens in enumerate(made.tokens) for t in tokens])

        def stop(runner, prompt, token, seconds):
            seen.append(token)
            raise KeyError("enough")

        seen.clear()
        with self.assertRaisesRegex(KeyError, "enough"):
            assay.generate(plain(), [1], max_tokens=30, on_token=stop)
        self.assertEqual(len(seen), 1)

    def test_ends(self):
        tokens = expected([3], 8)
        made = assay.generate(plain(), [3], max_tokens=8, eos=tokens[1])
        self.assertEqual(made.tokens, [tokens[:2]])
        self.assertTrue(made.runners[0].sequences[0].ended)

    def test_drawn_tokens_are_those_of_the_seed(self):
        draw = lambda seed, runner="engine": assay.generate(plain(), [3], runner, max_tokens=20, temperature=3.0, seed=seed).tokens  # noqa: E731
        self.assertEqual(draw(1), draw(1, "reference"))
        self.assertNotEqual(draw(1), draw(2))
        self.assertEqual(assay.generate(plain(), [3], max_tokens=4, top_k=1).tokens, [expected([3], 4)])

    def test_who_is_wrong_where_runners_part(self):
        made = assay.generate(plain(), [3], ["engine", Broken(plain())], max_tokens=4)
        self.assertFalse(made)
        (parting,) = made.agreements[0].partings
        self.assertEqual((parting.step, parting.explanation), (0, "second wrong"))
        self.assertEqual([s.token for s in parting.sides], [expected([3], 1)[0], 0])
        self.assertGreater(parting.sides[1].error, 900)
        self.assertEqual(made.agreements[0].second, "Broken")
        unjudged = assay.generate(plain(), [3], ["engine", Broken(plain()).infer], max_tokens=4, judge=False)
        self.assertEqual(unjudged.agreements[0].partings[0].explanation, "not judged")

    def test_what_cannot_be(self):
        for kwargs, what in (
            ({"prompts": []}, "no token"), ({"prompts": [[1], []]}, "prompt 1 has no token"), ({"prompts": ["a"]}, "integers"),
            ({"prompts": [1, [2]]}, "integers"), ({"prompts": [99]}, "99"), ({"prompts": [1], "max_tokens": 0}, "1 or more"),
            ({"prompts": [1], "temperature": -1.0}, "temperature"), ({"prompts": [1], "runners": []}, "no backend"),
        ):  # fmt: skip
            with self.subTest(kwargs), self.assertRaisesRegex(assay.InvalidArgument, what):
                assay.generate(plain(), **kwargs)
        with self.assertRaises(assay.NotFound):
            assay.generate(plain(), [1], "no such backend")
        with self.assertRaisesRegex(assay.InvalidArgument, "no seed"):
            assay.generate(plain(), [1], temperature=1.0, seed=-1)


if __name__ == "__main__":
    unittest.main()
