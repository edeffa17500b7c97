#!/usr/bin/env python3
"""Checks the data layer against the `numpy`, `ml_dtypes` and `polygraphy` packages of the running Python environment.

Conversions between element types, NumPy's legacy random numbers, the text of arrays, .npy and .npz files, and result
and input files, both ways, with the memory that they take.

    cmake --build build --target data_tool
    tests/compat/data_check.py build/tests/data_tool [CHECK...]

Exit status 0 when everything agrees.
"""

import argparse
import base64
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
import zipfile

import ml_dtypes
import numpy as np

NARROW_FLOATS = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
}
BITS = {"float16": 16, "bfloat16": 16, "float4e2m1": 4, "float6e2m3": 6, "float6e3m2": 6}
NATIVE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


class Tool:
    """Runs data_tool on scripts in a folder of its own."""

    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), folder

    def file(self, name):
        return os.path.join(self.folder, name)

    def run(self, command, lines):
        """The bytes that the command wrote."""
        with open(self.file("script"), "w") as script:
            script.write("\n".join(lines) + "\n")
        subprocess.run([self.path, command, self.file("script"), self.file("out")], check=True)
        with open(self.file("out"), "rb") as out:
            return out.read()

    def copy(self, *copies):
        """Copies files, each (kind, source, target), by reading and writing them; returns the peak memory in MiB."""
        with open(self.file("script"), "w") as script:
            script.writelines(f"{kind} {source} {target}\n" for kind, source, target in copies)
        done = subprocess.run([self.path, "copy", self.file("script")], check=True, stdout=subprocess.PIPE)
        return int(done.stdout) >> 10

    def convert(self, array, source, target, saturate=False, rounding=0, count=None):
        array.tofile(self.file("in"))
        count = array.size if count is None else count
        line = f"{source} {target} {int(saturate)} {rounding} {count} {self.file('in')} {self.file('out')}"
        data = self.run("convert", [line])
        return data.decode().split("\n")[:-1] if target == "string" else np.frombuffer(data, np.uint8)


def same(what, got, want):
    """Arrays equal to the bit, NaNs alike; exits with the first difference otherwise."""
    if got.dtype.kind == "f":
        equal = (got == want) & (np.signbit(got) == np.signbit(want)) | np.isnan(got) & np.isnan(want)
    else:
        equal = got == want
    if not equal.all():
        at = np.nonzero(~equal)[0][0]
        sys.exit(f"{what}: element {at} is {got[at]!r}, expected {want[at]!r} ({(~equal).sum()} of {got.size} differ)")


def unpacked(data, bits, count):
    """The elements of a stream of bits, low bits first."""
    stream = np.unpackbits(data, bitorder="little")[:count * bits].reshape(count, bits)
    return np.packbits(stream, axis=1, bitorder="little").ravel()


def packed(codes, bits):
    return np.packbits(np.unpackbits(codes, bitorder="little").reshape(-1, 8)[:, :bits], bitorder="little")


def nearest(values, name, dtype):
    """The codes of long doubles in a format, found by searching all its numbers; no saturation."""
    bits = BITS.get(name, 8)
    codes = np.arange(1 << (bits - 1), dtype=np.uint16 if bits == 16 else np.uint8)
    numbers = codes.view(dtype).astype(np.float32).astype(np.longdouble)
    codes, numbers = codes[np.isfinite(numbers)].astype(np.int64), numbers[np.isfinite(numbers)]
    beyond = 2 * numbers[-1] - numbers[-2]
    steps = np.append(numbers, beyond)
    magnitude = np.abs(values)
    low = np.clip(np.searchsorted(steps, magnitude, side="right") - 1, 0, len(numbers) - 1)
    down, up = magnitude - steps[low], steps[low + 1] - magnitude
    index = np.where(magnitude >= beyond, len(numbers), low + ((down > up) | (down == up) & (low % 2 == 1)))
    over = index >= len(numbers)
    code = codes[np.minimum(index, len(numbers) - 1)]
    sign = np.where(np.signbit(values), 1 << (bits - 1), 0)
    if name.endswith("fnuz"):
        return np.where(over, 0x80, np.where(code == 0, 0, code | sign))
    return np.where(over, codes[-1] + (bits >= 8), code) | sign


