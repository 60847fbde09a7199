"""buoy/trace.py against the traces committed in tests/data/trace, which the C++ writer wrote."""

import hashlib
import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # read without the compiled half
from buoy.trace import Trace, TraceError, _tree_sha256

DATA = Path(__file__).resolve().parents[2] / "tests/data/trace"


class ReadsWhatBuoyWrites(unittest.TestCase):
    def test_every_number(self):
        for name, samples, dtype in (("small", 2, np.float32), ("half", 1, np.float16)):
            trace = Trace(DATA / name)
            self.assertTrue(trace.complete)
            self.assertEqual(len(trace), samples)
            self.assertEqual(trace.verify(), [])
            self.assertEqual(trace.manifest["seed"], 2**64 - 1)
            for number, sample in enumerate(trace):
                self.assertEqual(sample.id, f"sample-{number}")
                received = sample["received"]
                self.assertEqual(received.dtype, dtype)
                self.assertEqual(received.shape, (2, 2, 2, 4, 5 + number))
                rule = np.arange(received.size) % 97 / 64  # as tests/trace/small_trace.h says
                np.testing.assert_array_equal(received.ravel(), rule)
                np.testing.assert_array_equal(sample["tokens"], np.arange(number, 5 + 2 * number))
                self.assertEqual(sample["region_of_token"][-1], 255)
                self.assertEqual(sample["group_sizes"].tolist(), [[2, 3 + number], [4, 1 + number]])
                self.assertEqual(sample.texts("region_names"), ["bos", "query"])
                self.assertEqual(sample.texts("token_texts")[0], f"<{number}> \u00e9")
                self.assertTrue(received.flags.aligned)

    def test_traces_of_0_1(self):
        rows = (DATA / "v0.1/expected/arrays.tsv").read_text().splitlines()[1:]
        self.assertGreater(len(rows), 100)
        for row in rows:
            folder, sample, name, _, shape, total = row.split("\t")
            values = Trace(DATA / "v0.1" / folder)[sample][name]
            self.assertEqual(",".join(map(str, values.shape)), shape, row)
            self.assertAlmostEqual(values.sum(dtype="f8"), float(total), places=4, msg=row)

    def test_a_compact_trace(self):
        trace = Trace(DATA / "compact")
        self.assertEqual(trace.manifest["level"], "compact")
        self.assertEqual(trace.verify(), [])
        sample = trace["prompt"]
        self.assertNotIn("received", sample)
        mean, heads, rows = (sample.shares(name) for name in ("mean", "head", "row"))
        steps, layers, tokens = mean.shape
        self.assertEqual(heads.shape, (steps, layers, trace.manifest["model"]["heads"], tokens))
        self.assertEqual(rows.shape, (steps, layers, sample["row_positions"].size, tokens))
        np.testing.assert_allclose(mean.sum(axis=-1), 1, rtol=0.023)
        np.testing.assert_allclose(heads.sum(axis=-1), 1, rtol=0.023)
        np.testing.assert_allclose(rows.sum(axis=-1), 1, rtol=0.023)
        np.testing.assert_allclose(heads.mean(axis=2), mean, rtol=0.05)
        np.testing.assert_array_equal(sample["mean_top_keys"][..., 0], mean.argmax(axis=-1))

    def test_an_unfinished_trace(self):
        trace = Trace(DATA / "unfinished")
        self.assertFalse(trace.complete)
        self.assertEqual([(entry["id"], entry["status"]) for entry in trace.samples],
                         [("sample-0", "failed"), ("sample-1", "done")])
        self.assertEqual([sample.id for sample in trace], ["sample-1"])
        self.assertIn("unfinished: 2 of 3", trace.verify()[0])
        with self.assertRaisesRegex(TraceError, "sample-0 failed: out of memory"):
            trace["sample-0"]


class RefusesWhatIsWrong(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name) / "trace"
        shutil.copytree(DATA / "small", self.folder)
        self.manifest = self.folder / "manifest.json"
        self.sample = self.folder / "samples/sample-0.safetensors"

    def change(self, **fields):
        self.manifest.write_text(json.dumps(json.loads(self.manifest.read_text()) | fields))

    def test_manifests(self):
        self.change(version=7)
        with self.assertRaisesRegex(TraceError, "knows versions 1 to 4, the trace is version 7"):
            Trace(self.folder)
        self.change(format="other")
        with self.assertRaisesRegex(TraceError, "expected format buoy-trace"):
            Trace(self.folder)
        self.manifest.write_text("{")
        with self.assertRaisesRegex(TraceError, "expected JSON"):
            Trace(self.folder)
        self.manifest.unlink()
        with self.assertRaisesRegex(TraceError, "manifest.json"):
            Trace(self.folder)

    def test_paths_outside(self):
        samples = json.loads(self.manifest.read_text())["samples"]
        self.change(samples=[samples[0] | {"id": "../x"}])
        with self.assertRaisesRegex(TraceError, "sample id"):
            Trace(self.folder)

    def test_samples(self):
        data = bytearray(self.sample.read_bytes())
        data[-1] ^= 1
        self.sample.write_bytes(data)
        with self.assertRaisesRegex(TraceError, "SHA-256 .*tree_sha256"):
            Trace(self.folder)["sample-0"]
        Trace(self.folder, check=False)["sample-0"]
        self.assertEqual(len(Trace(self.folder).verify()), 1)
        self.sample.write_bytes(data[:100])
        with self.assertRaisesRegex(TraceError, "found 100"):
            Trace(self.folder)["sample-0"]
        self.sample.unlink()
        with self.assertRaisesRegex(TraceError, "no such file"):
            Trace(self.folder)["sample-0"]

    def test_samples_of_version_1(self):
        folder = self.folder.parent / "old"
        shutil.copytree(DATA / "v0.1/sums", folder)
        id = Trace(folder).samples[0]["id"]
        path = folder / "samples" / f"{id}.safetensors"
        self.assertEqual(Trace(folder).verify(), [])
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
        with self.assertRaisesRegex(TraceError, "SHA-256 .*checksum"):
            Trace(folder)[id]

    def test_sums_of_several_pieces(self):
        path = self.folder / "large"
        for size in (0, 1, 2**22 - 1, 2**22, 2**22 + 1, 2**23 + 7):
            data = np.arange(size, dtype=np.uint8).tobytes()
            path.write_bytes(data)
            pieces = [data[at:at + 2**22] for at in range(0, size, 2**22)]
            digests = b"".join(hashlib.sha256(piece).digest() for piece in pieces)
            self.assertEqual(_tree_sha256(path), hashlib.sha256(digests).hexdigest())

    def test_names(self):
        with self.assertRaisesRegex(KeyError, "no sample other"):
            Trace(self.folder)["other"]
        with self.assertRaisesRegex(KeyError, "no array entropy; there are group_sizes"):
            Trace(self.folder)["sample-0"]["entropy"]

    def test_torn_journal(self):
        shutil.copytree(DATA / "unfinished", self.folder, dirs_exist_ok=True)
        with open(self.folder / "samples.jsonl", "a") as file:
            file.write('{"id": "sample-2", "sta')
        self.assertEqual(len(Trace(self.folder)), 2)


if __name__ == "__main__":
    unittest.main()
