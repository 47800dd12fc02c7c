"""Every command that writes a folder or a file, on inputs so small that a run takes a second or
two."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from seesay.export import TARGETS

PICTURE_TARGETS = ("lmms-eval", "vlmevalkit")
"""Targets that take no task without pictures."""


def _nothing(folder: Path) -> None:
    pass


@dataclass(frozen=True)
class Command:
    """A command line, run in a folder of its own; `output` is the folder or file that it writes
    there, `settings` are environment variables."""

    name: str
    arguments: tuple[str, ...]
    output: str
    prepare: Callable[[Path], None] = _nothing
    imports: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()

    def load(self) -> None:
        """Import what the command needs, once for all the children."""
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        for module in ("seesay.cli", "seesay.api", "rich.progress", *self.imports):
            importlib.import_module(module)


def _captions(folder: Path) -> None:
    things, places = (
        ("dog", "cat", "cup", "man", "bus"),
        ("above", "below", "under", "over", "near"),
    )
    lines = [
        f"a {color} {one} {place} the {other}"
        for color in ("red", "blue", "old")
        for one in things
        for place in places
        for other in things
    ]
    lines += [
        f"the {place} of number {number}"
        for place in places
        for number in ["one", "two", "three", "four", "five", "six"]
    ]
    (folder / "captions.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _arpa(folder: Path) -> None:
    from seesay.language.training.captions import split
    from seesay.language.training.ngram import train_ngrams
    from seesay.language.words.arpa import write_arpa

    _captions(folder)
    ngrams, _ = train_ngrams(split([folder / "captions.txt"]), (), order=2, smallest_count=1)
    write_arpa(folder / "model.arpa", ngrams)


def _rooms(folder: Path) -> None:
    from seesay.mining.rooms import write_rooms

    write_rooms(folder / "rooms", 12, 0)


def _runs(folder: Path) -> None:
    import seesay

    seesay.probe(["mock", "mock:1"], "core-color", limit=10, resamples=100, output=folder / "runs")


def _shares(folder: Path) -> None:
    import seesay

    for share in ("1/2", "2/2"):
        seesay.probe("mock", "core-color", limit=10, resamples=100, output=folder, shard=share)


def _study(folder: Path) -> None:
    from tests.judge.annotators import careful, judge
    from tests.judge.results.test_export import put
    from tests.judge.studies import rating_study, serve_in_test

    study = rating_study(folder, count=20, judgements=6)
    served = serve_in_test(study, str(folder / "study.sqlite"))
    put(served, judge(study, [careful({item.id: 0.5 for item in study.measured})] * 9))
    served.database.close()


def _hypotheses(folder: Path) -> None:
    _captions(folder)
    (folder / "more.txt").write_text(
        (folder / "captions.txt").read_text(encoding="utf-8").replace("old", "new")
    )


def _tiny_bert(folder: Path) -> None:
    from tests.tiny import save_tiny

    _captions(folder)
    save_tiny("bert", folder / "start")


def _features(folder: Path) -> None:
    """Captions of pictures with their features, and a language model."""
    import numpy as np
    from tests.tiny import save_tiny

    names = ("red", "blue", "green")
    rows = []
    for number in range(60):
        name = names[number % 3]
        rows.append({"image_id": name, "caption": f"the color of {number} cups is {name}"})
    (folder / "captions.json").write_text(json.dumps(rows), encoding="utf-8")
    vectors = np.eye(3, 8, dtype=np.float32)
    np.savez(folder / "features.npz", ids=np.array(names), features=vectors)
    save_tiny("llama", folder / "language")


def _answers_of_others(folder: Path) -> None:
    """A task, and the answers of three people to it."""
    (folder / "fruit.csv").write_text("fruit,color\nlemon,yellow\nplum,purple\n")
    (folder / "fruit.yaml").write_text(
        "name: fruit\nrows: fruit.csv\nid: fruit\nobject: fruit\ngold: color\n"
        "templates: The color of {a fruit} is [MASK].\n"
    )
    rows = [
        f"{person},{item},{color}"
        for person in ("ann", "ben", "eve")
        for item, color in (("lemon", "yellow"), ("plum", "purple"))
    ]
    (folder / "answers.csv").write_text("person,item,label\n" + "\n".join(rows) + "\n")


def _reasoner(folder: Path) -> None:
    from seesay.cli import main

    command = [
        "reasoner",
        "train",
        "object-centred",
        "--task",
        "pos1",
        "--items",
        "64",
        "--epochs",
        "1",
    ]
    with suppress(SystemExit):
        main([*command, "--device", "cpu", "-o", str(folder / "trained"), "--quiet"])


def _table(folder: Path) -> None:
    rows = [{"item": f"thing {i}", "label": "red", "descriptor": "a"} for i in range(200)]
    (folder / "table.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8"
    )


_REASONERS = (
    "torch",
    "seesay.scenes.reasoners.train",
    "seesay.scenes.reasoners.experiment",
    "seesay.scenes.reports.reasoner_page",
)
_TRAINING = (
    "torch",
    "seesay.training.loop",
    "seesay.language.training.lstm",
    "seesay.language.words.lstm_network",
)
_LISTED = [
    Command(
        "probe",
        (
            "probe",
            "mock:0:20",
            "--task",
            "core-color",
            "--limit",
            "40",
            "--resamples",
            "100",
            "-o",
            "out",
            "--quiet",
        ),
        "out",
        imports=(
            "seesay.runs.ask",
            "seesay.reports.pages.runs",
            "seesay.models.baselines",
            "seesay.tasks.from_file.builtin",
        ),
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
    Command(
        "pictures make",
        ("pictures", "make", "-o", "out", "--task", "prior-size", "--size", "16", "--quiet"),
        "out",
        imports=(
            "seesay.pictures.dataset_writer",
            "seesay.pictures.tasks.prior_size",
            "pyarrow.parquet",
        ),
    ),
    Command(
        "rooms",
        ("rooms", "-o", "out", "-n", "25", "--quiet"),
        "out",
        imports=("seesay.mining.rooms",),
    ),
    Command(
        "mine",
        (
            *(
                "mine",
                "-a",
                "plain:rooms/annotations.parquet",
                "-o",
                "out",
                "--min-seen",
                "1",
                "--min-relation",
                "1",
            ),
            *("--min-answers", "1", "--rows", "4", "--workers", "1", "--quiet"),
        ),
        "out",
        _rooms,
        ("seesay.mining.pipeline", "seesay.mining.knowledge_page", "spacy"),
    ),
    Command(
        "pretrain lstm",
        (
            "pretrain",
            "lstm",
            "captions.txt",
            "-o",
            "out",
            "--epochs",
            "2",
            "--smallest-count",
            "1",
            "--quiet",
        ),
        "out",
        _captions,
        _TRAINING,
    ),
    Command(
        "pretrain trigram",
        (
            "pretrain",
            "trigram",
            "captions.txt",
            "-o",
            "out/model.arpa",
            "--smallest-count",
            "1",
            "--quiet",
        ),
        "out/model.arpa",
        _captions,
        ("seesay.language.training.ngram",),
    ),
    Command(
        "pretrain capbert",
        (
            *(
                "pretrain",
                "capbert",
                "captions.txt",
                "-o",
                "out",
                "--from",
                "start",
                "--epochs",
                "2",
            ),
            *("--statements", "0", "--validate-every", "5", "--device", "cpu", "--quiet"),
        ),
        "out",
        _tiny_bert,
        (*_TRAINING, "seesay.language.training.capbert", "transformers.models.bert.modeling_bert"),
    ),
    Command(
        "pretrain causal",
        ("pretrain", "causal", "captions.txt", "-o", "out", "--epochs", "1", "--quiet"),
        "out",
        _captions,
        (*_TRAINING, "seesay.language.training.causal", "transformers.models.llama.modeling_llama"),
    ),
    Command(
        "pretrain prefix",
        (
            *("pretrain", "prefix", "captions.json", "--pictures", "features.npz", "-o", "out"),
            *("--from", "language", "--epochs", "2", "--held-out", "0.4", "--quiet"),
        ),
        "out",
        _features,
        (*_TRAINING, "seesay.language.training.causal", "transformers.models.llama.modeling_llama"),
    ),
    Command(
        "rear texts",
        ("rear", "texts", "-o", "out", "--quiet"),
        "out",
        imports=("seesay.rearing.texts",),
    ),
    Command(
        "rear captions",
        ("rear", "captions", "captions.txt", "--things", "dog,cat", "-o", "out", "--quiet"),
        "out",
        _captions,
        ("seesay.rearing.real_captions",),
    ),
    Command(
        "rear sweep",
        (
            *("rear", "sweep", "-o", "out", "--diets", "full-bias", "--learners", "text"),
            *("--seeds", "1", "--epochs", "1", "--quiet"),
        ),
        "out",
        imports=(*_TRAINING, "seesay.rearing.cells", "transformers.models.bert.modeling_bert"),
    ),
    Command(
        "judge import",
        (
            *("judge", "import", "fruit.yaml", "answers.csv", "-o", "out"),
            *("--resamples", "200", "--quiet"),
        ),
        "out",
        _answers_of_others,
        ("seesay.judge.results.export", "scipy.stats"),
    ),
    Command(
        "pretrain split",
        ("pretrain", "split", "captions.txt", "-o", "out", "--quiet"),
        "out",
        _captions,
    ),
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
        imports=_REASONERS,
        settings=(("SEESAY_CACHE", "cache"),),
    ),
    Command(
        "reasoner sweep",
        (
            *(
                "reasoner",
                "sweep",
                "--cells",
                "object-centred/sup1,object-centred/pos1",
                "--seeds",
                "1",
            ),
            *("--items", "64", "--epochs", "2", "--device", "cpu", "-o", "out", "--quiet"),
        ),
        "out",
        imports=_REASONERS,
        settings=(("SEESAY_CACHE", "cache"),),
    ),
    Command(
        "reasoner diagnose",
        (
            "reasoner",
            "diagnose",
            "trained",
            "-o",
            "out/page.html",
            "--items",
            "20",
            "--device",
            "cpu",
            "--quiet",
        ),
        "out",
        _reasoner,
        _REASONERS,
    ),
    Command(
        "relations matrix",
        (
            "relations",
            "matrix",
            "model.arpa",
            "captions.txt",
            "-o",
            "out",
            "--minimum",
            "1",
            "--quiet",
        ),
        "out",
        _arpa,
        ("seesay.language.relations.matrix", "seesay.language.relations.page"),
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
        for to in TARGETS
        if to not in PICTURE_TARGETS
    ),
    *(
        Command(
            f"tasks export {to} with pictures",
            ("tasks", "export", "prior-color", "--to", to, "-n", "6", "-o", "out", "--quiet"),
            "out",
            imports=("seesay.export", *(("datasets",) if to == "datasets" else ())),
        )
        for to in TARGETS
    ),
    Command(
        "data add",
        ("data", "add", "memory-colors", "table.jsonl", "--force"),
        "out",
        _table,
        ("seesay.data.store", "seesay.tasks.from_file.builtin"),
        (("SEESAY_DATA", "out"),),
    ),
    Command(
        "merge",
        ("merge", "shard-1-of-2", "shard-2-of-2", "-o", "out", "--quiet"),
        "out",
        _shares,
        ("seesay.runs.merge", "seesay.reports.tables"),
    ),
    Command("site", ("site", "runs", "-o", "out"), "out", _runs, ("seesay.reports.site",)),
    Command(
        "report",
        ("report", "runs", "-o", "report.html"),
        "report.html",
        _runs,
        ("seesay.reports.pages.runs",),
    ),
    Command(
        "score captions",
        (
            *("score", "captions", "captions.txt", "more.txt", "--no-meteor", "--resamples", "100"),
            *("--per-caption", "rows.jsonl", "--quiet"),
        ),
        "rows.jsonl",
        _hypotheses,
        ("seesay.captions.scoring.captions",),
    ),
    Command(
        "perplexity",
        ("perplexity", "model.arpa", "captions.txt", "--per-sentence", "rows.jsonl", "--quiet"),
        "rows.jsonl",
        _arpa,
        ("seesay.language.perplexity.score",),
    ),
]
COMMANDS = {command.name: command for command in _LISTED}