def check_decoding(tool):
    for name, dtype in NARROW_FLOATS.items():
        bits = BITS.get(name, 8)
        codes = np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)
        stored = packed(codes, bits) if bits < 8 else codes
        got = tool.convert(stored, name, "float64", count=codes.size).view(np.float64)
        same(f"{name} to float64", got, codes.view(dtype).astype(np.float32).astype(np.float64))
    for name, dtype, bits in (("int4", np.int8, 4), ("uint4", np.uint8, 4), ("int2", np.int8, 2), ("uint2", np.uint8, 2)):
        data = np.arange(256, dtype=np.uint8)
        count = 256 * 8 // bits
        want = unpacked(data, bits, count).view(getattr(ml_dtypes, name)).astype(dtype)
        same(name, tool.convert(data, name, np.dtype(dtype).name, count=count).view(dtype), want)


def check_encoding(tool):
    rng = np.random.default_rng(0)
    high = np.arange(65536, dtype=np.uint32) << 16
    lows = (0, 1, 0xFFF, 0x1000, 0x1001, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF)
    singles = np.concatenate([high | low for low in lows]).view(np.float32)
    singles = singles[~np.isnan(singles)]
    powers = 1 << rng.integers(9, 62, 100000)
    integers = np.concatenate([rng.integers(-(2**63), 2**63 - 1, 100000), powers + rng.integers(-3, 4, powers.size),
                               powers + (powers >> 9) + rng.integers(-2, 3, powers.size)])
    for name, dtype in NARROW_FLOATS.items():
        bits = BITS.get(name, 8)
        codes = np.arange(1 << (bits - 1), dtype=np.uint16 if bits == 16 else np.uint8)
        numbers = codes.view(dtype).astype(np.float32).astype(np.float64)
        numbers = numbers[np.isfinite(numbers)]
        middles = np.concatenate([numbers, (numbers[:-1] + numbers[1:]) / 2, 1.5 * numbers[-1:]])
        doubles = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf), -middles])
        for values, source in ((singles, "float32"), (doubles, "float64"), (integers, "int64")):
            got = tool.convert(values, source, name)
            got = got.view(np.uint16) if bits == 16 else unpacked(got, bits, values.size) if bits < 8 else got
            same(f"{source} to {name}", got.astype(np.int64), nearest(values.astype(np.longdouble), name, dtype))


def check_e8m0(tool):
    from onnx.numpy_helper import to_float8e8m0

    values = (np.arange(0x00800000, 0x7F800000, 4099, dtype=np.uint32)).view(np.float32)
    for rounding, mode in enumerate(("up", "down", "nearest")):
        got = tool.convert(values, "float32", "float8e8m0", saturate=True, rounding=rounding)
        same(f"float8e8m0 {mode}", got, to_float8e8m0(values, True, mode).view(np.uint8))


def check_native(tool):
    rng = np.random.default_rng(1)
    for source in NATIVE:
        a = np.dtype(source)
        if a.kind in "iu":
            values = rng.integers(np.iinfo(a).min, np.iinfo(a).max, 5000, dtype=a, endpoint=True)
        else:
            values = (rng.standard_normal(5000) * 10.0 ** rng.integers(-3, 4, 5000)).astype(a)
        for target in NATIVE + ["bool"]:
            b = np.dtype(target)
            x = np.abs(values) if a.kind == "f" and b.kind == "u" else values
            want = x.astype(np.int64).astype(b) if a.kind == "f" and b.kind in "iu" else x.astype(b)
            same(f"{source} to {target}", tool.convert(x, source, target).view(b), want)


def check_strings(tool):
    rng = np.random.default_rng(2)
    cases = {
        "float16": np.arange(65536, dtype=np.uint16).view(np.float16),
        "float32": rng.integers(0, 2**32, 200000, dtype=np.uint32).view(np.float32),
        "float64": rng.integers(0, 2**64, 200000, dtype=np.uint64).view(np.float64),
    }
    for name, values in cases.items():
        values = np.concatenate([values, np.round(rng.standard_normal(20000), 3).astype(values.dtype),
                                 (10.0 ** rng.uniform(-6, 4, 20000)).astype(values.dtype)])
        same(f"{name} to string", np.array(tool.convert(values, name, "string")), np.array([str(v) for v in values]))


def random_range(dtype):
    if dtype == "bool":
        return random.choice([(0, 1), (0, 0), (1, 1)])
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    low = random.randint(least, most)
    return random.choice([
        (least, most),
        tuple(sorted((low, random.randint(least, most)))),
        (low, min(most, low + random.choice([0, 1, 9, 100, 255, 256, 65535, 2**32 - 2, 2**32 - 1, 2**32]))),
    ])


