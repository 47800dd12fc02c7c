"""Where METEOR's English data come from.

seesay contains none of them: they are WordNet's and METEOR's.

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

JAR = "meteor-1.5.jar"
TABLE = "paraphrase-en.gz"
# A member of the jar says itself how large it is: one that would fill the memory is not METEOR's.
_LARGEST = 64 << 20
_MEMBERS = {
    "function": "function/english.words",
    "prefixes": "nonbreaking/english.prefixes",
    "synsets": "synonym/english.synsets",
    "exceptions": "synonym/english.exceptions",
}


@dataclass(frozen=True)
class MeteorResources:
    """What the matchers need.

    Without WordNet or paraphrases those matchers are left out, and the metric's name says so.
    """

    function_words: frozenset[str] = frozenset()
    """Words that weigh less than content words."""
    prefixes: Prefixes = field(default_factory=Prefixes)
    """Words whose full stop ends no sentence."""
    wordnet: WordNet | None = None
    paraphrases: Paraphrases | None = None

    @property
    def modules(self) -> str:
        """The matchers in short, as METEOR writes them: exact, stem, synonym, paraphrase."""
        modules = ["ex", "st"]
        if self.wordnet:
            modules.append("sy")
        if self.paraphrases:
            modules.append("pa")
        return "_".join(modules)

    @property
    def complete(self) -> bool:
        """Whether this is METEOR and not a lesser variant."""
        return bool(self.wordnet and self.paraphrases and self.function_words)


def find(folder: Path | None = None) -> tuple[Path | None, Path | None]:
    """Find the jar and the paraphrase table.

    They are in the folder, given here or by `SEESAY_METEOR`; without one in the data folder, or in
    pycocoevalcap.
    """
    if folder is None and os.environ.get("SEESAY_METEOR"):
        folder = Path(os.environ["SEESAY_METEOR"])
    if folder is None:
        places = _usual_places()
    elif folder.is_dir():
        places = [folder]
    else:
        raise UserError(f"There is no folder {folder} with METEOR's data ({JAR} and {TABLE}).")
    jar = _first_file([place / JAR for place in places])
    if folder is not None and jar is None:
        raise UserError(f"There is no {JAR} in {folder}.")
    tables = []
    for place in places:
        tables += [place / TABLE, place / "data" / TABLE]
    return jar, _first_file(tables)


def _usual_places() -> list[Path]:
    """Return the folders where METEOR's data may lie when none was named."""
    places = [data_folder() / "meteor"]
    # Asking for the package's place does not import it: its modules need Java's tools.
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is not None:
        places += [Path(place) / "meteor" for place in spec.submodule_search_locations or []]
    return places


def _first_file(paths: list[Path]) -> Path | None:
    """Return the first of the paths that is a file."""
    return next((path for path in paths if path.is_file()), None)


def load(
    folder: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> MeteorResources:
    """Load what can be found of METEOR's data.

    Without any, the exact and the stem matcher are left, and no function words.

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
    """Read the members of the jar, which is a zip, as text."""
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
