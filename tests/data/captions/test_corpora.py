"""Corpora in their published shapes: the form is recognised, every caption is read, no other file
is taken for one."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared

from seesay.data.captions import Caption, Corpus, distinct_sources
from seesay.errors import UserError


def read(path: Path) -> tuple[Corpus, list[Caption]]:
    with Corpus(path) as corpus:
        return corpus, list(corpus.read())


def text_file(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def gzip_file(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(gzip.compress(text.encode()))


def json_file(document: object) -> Callable[[Path], object]:
    return text_file(json.dumps(document))


COCO = {
    "info": {"description": "COCO 2017 Dataset", "year": 2017},
    "images": [{"license": 3, "file_name": "000000391895.jpg", "id": 391895}],
    "licenses": [{"id": 1, "name": "Attribution"}],
    "annotations": [
        {
            "image_id": 391895,
            "id": 770337,
            "caption": "A man with a red helmet on a small moped.\n",
        },
        {"image_id": 391895, "id": 771687, "caption": "Man riding a motor bike on a dirt road."},
        {"image_id": 522418, "id": 3, "caption": "A woman cuts a cake."},
    ],
}
VISUAL_GENOME = [
    {
        "regions": [
            {
                "region_id": 1382,
                "width": 82,
                "height": 139,
                "image_id": 1,
                "phrase": "the clock is green in colour",
                "y": 57,
                "x": 421,
            },
            {
                "region_id": 1383,
                "width": 1,
                "height": 1,
                "image_id": 1,
                "phrase": "a shade is along the street",
                "y": 5,
                "x": 4,
            },
        ],
        "id": 1,
    },
    {"regions": [], "id": 2},
    {"regions": [{"region_id": 4, "phrase": "two cars", "image_id": 3}], "id": 3},
]
VISUAL_GENOME_QA = [
    {
        "id": 1,
        "qas": [
            {
                "a_objects": [],
                "question": "What color is the clock?",
                "image_id": 1,
                "qa_id": 986768,
                "answer": "Green.",
                "q_objects": [],
            },
            {
                "a_objects": [],
                "question": "How tall is the light post?",
                "image_id": 1,
                "qa_id": 9,
                "answer": "10 feet.",
                "q_objects": [],
            },
        ],
    },
]
GQA = {
    "02930152": {
        "semantic": [{"operation": "select", "dependencies": [], "argument": "sky (2486325)"}],
        "entailed": ["02930160"],
        "equivalent": ["02930152"],
        "question": "Is the sky dark?",
        "imageId": "2354786",
        "isBalanced": True,
        "groups": {"global": None, "local": "06-sky_dark"},
        "answer": "yes",
        "semanticStr": "select: sky (2486325)->verify color: dark [0]",
        "fullAnswer": "Yes, the sky is dark.",
    },
    "07333408": {"question": "What is on the white wall?", "imageId": "2375429", "answer": "pipe"},
}
SBU = {
    "image_urls": ["http://static.flickr.com/1/a.jpg", "http://static.flickr.com/2/b.jpg"],
    "user_ids": ["47889917@N08", "1@N2"],
    "captions": ["The white wall and the red door.", "Blue sky over the lake"],
}
CONCEPTUAL = (
    "a very typical bus "
    "station\thttp://lh6.ggpht.com/-IvRtNLNcG8o/TpFyrudaT6I/AAA/image.png?imgmax=800\n"
    "sierra looked stunning in this top and this skirt while performing with "
    "person\thttp://a.org/b.jpg\n"
    "young confused girl standing in front of a wardrobe\thttps://c.org/d.jpg\n"
)
FLICKR = (
    "1000092795.jpg#0\tTwo young guys with shaggy hair .\n"
    "1000092795.jpg#1\tTwo men .\n"
    "10002456.jpg#0\tSeveral men .\n"
)

FORMS: dict[str, tuple[str, Callable[[Path], object], str, list[tuple[str, str]]]] = {
    "plain": (
        "a.txt",
        text_file("A dog.\n\nTwo cats.\n"),
        "plain text",
        [
            ("A dog.", "a.txt:1"),
            ("Two cats.", "a.txt:3"),
        ],
    ),
    "gzipped": ("a.gz", gzip_file("A dog.\n"), "plain text", [("A dog.", "a:1")]),
    "coco": (
        "captions_train2017.json",
        json_file(COCO),
        "COCO captions",
        [
            ("A man with a red helmet on a small moped.", "coco:391895"),
            ("Man riding a motor bike on a dirt road.", "coco:391895"),
            ("A woman cuts a cake.", "coco:522418"),
        ],
    ),
    "coco gzipped": (
        "captions.json.gz",
        gzip_file(json.dumps(COCO, indent=1)),
        "COCO captions",
        [
            ("A man with a red helmet on a small moped.", "coco:391895"),
            ("Man riding a motor bike on a dirt road.", "coco:391895"),
            ("A woman cuts a cake.", "coco:522418"),
        ],
    ),
    "conceptual captions": (
        "Train_GCC-training.tsv",
        text_file(CONCEPTUAL),
        "Conceptual Captions",
        [
            (
                "a very typical bus station",
                "http://lh6.ggpht.com/-IvRtNLNcG8o/TpFyrudaT6I/AAA/image.png?imgmax=800",
            ),
            (
                "sierra looked stunning in this top and this skirt while performing with person",
                "http://a.org/b.jpg",
            ),
            ("young confused girl standing in front of a wardrobe", "https://c.org/d.jpg"),
        ],
    ),
    "conceptual 12m": (
        "cc12m.tsv",
        text_file("http://a.org/1.jpg\tA dog.\nhttp://a.org/2.jpg\tA cat\n"),
        "Conceptual Captions",
        [("A dog.", "http://a.org/1.jpg"), ("A cat", "http://a.org/2.jpg")],
    ),
    "visual genome": (
        "region_descriptions.json",
        json_file(VISUAL_GENOME),
        "Visual Genome region descriptions",
        [
            ("the clock is green in colour", "vg:1"),
            ("a shade is along the street", "vg:1"),
            ("two cars", "vg:3"),
        ],
    ),
    "flickr": (
        "results_20130124.token",
        text_file(FLICKR),
        "Flickr tokens",
        [
            ("Two young guys with shaggy hair .", "1000092795.jpg"),
            ("Two men .", "1000092795.jpg"),
            ("Several men .", "10002456.jpg"),
        ],
    ),
    "sbu": (
        "sbu-captions-all.json",
        json_file(SBU),
        "SBU captions",
        [
            ("The white wall and the red door.", "sbu:1"),
            ("Blue sky over the lake", "sbu:2"),
        ],
    ),
    "gqa": (
        "train_balanced_questions.json",
        json_file(GQA),
        "GQA questions with answers",
        [
            ("Is the sky dark? yes", "vg:2354786"),
            ("What is on the white wall? pipe", "vg:2375429"),
        ],
    ),
    "vg-qa": (
        "question_answers.json",
        json_file(VISUAL_GENOME_QA),
        "Visual Genome questions with answers",
        [
            ("What color is the clock? Green.", "vg:1"),
            ("How tall is the light post? 10 feet.", "vg:1"),
        ],
    ),
    "json lines": (
        "train.jsonl",
        text_file(
            '{"text": "A dog.", "image_id": "vg_1"}\n\n{"text": "A cat.", "image_id": "vg_2"}\n'
        ),
        "JSON lines",
        [("A dog.", "train.jsonl:vg_1"), ("A cat.", "train.jsonl:vg_2")],
    ),
    "records": (
        "ccs.json",
        json_file(
            [{"image": "a.jpg", "caption": "A dog."}, {"image": "b.jpg", "caption": ["A", "B"]}]
        ),
        "JSON records",
        [("A dog.", "ccs.json:a.jpg"), ("A", "ccs.json:b.jpg"), ("B", "ccs.json:b.jpg")],
    ),
    "csv": (
        "captions.csv",
        text_file('image,caption\na.jpg,A dog .\na.jpg,"A ""big"" dog,\nrunning"\n'),
        "table with a header",
        [("A dog .", "captions.csv:a.jpg"), ('A "big" dog, running', "captions.csv:a.jpg")],
    ),
    "bars": (
        "results.csv",
        text_file("image_name| comment_number| comment\na.jpg| 0| Two young guys .\n"),
        "table with a header",
        [("Two young guys .", "results.csv:a.jpg")],
    ),
    "tsv with a header": (
        "cc.tsv",
        text_file('caption\turl\na "dog\thttp://a.org/1.jpg\n'),
        "table with a header",
        [('a "dog', "cc.tsv:http://a.org/1.jpg")],
    ),
}


@pytest.mark.parametrize("kind", FORMS)
def test_published_shapes(kind: str, tmp_path: Path) -> None:
    name, write, form, expected = FORMS[kind]
    write(tmp_path / name)
    corpus, captions = read(tmp_path / name)
    assert corpus.form == form
    assert [(caption.text, caption.picture) for caption in captions] == expected
    assert (corpus.summary.captions, corpus.summary.left_out) == (len(expected), 0)


def write_vqa(folder: Path) -> tuple[Path, Path]:
    """As VQA v2 names and writes its two files: ten people's answers, the commonest beside them."""
    questions = folder / "v2_OpenEnded_mscoco_train2014_questions.json"
    answers = folder / "v2_mscoco_train2014_annotations.json"
    about = {"info": {"version": "2.0"}, "license": {"name": "CC"}, "data_subtype": "train2014"}
    asked = [
        {
            "image_id": 458752,
            "question": "What is this photo taken looking through?",
            "question_id": 458752000,
        },
        {
            "image_id": 458752,
            "question": "What color is the team's shirt?",
            "question_id": 458752002,
        },
        {"image_id": 262146, "question": "Is the sky blue?", "question_id": 262146000},
    ]
    people = [
        {"answer": "net", "answer_confidence": "yes", "answer_id": number} for number in range(10)
    ]
    answered = [
        {
            "question_type": "what",
            "multiple_choice_answer": "net",
            "answers": people,
            "image_id": 458752,
            "answer_type": "other",
            "question_id": 458752000,
        },
        {
            "question_type": "what color",
            "multiple_choice_answer": "orange",
            "answers": people,
            "image_id": 458752,
            "answer_type": "other",
            "question_id": 458752002,
        },
    ]
    json_file({**about, "task_type": "Open-Ended", "questions": asked})(questions)
    json_file({**about, "annotations": answered})(answers)
    return questions, answers


