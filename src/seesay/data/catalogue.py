"""The published data sets that tasks read: what they are, where they come from, and what may be done with them.

None of the files is part of seesay. An address names one commit, so that it and the checksum stay true together.
"""

from __future__ import annotations

from dataclasses import dataclass

_GITHUB = "https://raw.githubusercontent.com"
_COMMONSENSE = f"{_GITHUB}/lovhag/measure-visual-commonsense-knowledge/8b2cac35bd982d1f8049202aaf68879b5b7943ff"
_COCO = f"{_GITHUB}/tylin/coco-caption/3a9afb2682141a03e1cdc02b0df6770d2c884f6f/pycocoevalcap/meteor"
_VERB_PHYSICS = (
    f"{_GITHUB}/uwnlp/verbphysics/7028b3acd7f70e967433453929b8bdbce73bbe28/data/verbphysics/objects/train-20"
)
_PROST = f"{_GITHUB}/nala-cub/prost/32af8d87be2c5a9bb9b02e82582eb0d5a955bf18/data/prost"
_VSR = f"{_GITHUB}/cambridgeltl/visual-spatial-reasoning/b27a0af0ee1462d2b6b92c8c83e869d9254a241a/data/splits"
_IMAGENETVC = f"{_GITHUB}/hemingkx/ImageNetVC/fec7408b8888e430fdfbd9d7be3cbd8f23ea3605/datasets"
_SPATIAL = f"{_GITHUB}/xxxiaol/spatial-commonsense/5e4d506233bcc842c17e046e91e90f7f33ee2530/data"
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
    "Maxwell Forbes and Yejin Choi. 2017. Verb Physics: Relative Physical Knowledge of Actions and Objects. ACL."
)
AROCA_OUELLETTE = (
    "Stéphane Aroca-Ouellette, Cory Paik, Alessandro Roncone and Katharina Kann. 2021. PROST: Physical Reasoning about "
    "Objects through Space and Time. Findings of ACL-IJCNLP, 4597–4608."
)
HEBART = (
    "Martin N. Hebart, Oliver Contier, Lina Teichmann, et al. 2023. THINGS-data, a multimodal collection of "
    "large-scale datasets for investigating object representations in human brain and behavior. eLife 12:e82580."
)
LIU_EMERSON = "Fangyu Liu, Guy Emerson and Nigel Collier. 2023. Visual Spatial Reasoning. TACL 11."
LIU_YIN = (
    "Xiao Liu, Da Yin, Yansong Feng and Dongyan Zhao. 2022. Things not Written in Text: Exploring Spatial Commonsense "
    "from Visual Signals. ACL, 2365–2376."
)
XIA = (
    "Heming Xia, Qingxiu Dong, Lei Li, Jingjing Xu, Tianyu Liu, Ziwei Qin and Zhifang Sui. 2023. ImageNetVC: Zero- and "
    "Few-Shot Visual Commonsense Evaluation on 1000 ImageNet Categories. Findings of EMNLP."
)
LIN = (
    "Bill Yuchen Lin, Seyeon Lee, Rahul Khanna and Xiang Ren. 2020. Birds have four legs?! NumerSense: Probing "
    "Numerical Commonsense Knowledge of Pre-Trained Language Models. EMNLP."
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
            files=_files(f"{_GITHUB}/Axe--/ViPhy/d132ce2cb4619c373ce9b31e1b44841c075ea34b", *_VIPHY),
            licence="none stated; read it, do not pass it on",
            citation=SINGH,
            home="https://github.com/Axe--/ViPhy",
            task="viphy-color, viphy-size, viphy-size-subtype, viphy-size-transitive, viphy-space",
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
            task=", ".join(f"verb-physics-{name}" for name in ("size", "weight", "strength", "rigidness", "speed")),
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
            name="prost",
            title="PROST: templates and word lists that expand to 18,736 questions about ten physical concepts",
            files=(
                *_files(
                    _PROST,
                    ("bouncing.yml", 3_632, "85ef0256362cdbb9321b1a43ec8df28f2994d05e4808e357132741c9983f74d7"),
                    ("breaking.yml", 2_705, "2b46107a0dc74cca2f7aa6fab3ef97a31fb761e7500836bbc5354e0921e0ea11"),
                    ("circumference.yml", 1_532, "baef732b3aadb58770013e76ba0211f8fec39a42b5e31404806fcd381e1c947e"),
                    ("directions.yml", 1_884, "8b458c45a2306ea626c569cb04d4dd36309c76e7c33ed49fec117ca19e3822ed"),
                    ("grasping.yml", 3_418, "524d60e7cc395e912e10943822ba4bb4bc5bcc5c73bc947e36d6df4900f5f29e"),
                    ("height.yml", 1_979, "202b30e57ed21a140b8682e697b8400a3d037722260e1842030274696ba6df8c"),
                    ("mass.yml", 1_289, "e8625f6fbe5ce32bcf2062ecbb1597283308cb6ef1c1ed0b6e7258b9c1c6f1dd"),
                    ("rolling.yml", 2_520, "003c37f5771af988c5e4b5c85627d4fd612044524c3f1f41bd914f6355cf198e"),
                    ("sliding.yml", 4_181, "9dff71028a0db58e895c2a190b01c3012b0f16397f6632c2b8942acab4a5c8ee"),
                    ("stacking.yml", 2_665, "8fd4439f5238bcf4864b06a54ebd7e45fd390d3fcf7234b5ea310751a7f0b4a4"),
                ),
                *_files(
                    f"{_PROST}/globals",
                    ("lexicons.yml", 1_213, "df508518b28a9a639565f442e9d234b997f277f2c57938363b3de7cc1369d054"),
                ),
            ),
            licence="Apache-2.0",
            citation=AROCA_OUELLETTE,
            home="https://github.com/nala-cub/prost",
            task="prost",
        ),
        DataSet(
            name="vsr",
            title="Visual Spatial Reasoning: sentences about COCO pictures with validators' votes (no pictures)",
            files=_files(
                _VSR,
                ("random/train.jsonl", 2_362_151, "8b725a8621f2d0f94745f1fefdcf3ff8a7eb96fd358676296ff9c9a4ff463c6e"),
                ("random/dev.jsonl", 338_049, "90de24b811597a913310d043758f1119a1ba9ebf1b1ca8f1e27c4907f01980d4"),
                ("random/test.jsonl", 674_712, "8ade82a0b93ac9dc1e53f6cf1f11e9d5536776a3715102b6b4d27d4f81d551cc"),
                ("zeroshot/train.jsonl", 1_114_884, "62daf2c5d573667038f88feaf1d26a1154c892083a72d83ed5c7551666ed3066"),
                ("zeroshot/dev.jsonl", 107_245, "0abda42fe9333ab6a8671b32886738b5cfa6d37a8c277b56d8368c339c8dffce"),
                ("zeroshot/test.jsonl", 380_380, "914d9156723b912d8f794b179248af865a68c5f81c9d8e3a21d007778cacaad4"),
            ),
            licence="Apache-2.0; the pictures are COCO's",
            citation=LIU_EMERSON,
            home="https://github.com/cambridgeltl/visual-spatial-reasoning",
            task="vsr-random, vsr-zeroshot",
        ),
        DataSet(
            name="spatial-commonsense",
            title="Spatial commonsense: 500 size pairs, 500 height pairs, 224 sentences about positions",
            files=tuple(
                DataFile(f"{name}.json", f"{_SPATIAL}/{name}/data.json", sha256, size)
                for name, size, sha256 in (
                    ("size", 64_690, "fba265f731ae7fbd2c0a35d79078dc6f0bd8193996a28d010810b0d0781bc9eb"),
                    ("height", 68_210, "0ebcffb663ffdbbbfa796aabc43f8543186e1138455efdbfb5f4c6be62d55b9e"),
                    ("posrel", 20_020, "b15240e80e5f15664e0114ff6441ba493d3e5a006f21d09060e483aae1b5b6e1"),
                )
            ),
            licence="none stated; read it, do not pass it on",
            citation=LIU_YIN,
            home="https://github.com/xxxiaol/spatial-commonsense",
            task="spatial-commonsense-size, spatial-commonsense-height, spatial-commonsense-posrel",
        ),
        DataSet(
            name="imagenetvc",
            title="ImageNetVC: 4,076 questions on 1,000 ImageNet categories, and examples for in-context learning",
            files=_files(
                _IMAGENETVC,
                ("color.csv", 33_111, "16871521ebbfcf35888b10e8d359d71de3d2af5558bb101c6a7f576c66a1f2d7"),
                ("shape.csv", 25_316, "01e0ebafb6a1e9b77417fb1b79b5d25c257c0eca03fd611b76fa8fa5589a2fe5"),
                ("material.csv", 24_334, "2ca6bca822ca62246d9caed612020c70d58f9406a5f2518681fd125e76d5ec8a"),
                ("component.csv", 56_135, "0791534d083ad02129d6eefc06e12846790ed2b15ce9480b903b8d623b13b452"),
                ("others.csv", 85_042, "b0fbaf87d7e4d06f21582e009c80d453ae48faf1d0be09d473481cccf3307d43"),
                ("dev/color.csv", 288, "033ce68ca13a2aa67c6d1b9e6b75fd1c4bd66c8120443801486003e2b34e162e"),
                ("dev/shape.csv", 323, "f66ee89080fdaa8e837f1a288881992e55ecea16728a34122eeaa0b9cb2af7dc"),
                ("dev/material.csv", 318, "7fb1bf1a1b2057cf6ae2f922850c492a70366dd2b7ee2422ae46e69d2151d84e"),
                ("dev/component.csv", 275, "dc5f290065219985b845d654c55de3d3c1542a07949e2fb5f6f9a72cccf0a7e7"),
                ("dev/others_number.csv", 312, "14f5447a4c189d9e61cbff26c82952b0caa0bb9e57e21d7370074d8321f62e62"),
                ("dev/others_other.csv", 325, "cf0db58405f4c53b585a6c400eee911ac8c5c8b49325ebfc69a4cfa4c9dddc41"),
                ("dev/others_yes.csv", 262, "b2abb35394f82dd5044f2bb3ef4bba4732658cfb01f874e6e6eb557a603844e1"),
            ),
            licence="none stated; read it, do not pass it on",
            citation=XIA,
            home="https://github.com/hemingkx/ImageNetVC",
            task=", ".join(f"imagenetvc-{name}" for name in ("color", "shape", "material", "component", "others")),
        ),
        DataSet(
            name="things-sizes",
            title="THINGS: how large people think each of 1,854 things is (the columns that are asked are embedded)",
            files=_files(
                f"{_GITHUB}/ViCCo-Group/THINGS-data/5e0eccac51eac78b57045f5b90b4f53814f56c32/MRI/data",
                ("size_fixed.csv", 409_039, "6a14e7f359e2698231b49210aeb5e4a6878f1337aa19529b04220bac172ea042"),
            ),
            licence="CC0-1.0",
            citation=HEBART,
            home="https://github.com/ViCCo-Group/THINGS-data",
            task="things-size",
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