def check_random(tool):
    random.seed(3)
    integers = NATIVE[:-2] + ["bool"]
    script, want, state = [], [], None
    for i in range(4000):
        seed = random.choice(["-", 0, 1, 2**32 - 1, random.randrange(2**32)]) if i else 1
        what = random.choice(["random_sample", "uniform", "standard_normal", "normal"] + 2 * integers)
        count = random.choice([0, 1, 2, 3, 7, 100, 623, 624, 625, 1247, 2000])
        state = state if seed == "-" else np.random.RandomState(seed)
        low, high = (-1.25, 7.5) if what == "uniform" else (-3.0, 0.75)
        if what in integers:
            low, high = random_range(what)
            drawn = state.randint(low, high + 1, size=count, dtype=what)
        elif what in ("uniform", "normal"):
            drawn = getattr(state, what)(low, high, count)
        else:
            drawn = getattr(state, what)(count)
        script.append(f"{seed} {what} {count} {low} {high}")
        want.append(drawn.tobytes())
    got = tool.run("draw", script)
    for line, expected in zip(script, want):
        if got[:len(expected)] != expected:
            sys.exit(f"random numbers differ: {line}")
        got = got[len(expected):]


def random_values(rng, count):
    special = [0.0, -0.0, 1.0, 0.1, 1e-4, 9.9999e-5, 1e8, 99999999.5, 12345678.9, 1e3, 1e6, 1 / 3, 5e-9, 1e16, 1e22]
    return random.choice([
        lambda: rng.standard_normal(count) * 10.0 ** random.choice([-8, -4, 0, 3, 7, 8]),
        lambda: np.round(rng.standard_normal(count) * random.choice([1, 10, 1000]), random.choice([0, 1, 2, 3])),
        lambda: rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64),
        lambda: rng.integers(-1000, 1000, count).astype(float),
        lambda: 10.0 ** rng.uniform(-6, 6, count),
        lambda: 2.0 ** rng.integers(-30, 30, count),
        lambda: np.array([random.choice(special) for _ in range(count)]),
    ])()


def random_array(rng):
    shape = random.choice([(), (1,), (3,), (20,), (2, 3), (4, 5), (3, 7, 2), (2, 1, 3, 2), (1500,), (40, 40), (2, 1001),
                           (0,), (3, 0), (11, 11, 11)])
    count = int(np.prod(shape))
    kind = random.choice(["f2", "f4", "f4", "f8", "f8", "i1", "i8", "u2", "u8", "?", "c8", "c16", "U"])
    if kind == "U":
        words = ["", "a", "bb", "it's", 'say "x"', "né", "tab\t", "日本"]
        return np.array([random.choice(words) for _ in range(count)], dtype="U7").reshape(shape)
    if kind == "?":
        return rng.integers(0, random.choice([1, 2]), count).astype(bool).reshape(shape)
    dtype = np.dtype(kind)
    if dtype.kind in "iu":
        least, most = np.iinfo(dtype).min, min(random.choice([9, 100, 2**63]), np.iinfo(dtype).max)
        return rng.integers(max(least, -most), most, count, dtype=dtype, endpoint=True).reshape(shape)
    values = random_values(rng, count)
    for special in (np.nan, np.inf, -np.inf):
        if count and random.random() < 0.1:
            values[rng.integers(0, count)] = special
    result = np.zeros(count, dtype)
    result.real = values
    if dtype.kind == "c":
        result.imag = random_values(rng, count)
    return result.reshape(shape)


def check_print(tool):
    random.seed(4)
    rng = np.random.default_rng(4)
    script, want = [], []
    for i in range(5000):
        array = random_array(rng)
        options = dict(precision=8, threshold=1000, edgeitems=3, linewidth=75, suppress=False)
        if random.random() < 0.5:
            options = dict(precision=random.choice([0, 1, 3, 17]), threshold=random.choice([0, 5, 50]),
                           edgeitems=random.choice([1, 2, 5]), linewidth=random.choice([10, 40, 200]),
                           suppress=random.random() < 0.5)
        path = tool.file(f"{i}.npy")
        np.save(path, array)
        script.append(" ".join([path] + [str(int(v)) for v in options.values()]))
        with np.printoptions(**options):
            want.append(str(array))
    got = tool.run("print", script).decode().split("\x01")[:-1]
    for line, text, expected in zip(script, got, want):
        if text != expected:
            sys.exit(f"text differs: {line}\n{text}\nexpected:\n{expected}")


