"""Tensors of PyTorch, in and out without a copy."""

import unittest

import numpy as np

import assay
import small_models as small
from engine_support import X, built

try:
    import torch
except ImportError as error:
    torch = None
    REASON = str(error)
else:
    REASON = ""


@unittest.skipIf(torch is None, REASON)
class Torch(unittest.TestCase):
    def setUp(self):
        self.engine = built(small.product(2, 16))
        self.context = self.engine.create_context()
        self.x = torch.arange(32, dtype=torch.float32).reshape(2, 16) / 32
        self.wanted = self.engine(x=self.x.numpy())["y"]

    def test_in_and_out(self):
        y = self.context.run({"x": self.x})["y"]
        np.testing.assert_array_equal(y, self.wanted)
        self.assertEqual(torch.from_dlpack(y).data_ptr(), y.ctypes.data)
        out = torch.zeros(2, 16)
        self.assertIs(self.context.run({"x": self.x}, out={"y": out})["y"], out)
        np.testing.assert_array_equal(out.numpy(), self.wanted)

    def test_memory_is_used_where_it_lies(self):
        out = torch.from_numpy(assay.zeros((2, 16)))
        self.context.bind("x", self.x)
        self.context.bind("y", out)
        self.context.execute()
        np.testing.assert_array_equal(out.numpy(), self.wanted)
        self.x.mul_(-1)
        self.context.execute()
        np.testing.assert_array_equal(out.numpy(), self.engine(x=self.x.numpy())["y"])

    def test_types(self):
        for dtype in ("bfloat16", "float16", "float64", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64"):
            engine = built(small.identity(dtype, (2, 3)))
            x = torch.from_numpy(X).to(getattr(torch, dtype))
            out = torch.zeros_like(x)
            if dtype != "bool":  # which older releases do not exchange
                engine.create_context().run({"x": x}, out={"y": out})
                self.assertTrue(torch.equal(out, x), dtype)
            y = engine(x=x)["y"]
            self.assertEqual(y.dtype.itemsize, x.element_size())
            np.testing.assert_array_equal(np.asarray(y).astype(np.complex64), x.to(torch.complex64).numpy(), err_msg=dtype)

    def test_views(self):
        np.testing.assert_array_equal(built(small.identity())(x=torch.from_numpy(X.T.copy()).T)["y"], X)
        with self.assertRaisesRegex(assay.InvalidArgument, "row-major"):
            self.context.run({"x": self.x}, out={"y": torch.zeros(16, 2).T})
        with self.assertRaises(assay.InvalidArgument):
            self.context.run({"x": self.x}, out={"y": torch.zeros(2, 16, dtype=torch.float64)})

    def test_results_outlive_what_made_them(self):
        y = torch.from_dlpack(built(small.identity())(x=torch.from_numpy(X))["y"])
        np.testing.assert_array_equal(y.numpy(), X)


if __name__ == "__main__":
    unittest.main()
