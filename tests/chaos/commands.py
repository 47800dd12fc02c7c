"""Every command that writes a folder or a file, on inputs so small that a run takes a second or two."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def _nothing(folder: Path) -> None:
    pass


@dataclass(frozen=True)
class Command:
    """A command line, run in a folder of its own; `output` is the folder or file that it writes there."""

    name: str
    arguments: tuple[str, ...]
    output: str
    prepare: Callable[[Path], None] = _nothing
    imports: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def load(self) -> None:
        """Import what the command needs, once for all the children."""
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        for module in ("seesay.cli", "seesay.api", "rich.progress", *self.imports):
            importlib.import_module(module)


def _captions(folder: Path) -> None:
    things, places = ("dog", "cat", "cup", "man", "bus"), ("above", "below", "under", "over", "near")
    lines = [
        f"a {color} {one} {place} the {other}"
        for color in ("red", "blue", "old")
        for one in things
        for place in places
        for other in things
    ]
    (folder / "captions.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _arpa(folder: Path) -> None:
    from seesay.models.words.arpa import write_arpa
    from seesay.training.captions import split
    from seesay.training.ngram import train_ngrams

    _captions(folder)
    ngrams, _ = train_ngrams(split([folder / "captions.txt"]), (), order=2, smallest_count=1)
    write_arpa(folder / "model.arpa", ngrams)


def _rooms(folder: Path) -> None:
    from seesay.mining.rooms import write_rooms

    write_rooms(folder / "rooms", 12, 0)


def _runs(folder: Path) -> None:
    import seesay

    seesay.probe(["mock", "mock:1"], "core-color", limit=10, resamples=100, output=folder / "runs")


def _study(folder: Path) -> None:
    from tests.judge.annotators import careful, judge
    from tests.judge.studies import rating_study, serve_in_test
    from tests.judge.test_export import put

    study = rating_study(folder, count=20, judgements=6)
    served = serve_in_test(study, str(folder / "study.sqlite"))
    put(served, judge(study, [careful({item.id: 0.5 for item in study.measured})] * 9))
    served.database.close()


def _hypotheses(folder: Path) -> None:
    _captions(folder)
    (folder / "more.txt").write_text((folder / "captions.txt").read_text(encoding="utf-8").replace("old", "new"))


_TRAINING = ("torch", "seesay.training.loop", "seesay.training.lstm", "seesay.models.words.lstm_network")
_LISTED = [
    Command(
        "probe",
        ("probe", "mock:0:20", "--task", "core-color", "--limit", "40", "--resamples", "100", "-o", "out", "--quiet"),
        "out",
        imports=("seesay.runs.ask", "seesay.reports.pages.runs", "seesay.models.baselines", "seesay.tasks.core_color"),
    ),
    Command(
        "scenes make",
        (
            "scenes",
            "make",
            "-o",
            "out",
            "-n",
            "40",
            "--size",
            "96",
            "--formats",
            "h5,parquet",
            "--workers",
            "1",
            "--quiet",
        ),
        "out",
        imports=("seesay.scenes.dataset_writer", "h5py", "pyarrow.parquet"),
    ),
    Command("rooms", ("rooms", "-o", "out", "-n", "25", "--quiet"), "out", imports=("seesay.mining.rooms",)),
    Command(
        "mine",
        (
            *("mine", "-a", "plain:rooms/annotations.parquet", "-o", "out", "--min-seen", "1", "--min-relation", "1"),
            *("--min-answers", "1", "--rows", "4", "--workers", "1", "--quiet"),
        ),
        "out",
        _rooms,
        ("seesay.mining.pipeline", "seesay.reports.pages.knowledge", "spacy"),
    ),
    Command(
        "pretrain lstm",
        ("pretrain", "lstm", "captions.txt", "-o", "out", "--epochs", "2", "--smallest-count", "1", "--quiet"),
        "out",
        _captions,
        _TRAINING,
    ),
    Command(
        "pretrain trigram",
        ("pretrain", "trigram", "captions.txt", "-o", "out/model.arpa", "--smallest-count", "1", "--quiet"),
        "out/model.arpa",
        _captions,
        ("seesay.training.ngram",),
    ),
    Command("pretrain split", ("pretrain", "split", "captions.txt", "-o", "out", "--quiet"), "out", _captions),
    Command(
        "reasoner train",
        (
            *(
                "reasoner",
                "train",
                "cnn-lstm",
                "--task",
                "pos1",
                "--items",
                "64",
                "--epochs",
                "2",
                "--image-size",
                "32",
            ),
            *("--device", "cpu", "-o", "out", "--quiet"),
        ),
        "out",
        imports=("torch", "seesay.reasoners.train", "seesay.reasoners.experiment"),
    ),
    Command(
        "relations matrix",
        ("relations", "matrix", "model.arpa", "captions.txt", "-o", "out", "--minimum", "1", "--quiet"),
        "out",
        _arpa,
        ("seesay.relations.matrix", "seesay.reports.pages.relations"),
    ),
    Command(
        "judge export",
        ("judge", "export", "study.sqlite", "-o", "out", "--resamples", "200", "--quiet"),
        "out",
        _study,
        ("seesay.judge.results.export", "scipy.stats"),
    ),
    *(
        Command(
            f"tasks export {to}",
            ("tasks", "export", "core-color", "--to", to, "-n", "20", "-o", "out", "--quiet"),
            "out",
            imports=("seesay.export", *(("datasets",) if to == "datasets" else ())),
        )
        for to in ("seesay", "lm-eval", "inspect", "datasets")
    ),
    Command("report", ("report", "runs", "-o", "report.html"), "report.html", _runs, ("seesay.reports.pages.runs",)),
    Command(
        "score captions",
        (
            *("score", "captions", "captions.txt", "more.txt", "--no-meteor", "--resamples", "100"),
            *("--per-caption", "rows.jsonl", "--quiet"),
        ),
        "rows.jsonl",
        _hypotheses,
        ("seesay.scoring.captions",),
    ),
    Command(
        "perplexity",
        ("perplexity", "model.arpa", "captions.txt", "--per-sentence", "rows.jsonl", "--quiet"),
        "rows.jsonl",
        _arpa,
        ("seesay.runs.perplexity",),
    ),
]
COMMANDS = {command.name: command for command in _LISTED}
