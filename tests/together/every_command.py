"""Every command of seesay, called in one process: its help, and the simplest call that is right.

It is started as a program, with nothing but seesay's own dependencies, and prints what came of each
call as JSON. `python every_command.py PACKAGE…` first makes these packages impossible to import.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

CAPTIONS = "A dog sits above a cat.\nA cat sits below a dog.\nA lamp hangs over a table.\n"

FEW = "--task core-color --limit 2 --resamples 100"

WORKS = ""
REFUSED = "refused"
"""The call is answered with a sentence that names no extra: what it reads is not there."""

CALLS = {
    "tasks": WORKS,
    "tasks core-color": WORKS,
    "tasks malevic-sup1": WORKS,
    "tasks easy-vqa": "reasoners",
    "tasks prior-color": "pictures",
    "tasks check things.csv": WORKS,
    "tasks new things.csv -o things.yaml": WORKS,
    "tasks schema": WORKS,
    "tasks export core-color -n 2 -o for-seesay": WORKS,
    "tasks export core-color -n 2 --to lm-eval -o for-lm-eval": WORKS,
    "tasks export core-color -n 2 --to inspect -o for-inspect": WORKS,
    "tasks export core-color -n 2 --to datasets -o for-datasets": WORKS,
    "tasks export core-color -n 2 --to lmms-eval -o for-lmms-eval": WORKS,
    "tasks export core-color -n 2 --to vlmevalkit -o for-vlmevalkit": REFUSED,
    "models": WORKS,
    "data": WORKS,
    "data check": WORKS,
    "cache": WORKS,
    "cache clear --yes": WORKS,
    f"probe {FEW}": "models",
    f"probe some/model {FEW}": "models",
    f"probe smollm2 baseline:majority {FEW}": "models",
    f"probe baseline:uniform {FEW}": WORKS,
    f"probe baseline:frequency {FEW}": "models",
    "probe baseline:pixels --task malevic-sup1 --limit 2": REFUSED,
    "probe baseline:pixels --task prior-color --limit 2": "pictures",
    f"probe openai:x --base-url http://127.0.0.1:1/v1 {FEW}": "api",
    f"probe vllm:x {FEW}": "models",
    f"probe vision:x {FEW}": "models",
    f"probe clip-bert:x {FEW}": "models",
    f"probe openai-vision:x --base-url http://127.0.0.1:1/v1 {FEW}": "api",
    "probe minilm --how linear --task core-color": "models",
    "probe smollm2 --how learning-curve --task core-color": "models",
    "probe smollm2 --layers all --task core-color": "models",
    "compare runs": WORKS,
    "report runs": WORKS,
    "report runs --format csv": WORKS,
    "site runs -o site": WORKS,
    "score captions captions.txt captions.txt": WORKS,
    "score parses parses.txt parses.txt": WORKS,
    "judge preview core-color": "judge",
    "judge plan core-color": "judge",
    "judge serve core-color": "judge",
    "judge link study.sqlite": "judge",
    "judge withdraw study.sqlite code": "judge",
    "judge export study.sqlite -o people": "judge",
    "perplexity smollm2 captions.txt": "models",
    "relations find captions.txt": WORKS,
    "relations matrix smollm2 captions.txt -o matrix": "models",
    "relations test matrix": "relations",
    "relations page matrix -o matrix.html": "relations",
    "relations published --data .": "relations",
    "pretrain split captions.txt -o parts": WORKS,
    "pretrain trigram captions.txt -o captions.arpa": WORKS,
    "pretrain lstm captions.txt -o lstm": "models",
    "pretrain capbert captions.txt -o capbert": "models",
    "pretrain curve lstm": REFUSED,
    "perplexity captions.arpa captions.txt": WORKS,
    "mine --annotations coco:annotations -o knowledge": "mine",
    "rooms -n 1 -o rooms": "mine",
    "paper viphy --list": WORKS,
    "paper malevic --items 80": WORKS,
    "paper memory-colors": WORKS,
    "paper spatial-relations": WORKS,
    "pictures make -o pictures": "pictures",
    "pictures show": "pictures",
    "scenes make --items 40 --size 56 -o scenes": WORKS,
    "scenes show -o scenes.png": "scenes",
    "scenes stats --items 80": WORKS,
    "scenes fit judgements.csv": "scenes",
    "reasoner train film": "reasoners",
    "reasoner train film --preset cpu --items 16": "reasoners",
    "reasoner sweep -o sweep": "reasoners",
    "reasoner curve sweep": REFUSED,
    "reasoner diagnose sweep -o diagnosis.html": REFUSED,
}
"""What to type, and what the core alone makes of it: it works, or needs the extra of this name."""


class Blocker(PathFinder):
    """Finds no more than there is where some packages are not installed."""

    packages: frozenset[str] = frozenset()

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module, but none of these packages."""
        if fullname.partition(".")[0] in cls.packages:
            return None
        return super().find_spec(fullname, path, target)


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of each command and subcommand."""
    yield words
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from commands(command.get_command(None, name), (*words, name))


def call(words: Sequence[str]) -> dict[str, object]:
    """What a command prints and how it ends; what it raises but ought not to stands in "bug"."""
    from seesay.cli import main

    printed = io.StringIO()
    errors = io.StringIO()
    code: object = 0
    bug = ""
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        try:
            main(words)
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException:
            bug = traceback.format_exc()
    return {
        "words": list(words),
        "code": code,
        "out": printed.getvalue(),
        "err": errors.getvalue(),
        "bug": bug,
    }


def write_files() -> None:
    """Write what the calls read, into the working directory."""
    Path("captions.txt").write_text(CAPTIONS)
    Path("parses.txt").write_text("(S (NP (NN dogs)) (VP (VB bark)))\n")
    Path("things.csv").write_text("thing,color\nlemon,yellow\nsnow,white\ncoal,black\n")
    Path("annotations").mkdir()


def main() -> None:
    """Call every command and print what came of it."""
    if sys.argv[1:]:
        Blocker.packages = frozenset(sys.argv[1:])
        sys.meta_path[sys.meta_path.index(PathFinder)] = Blocker
    # one of the calls clears all caches: never those of this machine's user
    os.environ["SEESAY_CACHE"] = str(Path("cache").resolve())
    os.environ["SEESAY_DATA"] = str(Path("data").resolve())
    from typer.main import get_command

    from seesay.cli import app

    write_files()
    helps = [(*words, "--help") for words in commands(get_command(app))]
    calls = [tuple(words.split()) for words in CALLS]
    print(json.dumps([call(words) for words in (*helps, *calls)]))


if __name__ == "__main__":
    main()
