"""How fast and in how much memory corpora are read: `python benchmarks/corpora.py [rows]`.

Writes Conceptual Captions' TSV and COCO's JSON of published size, made up by a seed, and reads each
in a process of its own: by seesay, and as people do it by hand (a loop over `str.split`,
`json.load`).
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from seesay.data.captions import Corpus

WORDS = (
    "a",
    "the",
    "dog",
    "cat",
    "man",
    "woman",
    "red",
    "blue",
    "green",
    "on",
    "under",
    "above",
    "table",
    "street",
)


def write(folder: Path, rows: int) -> tuple[Path, Path]:
    """Rows of Conceptual Captions, and a sixth as many captions of COCO."""
    rng = random.Random(0)
    tsv, coco = folder / "Train_GCC-training.tsv", folder / "captions_train2017.json"
    with tsv.open("w", encoding="utf-8") as file:
        for n in range(rows):
            file.write(
                f"{' '.join(rng.choices(WORDS, k=10))}\thttps://images.example.org/{n:09d}-{rng.random()}.jpg\n"
            )
    annotations = [
        {"image_id": n // 5, "id": n, "caption": " ".join(rng.choices(WORDS, k=10))}
        for n in range(rows // 6)
    ]
    images = [
        {"file_name": f"{n:012d}.jpg", "height": 360, "width": 640, "id": n}
        for n in range(rows // 30)
    ]
    coco.write_text(json.dumps({"images": images, "annotations": annotations}), encoding="utf-8")
    return tsv, coco


def seesay(path: Path) -> int:
    """Captions read by seesay."""
    with Corpus(path) as corpus:
        return sum(1 for _ in corpus.read())


def by_hand(path: Path) -> int:
    """Captions read by the shortest code."""
    with path.open(encoding="utf-8") as file:
        if path.suffix == ".json":
            return len([row["caption"] for row in json.load(file)["annotations"]])
        return sum(1 for line in file if line.split("\t")[0])


def measure(reader: str, path: Path) -> tuple[int, float, int]:
    """Captions, seconds of processor time, and the peak of the process in MB (Linux)."""
    start = time.process_time()
    count = {"seesay": seesay, "by hand": by_hand}[reader](path)
    seconds = time.process_time() - start
    status = Path("/proc/self/status").read_text(encoding="utf-8").split()
    return count, seconds, int(status[status.index("VmHWM:") + 1]) // 1024


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 3_318_333
    with tempfile.TemporaryDirectory() as folder:
        for path in write(Path(folder), rows):
            print(f"{path.name}, {path.stat().st_size / 1e6:.0f} MB")
            for reader in ("seesay", "by hand"):
                with get_context("spawn").Pool(1) as pool:
                    count, seconds, peak = pool.apply(measure, (reader, path))
                print(
                    f"  {reader:8} {count:10,} captions {seconds:6.1f} s {count / seconds:10,.0f} "
                    f"per s {peak:6} MB"
                )


if __name__ == "__main__":
    main()
