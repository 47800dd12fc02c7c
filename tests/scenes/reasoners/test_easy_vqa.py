"""easy-VQA: its own counts, pictures held out whole, and what can be had without looking."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tests.needs import absent
from tests.scenes.reasoners.small import small_config

from seesay.errors import UserError
from seesay.models import ModelOptions, load_model
from seesay.scenes import easy_vqa
from seesay.scenes.reasoners.dataset import ReasonerDataset
from seesay.scenes.reasoners.easy_vqa import easy_vqa_source, from_easy_vqa
from seesay.scenes.reasoners.features.extractor import PixelExtractor
from seesay.scenes.reasoners.model import Reasoner
from seesay.scenes.reasoners.train import train
from seesay.scenes.tasks.easy_vqa import load

EXTRACTOR = PixelExtractor(16)


def majority(train: ReasonerDataset, test: ReasonerDataset, *, by_sentence: bool = False) -> float:
    """The test accuracy of the commonest training answer; `by_sentence`, of the commonest answer to
    the same words.

    The second is the baseline for a network: the best accuracy without the picture.
    """
    overall = Counter(train.answers.tolist()).most_common(1)[0][0]
    answers: dict[str, Counter[int]] = {}
    if by_sentence:
        for sentence, answer in zip(train.sentences, train.answers.tolist(), strict=True):
            answers.setdefault(sentence, Counter())[answer] += 1
    commonest = {sentence: counts.most_common(1)[0][0] for sentence, counts in answers.items()}
    guesses = np.array([commonest.get(sentence, overall) for sentence in test.sentences])
    return float((guesses == test.answers).mean())


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., ReasonerDataset]]:
    """The items of a split, in a cache of the module's own."""
    if find_spec("easy_vqa") is None:
        absent("easy-vqa is not installed: pip install easy-vqa")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEESAY_CACHE", str(tmp_path_factory.mktemp("easy-vqa")))
        yield lambda name, seed=0: from_easy_vqa(name, EXTRACTOR, seed)


def test_the_published_counts(split: Callable[..., ReasonerDataset]) -> None:
    """As the package's own description gives them."""
    train, val, test = (split(name) for name in ("train", "val", "test"))
    assert len(train) + len(val) == 38_575
    assert len(test) == 9_673
    assert len(test.answer_names) == 13
    yes_no = [test.answer_names.index("yes"), test.answer_names.index("no")]
    assert np.isin(test.answers, yes_no).sum() == 7_136
    assert np.isin(np.concatenate((train.answers, val.answers)), yes_no).sum() == 28_407


def test_validation_takes_whole_pictures(split: Callable[..., ReasonerDataset]) -> None:
    """Its questions are those of 400 of the 4,000 pictures, all of them, and no other."""
    vqa_questions = easy_vqa.read("train")
    by_picture: dict[int, list[tuple[str, str]]] = {}
    for one in vqa_questions:
        by_picture.setdefault(one.image, []).append((one.question, one.answer))
    for seed in (0, 1):
        val = split("val", seed)
        rows = list(zip(val.sentences, [val.answer_names[i] for i in val.answers], strict=True))
        matches, at = 0, 0
        # in the order of the pictures, those of training passed over
        for questions in by_picture.values():
            if rows[at : at + len(questions)] == questions:
                matches, at = matches + 1, at + len(questions)
        assert (matches, at) == (400, len(rows))
    assert split("val", 0).sentences != split("val", 1).sentences
    assert split("train", 0).sentences != split("train", 1).sentences


def test_features_belong_to_their_question(split: Callable[..., ReasonerDataset]) -> None:
    test = split("test")
    vqa_questions = easy_vqa.read("test")
    for row in (0, 1, 4_000, len(vqa_questions) - 1):
        with Image.open(vqa_questions[row].path) as image:
            small = np.asarray(image.convert("RGB").resize((16, 16), Image.Resampling.BOX))
        assert np.array_equal(test.features[row], small.transpose(2, 0, 1))
        assert (test.sentences[row], test.answer_names[test.answers[row]]) == (
            vqa_questions[row].question,
            vqa_questions[row].answer,
        )