def test_vqa_questions_are_read_with_the_answers_beside_them(tmp_path: Path) -> None:
    questions, answers = write_vqa(tmp_path)
    corpus, captions = read(questions)
    assert corpus.form == "VQA questions with answers"
    assert [(caption.text, caption.picture) for caption in captions] == [
        ("What is this photo taken looking through? net", "coco:458752"),
        ("What color is the team's shirt? orange", "coco:458752"),
    ]
    assert [(row.row, row.reason) for row in corpus.bad_rows] == [(3, "no question or no answer")]
    assert distinct_sources([answers, questions]) == [questions]
    with pytest.raises(UserError, match="holds the answers of VQA: give its questions"):
        read(answers)
    answers.unlink()
    with pytest.raises(
        UserError, match=r"put their answers, v2_mscoco_train2014_annotations\.json, into the same"
    ):
        read(questions)


ROWS = [
    {"image_id": 1, "caption": ["A dog.", "One dog."], "split": "train"},
    {"image_id": 2, "caption": ["A cat.", "One cat."], "split": "train"},
]


def test_hugging_face_data_sets(tmp_path: Path) -> None:
    """Written by `save_to_disk`: one split, several, several files, questions; and as Parquet
    files."""
    datasets = pytest.importorskip("datasets")
    captions = datasets.Dataset.from_list(ROWS)
    captions.save_to_disk(tmp_path / "one")
    datasets.DatasetDict(train=captions, test=captions.select([1])).save_to_disk(
        tmp_path / "splits"
    )
    many = datasets.Dataset.from_dict(
        {"text": [f"caption {n}" for n in range(2_500)], "image": [b"x"] * 2_500}
    )
    many.save_to_disk(tmp_path / "many", num_shards=3)
    asked = {"question": ["Is it?"], "answers": [["no", "yes", "yes"]], "image_id": [7]}
    datasets.Dataset.from_dict(asked).save_to_disk(tmp_path / "asked")
    corpus, texts = read(tmp_path / "one")
    assert (corpus.form, corpus.unit) == ("Hugging Face data set", "row")
    assert texts == [
        Caption("A dog.", "one:1", 1),
        Caption("One dog.", "one:1", 1),
        Caption("A cat.", "one:2", 2),
        Caption("One cat.", "one:2", 2),
    ]
    assert [caption.text for caption in read(tmp_path / "splits")[1]] == [
        "A dog.",
        "One dog.",
        "A cat.",
        "One cat.",
        "A cat.",
        "One cat.",
    ]
    assert [caption.text for caption in read(tmp_path / "splits/test")[1]] == ["A cat.", "One cat."]
    assert [caption.text for caption in read(tmp_path / "many")[1]] == many["text"]
    assert [caption.text for caption in read(tmp_path / "asked")[1]] == ["Is it? yes"]
    (tmp_path / "hub/data").mkdir(parents=True)
    captions.to_parquet(tmp_path / "hub/data/train-00000-of-00001.parquet")
    assert (
        len(read(tmp_path / "hub")[1])
        == len(read(tmp_path / "hub/data/train-00000-of-00001.parquet")[1])
        == 4
    )


