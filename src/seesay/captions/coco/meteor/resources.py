"""Where METEOR's English data come from. seesay contains none of them: they are WordNet's and
METEOR's.

The METEOR 1.5 jar is a zip with the lists of function words and abbreviations and the WordNet
files; the paraphrase table lies beside it. `pycocoevalcap` carries both. No Java is needed to read
them.
"""

from __future__ import annotations

import importlib.util
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from seesay.captions.caches import PARAPHRASES
from seesay.captions.coco.meteor.normalize import Prefixes
from seesay.captions.coco.meteor.paraphrases import Paraphrases, open_table
from seesay.captions.coco.meteor.wordnet import WordNet
from seesay.errors import UserError
from seesay.folders import data_folder

JAR, TABLE = "meteor-1.5.jar", "paraphrase-en.gz"
_LARGEST = 64 << 20
_MEMBERS = {
    "function": "function/english.words",
    "prefixes": "nonbreaking/english.prefixes",
    "synsets": "synonym/english.synsets",
    "exceptions": "synonym/english.exceptions",
}


@dataclass(frozen=True)
class MeteorResources:
    """What the matchers need. Without WordNet or paraphrases those matchers are left out, and the
    name says so."""

    function_words: frozenset[str] = frozenset()
    prefixes: Prefixes = field(default_factory=Prefixes)
    wordnet: WordNet | None = None
    paraphrases: Paraphrases | None = None

    @property
    def modules(self) -> str:
        """The matchers in short, as METEOR writes them: exact, stem, synonym, paraphrase."""
        return "_".join(
            ["ex", "st"] + ["sy"] * bool(self.wordnet) + ["pa"] * bool(self.paraphrases)
        )

    @property
    def complete(self) -> bool:
        """Whether this is METEOR and not a lesser variant."""
        return bool(self.wordnet and self.paraphrases and self.function_words)


def find(folder: Path | None = None) -> tuple[Path | None, Path | None]:
    """The jar and the paraphrase table: in the folder given or of `SEESAY_METEOR`, the data folder,
    pycocoevalcap."""
    named = folder or (
        Path(os.environ["SEESAY_METEOR"]) if os.environ.get("SEESAY_METEOR") else None
    )
    if named is not None:
        if not named.is_dir():
            raise UserError(f"There is no folder {named} with METEOR's data ({JAR} and {TABLE}).")
        places = [named]
    else:
        places = [data_folder() / "meteor"]
        spec = importlib.util.find_spec("pycocoevalcap")
        places += [
            Path(place) / "meteor"
            for place in (spec.submodule_search_locations or [] if spec else [])
        ]
    jar = next((place / JAR for place in places if (place / JAR).is_file()), None)
    tables = [place / part for place in places for part in (TABLE, f"data/{TABLE}")]
    table = next((path for path in tables if path.is_file()), None)
    if named is not None and jar is None:
        raise UserError(f"There is no {JAR} in {named}.")
    return jar, table


def load(
    folder: Path | None = None, notify: Callable[[str], None] | None = None
) -> MeteorResources:
    """What can be found; nothing at all gives the exact and stem matchers without function words.

    `notify` is called before work that takes a while.
    """
    jar, table = find(folder)
    if jar is None:
        return MeteorResources()
    texts = _read(jar)
    return MeteorResources(
        frozenset(texts["function"].split()),
        Prefixes.parse(texts["prefixes"]),
        WordNet(texts["synsets"], texts["exceptions"]),
        open_table(table, PARAPHRASES.folder, notify) if table else None,
    )


def _read(jar: Path) -> dict[str, str]:
    texts = {}
    try:
        with zipfile.ZipFile(jar) as archive:
            for name, member in _MEMBERS.items():
                if archive.getinfo(member).file_size > _LARGEST:
                    raise UserError(f"{member} in {jar} is too large to be METEOR's.")
                texts[name] = archive.read(member).decode("utf-8")
    except KeyError as error:
        raise UserError(f"{jar} is not the METEOR 1.5 jar: {error.args[0]}") from error
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise UserError(f"{jar} cannot be read as the METEOR 1.5 jar: {error}.") from error
    return texts