def test_baselines_by_hand() -> None:
    features = np.zeros((5, 1))
    train = ReasonerDataset(
        features, ("a?", "a?", "b?", "b?", "b?"), np.array([2, 2, 0, 1, 1]), "", ("x", "y", "z")
    )
    test = ReasonerDataset(
        features[:4], ("a?", "b?", "b?", "new?"), np.array([2, 1, 0, 0]), "", train.answer_names
    )
    # x once, y twice, z twice: the first of the commonest is z, which is right once
    assert majority(train, test) == 0.25
    # z to a, y to b, z to what was never asked
    assert majority(train, test, by_sentence=True) == 0.5


def test_baselines_without_pictures_score_low(split: Callable[..., ReasonerDataset]) -> None:
    train, test = split("train"), split("test")
    yes = sum(one.answer == "yes" for one in easy_vqa.read("test"))
    assert majority(train, test) == pytest.approx(yes / 9_673)
    assert majority(train, test) < majority(train, test, by_sentence=True) < 0.7


def test_task_has_the_test_questions(split: Callable[..., ReasonerDataset]) -> None:
    task, test = load(), split("test")
    assert len(task.questions) == len(test)
    prompts = [task.templates[0].ask(question) for question in task.questions]
    assert prompts[0].text.endswith("? Answer: [MASK].")
    assert [prompt.text.partition("?")[0].lower() + "?" for prompt in prompts] == list(
        test.sentences
    )
    assert [next(iter(question.gold)) for question in task.questions] == [
        test.answer_names[i] for i in test.answers
    ]
    assert all(Path(prompt.picture or "").is_file() for prompt in prompts[:50])
    assert {question.tags["kind"] for question in task.questions} == {"colour", "shape", "presence"}
    with pytest.raises(UserError, match="takes no --data"):
        load(Path("somewhere"))


def test_reasoner_answers_easy_vqa(split: Callable[..., ReasonerDataset], tmp_path: Path) -> None:
    """Trained on some of it, loaded by its folder and asked through the task, it says what it does
    of the items."""
    torch.set_num_threads(1)
    made = replace(small_config("film", epochs=1), image_size=EXTRACTOR.image_size)
    train(
        split("train").take(slice(200)),
        split("val").take(slice(50)),
        tmp_path,
        made,
        settings={},
        device="cpu",
    )
    model = load_model(str(tmp_path), ModelOptions(device="cpu"))
    assert isinstance(model, Reasoner)
    vqa_questions, test = load(), split("test").take(slice(40))
    prompts = [
        vqa_questions.templates[0].ask(question) for question in vqa_questions.questions[:40]
    ]
    expected = model.log_probabilities(test.features, test.sentences)
    assert np.allclose(
        [scores.logp for scores in model.answer(prompts)], expected, rtol=1e-5, atol=1e-6
    )
    assert np.exp(expected).sum(1) == pytest.approx(np.ones(40))


def test_training_on_a_part(split: Callable[..., ReasonerDataset]) -> None:
    part = easy_vqa_source(300)
    assert part.splits == {"train": 300, "val": len(split("val")), "test": 9_673}
    assert easy_vqa_source().splits["train"] == len(split("train"))
    assert part.settings != easy_vqa_source().settings
    few, whole = part.load("train", EXTRACTOR), split("train")
    assert few.sentences == whole.sentences[:300]
    assert np.array_equal(few.features, whole.features[:300])
    assert easy_vqa_source(300).load("val", EXTRACTOR).sentences == split("val").sentences
    with pytest.raises(UserError, match=r"has 34,753 training items, not 40,000"):
        easy_vqa_source(40_000)


def test_mistakes_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="it has train, val, test"):
        from_easy_vqa("dev", EXTRACTOR)
    with pytest.raises(UserError, match="choose train or test"):
        easy_vqa.read("val")
    monkeypatch.setitem(sys.modules, "easy_vqa", None)  # as if it were not installed
    with pytest.raises(UserError, match=r"pip install 'seesay\[reasoners\]'"):
        from_easy_vqa("train", EXTRACTOR)
