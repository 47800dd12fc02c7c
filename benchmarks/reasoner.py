"""Items per second of training: features extracted once against a PNG opened for every item, in one
run.

    python benchmarks/reasoner.py [--items 2000] [--steps 60] [--json]

The network, its step (forward, backward, clipping, Adam) and the items are the same: FiLM's `cpu`
preset, SET+POS. Ours looks up a batch in a memory-mapped array of small pictures and an array of
word ids. The straightforward way is a torch Dataset whose `__getitem__` opens the item's PNG, makes
it small and cuts its sentence into words, under a DataLoader, in the process itself and with a
worker for each core. The PNGs have the published 1,478 pixels, and once the network's own 64, which
separates opening files from making them small. All ways take augment, and the medians of the rounds
are shown. The first loss is the same to 1e-5: ours reads the same files, with the same filter.
FiLM's own step, and its share of the machine's peak: `benchmarks/film_step.py`. Extracting features
takes time too, which is printed: it is done once, and scenes made on the fly need no file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from seesay.scenes import SceneConfig, SceneOutput, make_plan, write_dataset
from seesay.scenes.raster import PUBLISHED
from seesay.scenes.reasoners.config import NetworkConfig, preset_config
from seesay.scenes.reasoners.dataset import from_folder, from_scenes
from seesay.scenes.reasoners.features.extractor import PixelExtractor
from seesay.scenes.reasoners.networks.base import ReasonerNetwork
from seesay.scenes.reasoners.networks.registry import build
from seesay.scenes.reasoners.train import ReasonerBatch, ReasonerBatches, losses
from seesay.scenes.reasoners.vocabulary import SentenceVocabulary

TASK, SPLIT = "set+pos", "train"
ROUNDS = 5
PRESET = preset_config("film", "cpu")
Item = tuple[torch.Tensor, torch.Tensor, int]


class Files(Dataset[Item]):
    """The straightforward way: everything is done for one item, when it is asked for."""

    def __init__(self, folder: Path, vocabulary: dict[str, int], longest: int) -> None:
        self.folder, self.vocabulary, self.longest = folder, vocabulary, longest
        self.rows = json.loads((folder / "dataset" / f"{SPLIT}.json").read_text())["questions"]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Item:
        row = self.rows[index]
        with Image.open(self.folder / "images" / SPLIT / row["image_filename"]) as image:
            small = image.convert("RGB").resize(
                (PRESET.image_size, PRESET.image_size), Image.Resampling.BOX
            )
        picture = torch.from_numpy(np.array(small)).permute(2, 0, 1).float() / 255
        words = [
            1,
            *(self.vocabulary[word] for word in re.findall(r"\w+", row["question"].lower())),
            2,
        ]
        words += [0] * (self.longest - len(words))
        return picture, torch.tensor(words), int(row["answer"] == "yes")


@dataclass
class Way:
    """One way to get batches, its own copy of the network, and how fast each round was."""

    name: str
    pixels: int
    workers: int | None
    batches: Iterable[ReasonerBatch]
    network: ReasonerNetwork
    first_loss: float = 0.0
    rates: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=1e-3, weight_decay=0.0)

    def step(self, batch: ReasonerBatch) -> float:
        """As the training loop's."""
        loss = losses(self.network, batch)["loss"]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return float(loss.detach())

    def round(self, steps: int) -> None:
        """Some steps by the clock; the first one warms up, and starts the workers."""
        waiting = self.forever()
        loss = self.step(next(waiting))
        self.first_loss = self.first_loss or loss
        began, waited = time.perf_counter(), 0.0
        for _ in range(steps):
            asked = time.perf_counter()
            batch = next(waiting)
            waited += time.perf_counter() - asked
            self.step(batch)
        self.rates.append(steps * PRESET.batch_size / (time.perf_counter() - began))
        self.waits.append(1000 * waited / steps / PRESET.batch_size)

    def forever(self) -> Iterator[ReasonerBatch]:
        while True:
            for batch in self.batches:
                yield ReasonerBatch(*batch)