def test_data_sets_without_captions_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"prompt": ["x"], "score": [1]}), tmp_path / "a.parquet")
    with pytest.raises(
        UserError, match="its columns are 'prompt', 'score'; rename the one with captions"
    ):
        read(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(
        UserError, match=r"b\.parquet is damaged .*: it is not a Parquet file, or not a whole one"
    ):
        read(tmp_path / "b.parquet")
    pq.write_table(pa.table({"caption": ["x", None, "y"]}), tmp_path / "c.parquet")
    corpus, captions = read(tmp_path / "c.parquet")
    assert [caption.picture for caption in captions] == ["c.parquet:row 1", "c.parquet:row 3"]
    assert [row.row for row in corpus.bad_rows] == [2]


UNKNOWN: dict[str, tuple[bytes, str]] = {
    "coco instances": (
        json.dumps(
            {"images": [{"id": 1}], "annotations": [{"image_id": 1, "bbox": [1, 2, 3, 4]}]}
        ).encode(),
        "it is JSON with 'images', 'annotations'",
    ),
    "vg objects": (
        b'[{"image_id": 1, "objects": [{"names": ["tree"]}]}]',
        "it is JSON without captions",
    ),
    "a list": (b'["A dog.", "A cat."]', "it is JSON without captions"),
    "half a document": (b'{"images": [{"id": 1}], "annot', "it is not JSON"),
    "json lines": (b'{"prompt": "x"}\n{"prompt": "y"}\n', "its records hold 'prompt'"),
    "tsv": (
        b"dog\t1\t0.5\ncat\t2\t0.7\n",
        "it is a table without a header that names its captions",
    ),
    "addresses": (
        b"http://static.flickr.com/1/a.jpg\nhttp://static.flickr.com/2/b.jpg\n",
        "its lines are addresses",
    ),
    "xml": (b'<?xml version="1.0"?>\n<captions/>\n', "it is XML or HTML"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "it is not text in UTF-8"),
    "an archive": (b"PK\x03\x04\x14\x00\x00\x00\x08\x00", "it is not text in UTF-8"),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_unknown_forms_are_refused(kind: str, tmp_path: Path) -> None:
    content, why = UNKNOWN[kind]
    (tmp_path / "captions.txt").write_bytes(content)
    with pytest.raises(UserError) as refused, Corpus(tmp_path / "captions.txt"):
        pass
    assert str(refused.value).startswith(
        f"'{tmp_path / 'captions.txt'}' is not a corpus that seesay knows ({why}"
    )


@pytest.mark.parametrize(
    "line",
    [
        "[laughs] a man",
        "{a} man",
        "a, b and caption",
        "see http://a.org",
        "one\ttab here",
        "C# 3 is a note",
        "12",
    ],
)
def test_text_that_resembles_another_form_is_text(line: str, tmp_path: Path) -> None:
    lines = [line, *["a dog on a hill"] * 12]
    text_file("\n".join(lines))(tmp_path / "a.txt")
    corpus, captions = read(tmp_path / "a.txt")
    assert corpus.form == "plain text"
    assert [caption.text for caption in captions] == lines


def test_every_bad_row_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    rows: list[Any] = [{"image_id": n, "caption": f"caption {n}"} for n in range(100)]
    rows[0], rows[10], rows[20], rows[30], rows[40] = (
        None,
        {"image_id": 1},
        {"caption": 5},
        [],
        {"caption": ""},
    )
    json_file({"annotations": rows})(tmp_path / "coco.json")
    corpus, captions = read(tmp_path / "coco.json")
    assert (len(captions), corpus.blank, corpus.bad) == (95, 1, 4)
    assert [(row.row, row.reason) for row in corpus.bad_rows] == [
        (1, "not a JSON object"),
        (11, "no text in 'caption'"),
        (21, "no text in 'caption'"),
        (31, "not a JSON object"),
    ]
    text_file(CONCEPTUAL * 20 + "no address\n")(tmp_path / "cc.tsv")
    corpus, captions = read(tmp_path / "cc.tsv")
    assert (len(captions), [(row.row, row.reason) for row in corpus.bad_rows]) == (
        60,
        [(61, "1 column, not 2")],
    )
    text_file(FLICKR * 20 + "A dog .\n")(tmp_path / "flickr")
    assert [row.reason for row in read(tmp_path / "flickr")[0].bad_rows] == [
        "not 'picture#number', tab, caption"
    ]
    text_file('{"caption": "a"}\n{"caption"\n[]\n{"caption": "b"}\n')(tmp_path / "a.jsonl")
    corpus, captions = read(tmp_path / "a.jsonl")
    assert ([caption.text for caption in captions], corpus.bad) == (["a", "b"], 2)
    (tmp_path / "a.csv").write_bytes(b"image,caption\na,b\na\n\xff,x\nb,\n\nc,d\n")
    corpus, captions = read(tmp_path / "a.csv")
    assert ([caption.row for caption in captions], [row.row for row in corpus.bad_rows]) == (
        [2, 7],
        [3, 4],
    )
    assert corpus.blank == 1


def test_a_document_that_breaks_off_is_an_error(tmp_path: Path) -> None:
    text = json.dumps(COCO)
    (tmp_path / "a.json").write_text(text[: text.index("A woman")], encoding="utf-8")
    with pytest.raises(UserError, match=r"a.json' is damaged after entry 2 \(.*\): fetch it again"):
        read(tmp_path / "a.json")
    zipped = gzip.compress(json.dumps({"annotations": COCO["annotations"] * 1_000}).encode())  # type: ignore[operator]
    (tmp_path / "a.json.gz").write_bytes(zipped[: len(zipped) // 2])
    with pytest.raises(UserError, match="is damaged after entry"):
        read(tmp_path / "a.json.gz")


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["C"]), min_size=1).filter(str.strip),
        min_size=1,
        max_size=20,
    )
)
def test_any_captions_come_back_from_coco(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("coco") / "captions.json"
    json_file({"annotations": [{"image_id": 1, "caption": text} for text in texts]})(path)
    corpus, captions = read(path)
    kept = [" ".join(text.split()) for text in texts if "\N{REPLACEMENT CHARACTER}" not in text]
    assert [caption.text for caption in captions] == kept
    assert corpus.captions + corpus.bad == len(texts)


@pytest.mark.seconds
def test_a_larger_corpus_needs_no_more_memory(tmp_path: Path) -> None:
    """Ten times as many rows of Conceptual Captions, and of a JSON document, are read in the same
    memory."""
    peaks = []
    for rows in (2_000, 20_000):
        text_file("".join(f"a dog number {n}\thttp://a.org/{n}.jpg\n" for n in range(rows)))(
            tmp_path / "cc.tsv"
        )
        document = {
            "annotations": [{"image_id": n, "caption": f"a dog number {n}"} for n in range(rows)]
        }
        json_file(document)(tmp_path / "coco.json")
        for name in ("cc.tsv", "coco.json"):
            tracemalloc.start()
            with Corpus(tmp_path / name) as corpus:
                assert sum(1 for _ in corpus.read()) == rows
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[0]
    assert peaks[3] < 1.2 * peaks[1]


@pytest.mark.parametrize(
    ("name", "form", "captions"),
    [
        ("flickr8k.token.txt.gz", "Flickr tokens", 40_460),
        ("multi30k.train.1.en.gz", "plain text", 29_000),
    ],
)
def test_published_captions(name: str, form: str, captions: int) -> None:
    """Hodosh et al. 2013: 8,092 pictures with five captions each; Elliott et al. 2016: 29,000
    lines."""
    with Corpus(shared(f"captions/{name}")) as corpus:
        pictures = {caption.picture for caption in corpus.read()}
    assert (corpus.form, corpus.captions, corpus.bad) == (form, captions, 0)
    assert len(pictures) == captions // (5 if form == "Flickr tokens" else 1)
