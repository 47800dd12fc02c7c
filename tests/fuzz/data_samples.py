"""Readers of parses, annotated pictures, published data and studies, with small good files to begin
from."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.fuzz.samples import COCO, REGIONS, add, as_bytes, json_lines, npy, parquet
from tests.fuzz.samples import READERS as READERS
from tests.judge.studies import task as colour_task
from tests.runs.logs.test_inspect import archive, summary
from tests.runs.logs.test_lm_eval import sample
from tests.runs.logs.test_pairing import rows as log_rows
from tests.runs.logs.test_read import instance

from seesay.captions.coco.meteor.paraphrases import open_table
from seesay.captions.parses.parameters import read_parameters
from seesay.captions.parses.trees import read_trees
from seesay.captions.scoring import score_parses
from seesay.data import knowledge, viphy
from seesay.data.colors import COLORS
from seesay.judge.results.imported import import_answers
from seesay.judge.signed_ids import SignedIds
from seesay.judge.storage.studies import create_or_open_study, open_study
from seesay.judge.study import StudyDesign
from seesay.judge.study_builder import study_from_pairs, study_from_task
from seesay.language.relations import published as relations_published
from seesay.language.relations.correlation import read_human
from seesay.language.relations.vectors import read_vectors
from seesay.mining import conceptnet, wordnet
from seesay.mining import readers as annotation_readers
from seesay.mining.records import SCHEMA
from seesay.runs.logs.items import LogKeys
from seesay.runs.logs.pairing import read_logs
from seesay.tasks import coda, property_norms

TREES = (
    "(S (NP (DT the) (NN dog)) (VP (VBZ is) (ADJP (JJ red))))\n\n"
    "(ROOT\n  (S (NP (NNP Ann)) (VP (VBZ sees))))\n"
)
add("parses", "parses.txt", [TREES, TREES.split("\n\n")[0]], read_trees)
add(
    "parse-scores",
    "parses.txt",
    [TREES.split("\n\n")[0]],
    lambda path: score_parses(path.with_name("gold.txt"), path, resamples=100).figures,
    beside={"gold.txt": TREES.split("\n\n")[0].encode()},
)
add(
    "evalb",
    "evalb.prm",
    ["DEBUG 0\nMAX_ERROR 10\nCUTOFF_LEN 40\nLABELED 1\nDELETE_LABEL TOP\nEQ_LABEL ADVP PRT\n# x\n"],
    read_parameters,
)

PICTURE = {
    "id": "1",
    "width": 64,
    "height": 48,
    "regions": [{"name": "dog", "box": [1, 2, 3, 4], "polygon": [1, 2, 3, 2, 3, 4]}],
    "captions": ["a dog"],
}
add(
    "mine-plain",
    "pictures.jsonl",
    [json_lines(PICTURE, PICTURE | {"id": 2, "path": "x.png"})],
    lambda path: annotation_readers.read(f"plain:{path}"),
)
add(
    "mine-parquet",
    "pictures.parquet",
    [
        parquet(
            [{"id": "1", "width": 64, "height": 48}],
            pa.schema([f for f in SCHEMA if f.name in ("id", "width", "height")]),
        )
    ],
    lambda path: annotation_readers.read(f"plain:{path}"),
)
add(
    "mine-coco",
    "instances.json",
    [COCO],
    lambda path: annotation_readers.read(
        f"coco:{path}", None if len(path.read_bytes()) % 2 else path.parent
    ),
)
VG = [{"image_id": 1, "width": 64, "height": 48}, {"image_id": 2, "width": 64, "height": 48}]
VG_OBJECTS = [
    {"image_id": 1, "objects": [{"object_id": 5, "names": ["dog"], "x": 1, "y": 2, "w": 3, "h": 4}]}
]
VG_FILES = {"image_data.json": VG, "objects.json": VG_OBJECTS, "region_descriptions.json": REGIONS}
for name in VG_FILES:
    add(
        f"mine-vg-{name}",
        name,
        [VG_FILES[name]],
        lambda path: annotation_readers.read(f"visual-genome:{path.parent}"),
        beside={other: as_bytes(value) for other, value in VG_FILES.items() if other != name},
    )
ADE = {
    "annotation": {
        "filename": "a.jpg",
        "folder": "x",
        "imsize": [48, 64, 3],
        "scene": ["street"],
        "object": [
            {
                "id": 0,
                "raw_name": "dog",
                "name": "dog, canine",
                "polygon": {"x": [1, 9, 9], "y": [1, 1, 9]},
                "parts": {"part_level": 0, "hasparts": [], "ispartof": []},
            }
        ],
    }
}
add(
    "mine-ade20k",
    "a/a.json",
    [ADE],
    lambda path: annotation_readers.read(f"ade20k:{path.parent.parent}"),
)
add(
    "conceptnet",
    "isa.ndjson",
    [json_lines({"concept": "animal", "emittingConcepts": ["dog", "cat"]})],
    lambda path: conceptnet.hyponyms(["dog", "animal"], path),
)
NOUN_DATA = (
    "  1 licence\n00001740 05 n 01 animal 0 001 ~ 00001930 n 0000 | lives\n"
    "00001930 05 n 01 dog 0 001 @ 00001740 n 0000 | barks\n"
)
NOUN_INDEX = "  1 licence\nanimal n 1 1 ~ 1 0 00001740\ndog n 1 1 @ 1 0 00001930\n"
add(
    "wordnet-data",
    "data.noun",
    [NOUN_DATA],
    lambda path: wordnet.hyponyms(["dog", "animal"], path.parent),
    beside={"index.noun": NOUN_INDEX.encode()},
)
add(
    "wordnet-index",
    "index.noun",
    [NOUN_INDEX],
    lambda path: wordnet.hyponyms(["dog", "animal"], path.parent),
    beside={"data.noun": NOUN_DATA.encode()},
)

add(
    "viphy-colors",
    "color.json",
    [{"apple": {"red": 0.75, "green": 0.25}}],
    lambda path: viphy.read(path, knowledge.ColorFact),
)
add(
    "viphy-subtypes",
    "subtypes.json",
    [{"dog": {"poodle": 3}}],
    lambda path: viphy.read(path, knowledge.SubtypeFact),
)
add("viphy-categories", "categories.json", [{"dog": "animal"}], viphy.categories)
add(
    "viphy-sizes",
    "sizes.csv",
    ["o1,o2,>,<,typical\ncar,ant,9,0,>\n"],
    lambda path: viphy.read(path, knowledge.SizeFact),
)
add(
    "viphy-places",
    "places.csv",
    ["scene,o1,o2,>,=,<,typical\nroom,lamp,floor,9,1,0,>\n"],
    lambda path: viphy.read(path, knowledge.PlaceFact),
)


def _add_knowledge(fact: Any) -> None:
    columns = knowledge.schema(fact)
    values = {
        pa.string(): "dog",
        pa.int64(): 1,
        pa.list_(pa.string()): ["red"],
        pa.list_(pa.float64()): [0.5],
    }
    seed = parquet([{column.name: values[column.type] for column in columns}], columns)
    name = f"knowledge-{fact.__name__}"
    add(name, knowledge.FILES[fact], [seed], lambda path: knowledge.read_checked(path.parent, fact))


for fact in (knowledge.ColorFact, knowledge.SizeFact, knowledge.PlaceFact):
    _add_knowledge(fact)

NORMS = (
    "domain\tfeature type\tconcept\tfeature\tpf\tfeature alternatives\tparticipant list\n"
    "animal\tvisual perceptual\tdog\thas legs\t20\thas legs; has four legs\t1;2\n"
    "food\tvisual perceptual\tapple\tis red\t12\tis red\t3\n"
)
add("norms", "norms.dat", [NORMS], property_norms.read_norms)
add("norms-words", "words.txt", ["red\nlegs\n"], property_norms.read_words)
add(
    "norms-articles",
    "articles.csv",
    ["concept,descriptor\ndog,a\napple,an\n"],
    property_norms.read_articles,
)
CODA = {
    "annotations.jsonl": json_lines(
        {"class_id": "/m/1", "worker_id": 1, "included": True} | dict.fromkeys(COLORS, 1),
        {"class_id": "/m/1", "worker_id": 2, "included": False},
    ),
    "objects.jsonl": json_lines(
        {"class_id": "/m/1", "display_name": "Apple", "object_pl": "apples", "areis_pl": "are"}
    ),
}
for name in CODA:
    add(
        f"coda-{name}",
        name,
        [CODA[name]],
        lambda path: coda.load(path.parent).questions,
        beside={other: text.encode() for other, text in CODA.items() if other != name},
    )

VECTORS = "3 2\nabove 0.1 0.2\nover 0.2 0.1\nin_front_of 1 1\n"
add(
    "vectors",
    "vectors.txt",
    [VECTORS, VECTORS.partition("\n")[2], gzip.compress(VECTORS.encode(), mtime=0)],
    lambda path: read_vectors(path, ["above", "over"]).words,
)
add(
    "vectors-binary",
    "vectors.bin",
    [
        b"2 2\nabove "
        + np.array([1, 2], np.float32).tobytes()
        + b"\nover "
        + np.array([1, 2], np.float32).tobytes()
    ],
    lambda path: read_vectors(path, ["above", "over"]).words,
)
add(
    "ratings",
    "human.csv",
    ["a,b,similarity\nabove,over,0.9\nabove,below,0.1\n", ",above,over\nabove,1,0.9\nover,0.8,1\n"],
    lambda path: read_human(path).pairs if hasattr(read_human(path), "pairs") else None,
)
PUBLISHED = {
    "words_contexts.npy": npy([["above", "over"], ["c1", "c2"]]),
    "spatial_lexicon.npy": npy(["above", "over"]),
    "composit2simple.npy": npy([["in front of"], ["front"]]),
    "perplexity_vectors.npy": npy([[1.0, 2.0], [3.0, 4.0]]),
    "embeddings.npy": npy([[1.0, 2.0], [3.0, 4.0]]),
    "logan_sadler_templates.csv": (
        "relation," + ",".join(f"c{i}" for i in range(7)) + "\n" + "above,1,2,3,4,5,6,7\n" * 7
    ).encode(),
    "word_association_from_figure.csv": b",above,over\nabove,1,0.9\nover,0.8,1\n",
    "word_similarity_judgments_from_figure.csv": b",above,over\nabove,1,0.9\nover,0.8,1\n",
}
for name in (
    "words_contexts.npy",
    "perplexity_vectors.npy",
    "composit2simple.npy",
    "logan_sadler_templates.csv",
):
    add(
        f"relations-{name}",
        name,
        [PUBLISHED[name]],
        lambda path: relations_published.read(path.parent) and None,
        beside={other: value for other, value in PUBLISHED.items() if other != name},
    )

add(
    "paraphrases",
    "paraphrase.gz",
    [gzip.compress(b"0.5\nthe dog\na dog\n0.25\nred\nscarlet\n", mtime=0)],
    lambda path: open_table(path, path.parent / "cache") and None,
)
add(
    "study-pairs",
    "pairs.csv",
    ["a,b,similarity\nabove,over,0.9\nabove,below,0.1\nleft,right,\n"],
    lambda path: study_from_pairs(path, StudyDesign()).items,
)


def _study() -> bytes:
    with tempfile.TemporaryDirectory() as temporary:
        pairs = Path(temporary) / "pairs.csv"
        pairs.write_text("a,b\nabove,over\n", encoding="utf-8")
        with create_or_open_study(
            str(pairs), location=f"{temporary}/s.sqlite", password="a long password"
        ):
            pass
        return (Path(temporary) / "s.sqlite").read_bytes()


def _open_study(path: Path) -> None:
    with open_study(str(path)):
        pass


add("study-file", "study.sqlite", [_study()], _open_study)


def _import_people(path: Path) -> None:
    """Read answers into a small study of every kind, beside a good file."""
    good = path.with_name("good.csv")
    for answer in ("choice", "several", "text"):
        study = study_from_task(colour_task(3), StudyDesign(controls=0), answer=answer)
        import_answers(study, [good, path])


TRIAL = {"trial_type": "html-button-response", "trial_index": 1, "rt": 900, "item": "thing 0"}
PEOPLE_BESIDE = {"good.csv": b"person,item,label\nann,thing 0,red\n"}
for shape, file, seed in (
    (
        "jspsych",
        "trials.json",
        [
            [{**TRIAL, "response": 1}, {"trial_type": "instructions", "trial_index": 2}],
            [{**TRIAL, "response": {"Q0": "red"}, "subject": "b", "choices": ["red", "blue"]}],
        ],
    ),
    (
        "potato",
        "annotations.jsonl",
        json_lines(
            {"instance_id": "thing 0", "user_id": "a", "labels": {"c": {"red": True}}},
            {"instance_id": "thing 1", "user_id": "b", "labels": {"c": {"text_box": "blue"}}},
        ),
    ),
    (
        "prolific",
        "prolific.csv",
        "Submission id,Participant id,Status\ns,ann,APPROVED\nt,bob,RETURNED\n",
    ),
    ("plain", "people.csv", "person,item,label,seconds\na,thing 1,red; blue,1.5\nb,thing 2,,\n"),
):
    add(f"people-{shape}", file, [seed], _import_people, beside=PEOPLE_BESIDE)
add(
    "prolific-keys",
    "jwks.json",
    [{"keys": [{"kty": "RSA", "kid": "k", "alg": "RS256", "n": "_" * 341 + "w", "e": "AQAB"}]}],
    lambda path: SignedIds(path, "https://x.example").check().worker("a.b.c", 0),
)


def _eval_log() -> bytes:
    with tempfile.TemporaryDirectory() as temporary:
        path = archive(Path(temporary) / "a.eval", [summary(number) for number in range(3)])
        return path.read_bytes()


def _read_log(path: Path) -> object:
    # the good file beside it has items in common with it
    other = path.with_name("other.jsonl")
    keys = LogKeys(cluster="object")
    return [run.figures for run in read_logs([path, other], keys)]


LOG_BESIDE = {"other.jsonl": as_bytes(json_lines(*log_rows(3)))}
LOG_ROWS = [
    json_lines(*log_rows(4)),
    json_lines(*(sample(number, right=True, object="x") for number in range(3))),
    json_lines(*(instance(number) for number in range(3))),
    json_lines(
        {"spec": {"base_eval": "colors", "completion_fns": ["gpt"]}},
        {"run_id": "r", "event_id": 0, "sample_id": "q0", "type": "match", "data": {"correct": 1}},
        {"final_report": {"accuracy": 1.0}},
    ),
]
JSON_LOG = {
    "version": 2,
    "eval": {"task": "colors", "model": "m"},
    "results": {"scores": [{"name": "choice", "metrics": {"accuracy": {"value": 1}}}]},
    "samples": [summary(number) for number in range(3)],
}
add("log-rows", "log.jsonl", [LOG_ROWS[0], LOG_ROWS[2]], _read_log, beside=LOG_BESIDE)
add(
    "log-alone",
    "log.jsonl",
    LOG_ROWS,
    lambda path: [run.figures for run in read_logs([path], LogKeys())],
)
add("log-eval", "log.eval", [_eval_log()], _read_log, beside=LOG_BESIDE)
add("log-json", "log.json", [JSON_LOG], _read_log, beside=LOG_BESIDE)
