"""Networks exported by PyTorch, where ASSAY_TORCH names an environment with it (tools/requirements-export.txt): small ones, by both
exporters. Run in that environment it writes them: exported.py FOLDER."""
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve()
_found = None


def networks(show=print):
    """name -> model."""
    global _found
    if _found is None:
        import elsewhere
        _found = {}
        python = elsewhere.python_of("ASSAY_TORCH")
        if python is None:
            show("skipped in part: ASSAY_TORCH names no environment with PyTorch to export networks with")
            return _found
        import onnx
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([python, HERE, folder], capture_output=True, text=True, timeout=900)
            if done.returncode:
                raise RuntimeError(done.stderr[-2000:])
            for path in sorted(Path(folder).glob("*.onnx")):
                _found[f"exported_{path.stem}"] = named(onnx.load(path))
        show(f"exported by PyTorch: {', '.join(_found)}")
    return _found


def named(model):
    """Faults find nodes by their names, so each needs one of its own."""
    seen = set()
    for i, node in enumerate(model.graph.node):
        if not node.name or node.name in seen:
            node.name = f"node_{i}"
        seen.add(node.name)
    del model.graph.value_info[:]
    return model


def modules(torch):
    """name -> (module, inputs)"""
    nn, f = torch.nn, torch.nn.functional

    class Block(nn.Module):
        """A decoder's layer: rotary positions, shared keys, a causal mask, a gate."""

        def __init__(self, size=64, heads=4, shared=2):
            super().__init__()
            self.heads, self.shared, self.each = heads, shared, size // heads
            self.q, self.k, self.v = nn.Linear(size, size), nn.Linear(size, shared * self.each), nn.Linear(size, shared * self.each)
            self.o, self.gate, self.up, self.down = nn.Linear(size, size), nn.Linear(size, 96), nn.Linear(size, 96), nn.Linear(96, size)
            self.scale = nn.Parameter(torch.rand(size) + 0.5)

        def turned(self, x):
            half = self.each // 2
            steps = torch.arange(x.shape[2], dtype=torch.float32)[:, None] * 10000.0 ** (-torch.arange(half) / half)
            steps = torch.cat([steps, steps], -1)
            return x * steps.cos() + torch.cat([-x[..., half:], x[..., :half]], -1) * steps.sin()

        def norm(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.scale

        def forward(self, x):
            split = lambda t, n: t.view(1, -1, n, self.each).transpose(1, 2)  # noqa: E731
            y = self.norm(x)
            q, k, v = self.turned(split(self.q(y), self.heads)), self.turned(split(self.k(y), self.shared)), split(self.v(y), self.shared)
            k, v = (t.repeat_interleave(self.heads // self.shared, 1) for t in (k, v))
            y = f.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(1, -1, 64)
            x = x + self.o(y)
            return x + self.down(f.silu(self.gate(self.norm(x))) * self.up(self.norm(x)))

    class Detector(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.SiLU())
            self.side, self.head = nn.Conv2d(16, 8, 1), nn.Conv2d(24, 6, 3, padding=1)

        def forward(self, x):
            y = self.stem(x)
            up = f.interpolate(self.side(y), scale_factor=2, mode="nearest")
            down = f.interpolate(y, size=up.shape[2:], mode="bilinear", align_corners=False)
            out = self.head(torch.cat([up, down], 1))
            box, cls = out[:, :4].flatten(2).softmax(1), out[:, 4:].sigmoid().flatten(2)
            best, at = cls.amax(1).topk(8)
            return box.gather(2, at[:, None].expand(-1, 4, -1)), best

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.lstm, self.out = nn.Embedding(40, 24), nn.LSTM(24, 16, bidirectional=True, batch_first=True), nn.Linear(32, 9)

        def forward(self, ids):
            return self.out(self.lstm(self.table(ids))[0]).log_softmax(-1)

    encoder = nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True, norm_first=True)
    mobile = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.Hardswish(), nn.Conv2d(16, 16, 3, 1, 1, groups=16), nn.BatchNorm2d(16), nn.ReLU6(),
                           nn.Conv2d(16, 24, 1), nn.GroupNorm(4, 24), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))
    painter = nn.Sequential(nn.ConvTranspose2d(8, 16, 4, 2, 1), nn.InstanceNorm2d(16, affine=True), nn.LeakyReLU(0.2), nn.PixelShuffle(2), nn.Conv2d(4, 3, 3, padding=1), nn.Tanh())
    return {"decoder": (Block(), torch.randn(1, 12, 64)), "detector": (Detector(), torch.rand(1, 3, 32, 32)), "tagger": (Tagger(), torch.randint(1, 40, (2, 12))),
            "encoder": (encoder, torch.randn(1, 10, 32)), "mobile": (mobile, torch.rand(1, 3, 32, 32)), "painter": (painter, torch.randn(1, 8, 6, 6))}


def write(folder):
    import logging
    import warnings
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    import torch
    torch.manual_seed(45)
    for name, (module, example) in modules(torch).items():
        module = module.eval()
        for layer in module.modules():
            if isinstance(layer, torch.nn.BatchNorm2d):
                layer.running_mean.normal_(0, 0.2)
                layer.running_var.uniform_(0.5, 1.5)
        if name != "encoder":  # the older exporter does not take its attention
            torch.onnx.export(module, (example,), str(Path(folder) / f"{name}.onnx"), dynamo=False, opset_version=17, do_constant_folding=False,
                              input_names=["x" if example.is_floating_point() else "ids"])
        if name in ("decoder", "encoder", "detector"):
            torch.onnx.export(module, (example,), str(Path(folder) / f"{name}_dynamo.onnx"), dynamo=True, external_data=False, verbose=False,
                              input_names=["x" if example.is_floating_point() else "ids"])


if __name__ == "__main__":
    write(sys.argv[1])