def ways(
    folder: Path, pixels: int, network: str, config: NetworkConfig, workers: Iterable[int]
) -> tuple[list[Way], float]:
    """Ours and the others on the PNGs of a folder, and the seconds that ours needs to extract
    features."""
    began = time.perf_counter()
    items = from_folder(folder, SPLIT, PixelExtractor(PRESET.image_size))
    extracted = time.perf_counter() - began
    words = config.vocabulary.encode(items.sentences)
    order = np.random.default_rng(0).permutation(len(items))

    def fresh() -> ReasonerNetwork:
        torch.manual_seed(0)
        made = build(network, config)
        for weights in made.parameters():  # as training keeps them
            if weights.dim() == 4:
                weights.data = weights.data.contiguous(memory_format=torch.channels_last)
        return made

    found = [
        Way(
            "seesay: looked at once",
            pixels,
            None,
            ReasonerBatches(items, words, order, PRESET.batch_size),
            fresh(),
        )
    ]
    files = Files(folder, config.vocabulary.ids, words.shape[1])
    for count in workers:
        loader = DataLoader(files, PRESET.batch_size, sampler=order.tolist(), num_workers=count)
        name = f"one PNG per item, {f'{count} workers' if count else 'in the process'}"
        found.append(Way(name, pixels, count, loader, fresh()))
    return found, extracted


def main() -> None:
    """Print one line per way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=2_000, help="training items")
    parser.add_argument(
        "--steps", type=int, default=60, help=f"steps of every way, in {ROUNDS} rounds"
    )
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count(), help="of the DataLoader, where it has some"
    )
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    plan = make_plan(TASK, given.items * 5 // 4)
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["SEESAY_CACHE"] = str(Path(temporary) / "cache")
        began = time.perf_counter()
        made = from_scenes(plan, SPLIT, PixelExtractor(PRESET.image_size))
        on_the_fly = time.perf_counter() - began
        config = NetworkConfig(
            SentenceVocabulary.of(made.sentences),
            made.answer_names,
            made.features.shape[1:],
            **PRESET.sizes,
        )
        several, extracted = [], {}
        for pixels in (PUBLISHED, PRESET.image_size):
            folder = Path(temporary) / str(pixels)
            write_dataset(
                SceneConfig(TASK), plan, SceneOutput(folder, pixels, formats=("json",)), workers=1
            )
            found, extracted[pixels] = ways(
                folder, pixels, PRESET.network, config, (0, given.workers)
            )
            several += found
        for _ in range(ROUNDS):
            for way in several:
                way.round(max(1, given.steps // ROUNDS))
    ours = {way.pixels: way for way in several if way.workers is None}
    for way in several:
        apart = abs(way.first_loss - ours[way.pixels].first_loss)
        assert apart < 1e-5, f"{way.name}, {way.pixels} px: the first loss is {apart:.1e} from ours"
    report(several, len(made), on_the_fly, extracted, as_json=given.json)


def report(
    several: list[Way], items: int, on_the_fly: float, extracted: dict[int, float], *, as_json: bool
) -> None:
    """Rates, and ours by theirs."""
    rows, ours = [], 0.0
    for way in several:
        rate = statistics.median(way.rates)
        ours = rate if way.workers is None else ours
        rows.append(
            Row(
                way.name,
                way.pixels,
                way.workers,
                rate,
                ours / rate,
                statistics.median(way.waits),
                way.first_loss,
            )
        )
    machine = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "items": items,
        "batch": PRESET.batch_size,
        "side": PRESET.image_size,
        "on_the_fly_seconds": on_the_fly,
        "look_seconds": extracted,
    }
    if as_json:
        print(json.dumps(machine | {"ways": [asdict(row) for row in rows]}))
        return
    print(
        f"Python {machine['python']}, PyTorch {machine['torch']}, {machine['threads']} threads, "
        f"{machine['cores']} "
        f"cores, load {machine['load']:.1f}; FiLM, cpu preset, {items:,} items, batches of "
        f"{PRESET.batch_size}"
    )
    print(
        f"{'way':<40}{'PNG px':>8}{'items/s':>10}{'seesay is':>12}"
        f"{'waits ms/item':>15}{'first loss':>12}"
    )
    for row in rows:
        rates = f"{row.items_per_second:>10.1f}{row.ours_is:>10.2f} x{row.wait_ms:>15.3f}"
        print(f"{row.way:<40}{row.pixels:>8}{rates}{row.first_loss:>12.6f}")
    print(
        f"extracting features: {on_the_fly:.1f} s with scenes made on the fly, "
        + ", ".join(
            f"{seconds:.1f} s from PNGs of {pixels} px" for pixels, seconds in extracted.items()
        )
    )


@dataclass(frozen=True)
class Row:
    """A line of the table; `ours_is` says how many times as fast ours was on the same files,
    `wait_ms` how long the network waited for an item, however fast its step is on another
    machine."""

    way: str
    pixels: int
    workers: int | None
    items_per_second: float
    ours_is: float
    wait_ms: float
    first_loss: float


if __name__ == "__main__":
    main()
