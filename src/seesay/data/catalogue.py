"""The published data sets that tasks read: what they are, where they come from, and what may be done with them.

None of the files is part of seesay. An address names one commit, so that it and the checksum stay true together.
"""

from __future__ import annotations

from dataclasses import dataclass

_GITHUB = "https://raw.githubusercontent.com"
_COMMONSENSE = f"{_GITHUB}/lovhag/measure-visual-commonsense-knowledge/8b2cac35bd982d1f8049202aaf68879b5b7943ff"
_COCO = f"{_GITHUB}/tylin/coco-caption/9cfd5a30783114a9fb43e4187067c63e553925d5/pycocoevalcap/meteor"
_VERB_PHYSICS = (
    f"{_GITHUB}/uwnlp/verbphysics/7028b3acd7f70e967433453929b8bdbce73bbe28/data/verbphysics/objects/train-20"
)
_NUMERSENSE = f"{_GITHUB}/INK-USC/NumerSense/c5cd7347bceb3698556c3aa1f0e8489d3d827098/data"
_CODA = f"{_GITHUB}/nala-cub/coda/602744564b2bc771baee3bbc3d5648d2edd954f5/projects/coda/data/coda"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file. Without an address it cannot be fetched; without a checksum any file of that name is taken."""

    name: str
    address: str | None = None
    sha256: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class DataSet:
    """A published data set. `request` says how to get one that is given out only on request."""

    name: str
    title: str
    files: tuple[DataFile, ...]
    licence: str
    citation: str
    home: str
    task: str
    request: str = ""

    @property
    def fetchable(self) -> bool:
        """Whether every file has an address."""
        return all(file.address for file in self.files)


def _files(folder: str | None, *rows: tuple[str, int, str]) -> tuple[DataFile, ...]:
    """Files by name, size and checksum; `folder` is the address they lie under, if they can be fetched."""
    return tuple(DataFile(name, folder and f"{folder}/{name}", sha256, size) for name, size, sha256 in rows)


HAGSTROM_JOHANSSON = (
    "Lovisa Hagström and Richard Johansson. 2022. What do Models Learn From Training on More Than Text? Measuring "
    "Visual Commonsense Knowledge. ACL Student Research Workshop, 252–261."
)
NORLUND = (
    "Tobias Norlund, Lovisa Hagström and Richard Johansson. 2021. Transferring Knowledge from Vision to Language: "
    "How to Achieve it and how to Measure it? BlackboxNLP."
)
DENKOWSKI_LAVIE = (
    "Michael Denkowski and Alon Lavie. 2014. Meteor Universal: Language Specific Translation Evaluation for Any Target "
    "Language. EACL Workshop on Statistical Machine Translation."
)
PAIK = (
    "Cory Paik, Stéphane Aroca-Ouellette, Alessandro Roncone and Katharina Kann. 2021. The World of an Octopus: How "
    "Reporting Bias Influences a Language Model's Perception of Color. EMNLP."
)
SINGH = (
    'Shikhar Singh, Ehsan Qasemi and Muhao Chen. 2023. VIPHY: Probing "Visible" Physical Commonsense Knowledge. '
    "Findings of EMNLP."
)
DEVEREUX = (
    "Barry J. Devereux, Lorraine K. Tyler, Jeroen Geertzen and Billi Randall. 2014. The Centre for Speech, Language "
    "and the Brain (CSLB) concept property norms. Behavior Research Methods 46, 1119–1127."
)

FORBES_CHOI = (
    "Maxwell Forbes and Yejin Choi. 2017. Verb Physics: Relative Physical Knowledge of Actions and Objects. ACL, "
    "266–276."
)
LIN = (
    "Bill Yuchen Lin, Seyeon Lee, Rahul Khanna and Xiang Ren. 2020. Birds have four legs?! NumerSense: Probing "
    "Numerical Commonsense Knowledge of Pre-Trained Language Models. EMNLP, 6862–6868."
)

_VIPHY = (
    ("results/colors.json", 1_429_356, "7905d615f0041790166ff7aa99b19cdcdd96e4d65942fc303bdf02534f1d81b4"),
    ("results/col_meta.csv", 310_922, "a87640e843bbf91405373348106a9f1b514dc0d93100c6a50ea89c13fd749ad6"),
    ("results/size.csv", 926_096, "a6549ad67d13ec57fbc69a88b49ce328076e768fdedb525b28f51780f68a5e14"),
    ("results/spatial.csv", 315_257, "d3f39da4f98a4b39ed31261f06fa77a69de6787e722261e08c2e037dc1e4dccf"),
    ("dataset/size_sub/test.csv", 845_406, "be61a39b935daf02006def5b31af37cd8478432e957d7fa04b3ee702d9f73e6d"),
    ("dataset/size_trans/test.csv", 468_003, "5fa03093641c1c08fbf21af41979c9c3379754f9766852b4c4b2eef28595320a"),
    ("data/object_names_c5.json", 439_850, "fcfa0ba316b6a21c050ba3eb0fbead4fcaa92d8452b0753755bbd55283ec1efb"),
    ("data/object_subtypes_o100_s10.json", 695_202, "81734f00a38cc9fe74603f0486a0b6915680f7c857f9ac5c8d44743dad96d643"),
    ("extra/obj2cat.json", 364_290, "d2eba43bb265a10cea3db488bb0bed4a0ce896ea26bb742c156b6a2f6fa7e08d"),
)

CATALOGUE: dict[str, DataSet] = {
    entry.name: entry
    for entry in (
        DataSet(
            name="memory-colors",
            title="Memory Colors: 109 things and the colour each is remembered by",
            files=_files(
                f"{_COMMONSENSE}/memory_colors/data",
                ("memory_colors.jsonl", 25_438, "e5e3bd2993bf5a464066f9f46f6bfeb73ab8b969d7d5d52a6689fc7a56e0364b"),
            ),
            licence="none stated; read it, do not pass it on",
            citation=f"{NORLUND} {HAGSTROM_JOHANSSON}",
            home="https://github.com/lovhag/measure-visual-commonsense-knowledge",
            task="memory-colors",
        ),
        DataSet(
            name="property-norms",
            title="Visual Property Norms: the 614 answer words, and the articles of 638 concepts",
            files=_files(
                f"{_COMMONSENSE}/visual_property_norms/data",
                ("labels.txt", 4_095, "1e6b05effcac73abe0781ca91703792a1ad2d1a934145b762e6155203bbeab27"),
                ("descriptors.csv", 6_007, "91e0e31378d22d95252a729de0f7a862df457a593405816fd130c883857c050d"),
            ),
            licence="none stated; derived from the CSLB norms: read it, do not pass it on",
            citation=f"{HAGSTROM_JOHANSSON} {DEVEREUX}",
            home="https://github.com/lovhag/measure-visual-commonsense-knowledge",
            task="property-norms",
        ),
        DataSet(
            name="cslb-norms",
            title="The CSLB concept property norms: what 30 people say of each of 638 concepts",
            files=(DataFile("norms.dat"),),
            licence="given out on request, for research; may not be passed on",
            citation=DEVEREUX,
            home="https://cslb.psychol.cam.ac.uk/propnorms",
            task="property-norms",
            request="ask the Centre for Speech, Language and the Brain, Cambridge: https://cslb.psychol.cam.ac.uk/propnorms",
        ),
        DataSet(
            name="coda",
            title="CoDa: how annotators spread eleven colours over 521 kinds of things",
            files=_files(
                _CODA,
                ("annotations.jsonl", 773_232, "3cf9c4e85264712a907cf3a2947bf34a0016483b980e11c8cef5eec3a1aa5bd0"),
                ("objects.jsonl", 76_249, "0b36761456f6c84eebd539b2ef3643373790c6544235d81855554ed4778ca8fa"),
            ),
            licence="Apache-2.0",
            citation=PAIK,
            home="https://github.com/nala-cub/coda",
            task="coda",
        ),
        DataSet(
            name="viphy",
            title="ViPhy: the colours of 13,250 things, sizes of 43,096 pairs, places of 6,570 pairs in scenes",
            files=_files(None, *_VIPHY),
            licence="none stated; read it, do not pass it on",
            citation=SINGH,
            home="https://github.com/Axe--/ViPhy",
            task="viphy-color, viphy-size, viphy-size-subtype, viphy-size-transitive, viphy-space",
            request="clone https://github.com/Axe--/ViPhy and give its folder",
        ),
        DataSet(
            name="verb-physics",
            title="Verb Physics: 3,656 pairs of things, which is larger, heavier, stronger, more rigid, faster",
            files=_files(
                _VERB_PHYSICS,
                ("train.csv", 29_875, "0c060aed02424470997c1799e669904523337c2a6b65042d122c300242f47ff4"),
                ("dev.csv", 44_861, "9d53d375b2ad07762058e24b98c8551045596d2b574ead3295ac893d37d56779"),
                ("test.csv", 75_365, "62d2236b86b3c99c4b6a633767109fe496bab6c3ddd30ae7d20cc1861abf86e8"),
            ),
            licence="MIT",
            citation=FORBES_CHOI,
            home="https://github.com/uwnlp/verbphysics",
            task="verb-physics-size",
        ),
        DataSet(
            name="numersense",
            title="NumerSense: sentences with a number word to fill in, 200 of them with checked answers",
            files=_files(
                _NUMERSENSE,
                ("train.masked.tsv", 763_185, "34cd706f4070907b8a9fa7200504bea099a6f34a343e282ae4f3a987ecd63d95"),
                ("validation.masked.tsv", 11_230, "2859e959e533ccdd9f7e2666425787f266cef300e183834d55a1324b69874b44"),
            ),
            licence="MIT",
            citation=LIN,
            home="https://github.com/INK-USC/NumerSense",
            task="numersense",
        ),
        DataSet(
            name="meteor",
            title="METEOR 1.5: function words, WordNet and the English paraphrase table",
            files=(
                *_files(
                    _COCO,
                    ("meteor-1.5.jar", 6_318_693, "1e57b4c72c0830ebe68558f1c799a624e96cbc1b6045c9f6330e26dcff6eafc2"),
                ),
                *_files(
                    f"{_COCO}/data",
                    (
                        "paraphrase-en.gz",
                        61_813_011,
                        "c147ac7d2c91f2fbb3ad31e4b352235061eb83145e0434daf217ee9ca5975f48",
                    ),
                ),
            ),
            licence="LGPL; WordNet under its own licence, inside the jar",
            citation=DENKOWSKI_LAVIE,
            home="https://www.cs.cmu.edu/~alavie/METEOR/",
            task="score captions",
        ),
    )
}