def check_files(tool):
    random.seed(5)
    rng = np.random.default_rng(5)
    arrays = [random_array(rng) for _ in range(300)] + [np.zeros((1,) * 32, np.float32), np.zeros((12345678, 0))]
    copies, wanted = [], []
    for array in arrays:
        want = array
        if array.dtype.kind == "U":  # the length of the longest is written
            want = np.array(array.ravel().tolist(), dtype=str if array.size else "<U1").reshape(array.shape)
        plain = io.BytesIO()
        np.save(plain, want)
        fortran = np.asfortranarray(array) if array.ndim else array
        for variant, version in ((array, (1, 0)), (fortran, (2, 0)), (array.astype(array.dtype.newbyteorder(">")), (3, 0))):
            source, target = tool.file(f"source{len(copies)}.npy"), tool.file(f"target{len(copies)}.npy")
            with open(source, "wb") as file:
                np.lib.format.write_array(file, variant, version)
            copies.append(("npy", source, target))
            wanted.append((array, plain.getvalue()))
    tool.copy(*copies)
    for (_, _, target), (array, want) in zip(copies, wanted):
        with open(target, "rb") as file:
            if file.read() != want:
                sys.exit(f"the .npy files of a {array.dtype} array of shape {array.shape} differ")
    named = {f"é{i}": a for i, a in enumerate(arrays)}
    for save in (np.savez, np.savez_compressed):
        save(tool.file("source.npz"), **named)
        tool.copy(("npz", tool.file("source.npz"), tool.file("target.npz")))
        with zipfile.ZipFile(tool.file("target.npz")) as archive:
            assert archive.testzip() is None
        copied = np.load(tool.file("target.npz"))
        assert list(copied) == list(named)
        for name, array in named.items():
            np.testing.assert_array_equal(copied[name], array)


def check_results(tool):
    from polygraphy.comparator import IterationResult, RunResults
    from polygraphy.json import load_json, save_json
    from polygraphy.logger import G_LOGGER

    G_LOGGER.module_severity = G_LOGGER.ERROR
    rng = np.random.default_rng(6)
    tensors = {f"ü{i}": (rng.standard_normal((3, i)) * 100).astype(t) for i, t in enumerate(NATIVE + ["float16", "bool"])}
    tensors["scalar"] = np.array(1.5)
    results = RunResults()
    results.append(("a", [IterationResult(tensors, 0.125, "a"), IterationResult({}, None, "a")]))
    results.append(("a", [IterationResult({"y": np.float32([1, 2])}, 1e-7, 'quote "\n')]))
    source, target = tool.file("source.json"), tool.file("target.json")
    results.save(source)
    tool.copy(("results", source, target))
    with open(source) as theirs, open(target) as ours:
        assert theirs.read() == ours.read(), "result files differ"
    assert RunResults.load(target) == results
    save_json([tensors, {}], source)
    tool.copy(("inputs", source, target))
    with open(source) as theirs, open(target) as ours:
        assert theirs.read() == ours.read(), "input files differ"
    assert list(load_json(target)[0]) == list(tensors)

    # What versions before 0.30 wrote, still read by both.
    stream = io.BytesIO()
    np.savez(stream, np.float32([1, 2]))
    for payload in (base64.b64encode(stream.getvalue()).decode(), npy_bytes(np.float32([1, 2])).decode("latin-1")):
        old = {"array": payload, "__polygraphy_encoded_ndarray": "polygraphy_serialized_json_type"}
        with open(source, "w") as file:
            json.dump([{"x": old}], file)
        tool.copy(("inputs", source, target))
        np.testing.assert_array_equal(load_json(target)[0]["x"], load_json(source)[0]["x"])


def npy_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def check_memory(tool):
    """Copying a large result file takes little more memory than its largest tensor."""
    from polygraphy.comparator import IterationResult, RunResults
    from polygraphy.logger import G_LOGGER

    G_LOGGER.module_severity = G_LOGGER.ERROR
    megabytes = 64
    outputs = {f"y{i}": np.full(megabytes << 18, i, np.float32) for i in range(6)}
    results = RunResults()
    results.append(("a", [IterationResult(outputs, 0.5, "a")]))
    results.save(tool.file("large.json"))
    peak = tool.copy(("results", tool.file("large.json"), tool.file("copy.json")))
    if peak > megabytes + 48:
        sys.exit(f"copying a file of tensors of {megabytes} MiB each took {peak} MiB")


CHECKS = {
    "decoding": check_decoding,
    "encoding": check_encoding,
    "e8m0": check_e8m0,
    "native": check_native,
    "strings": check_strings,
    "random": check_random,
    "print": check_print,
    "files": check_files,
    "memory": check_memory,
    "results": check_results,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tool", help="the program data_tool")
    parser.add_argument("checks", nargs="*", choices=[*CHECKS, []], help="all by default")
    args = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    for name in args.checks or CHECKS:
        with tempfile.TemporaryDirectory() as folder:
            CHECKS[name](Tool(args.tool, folder))
        print(f"{name}: ok")


if __name__ == "__main__":
    main()
