"""`vllm:MODEL`: vLLM's offline engine, by the log-probabilities that it reports of tokens.

The protocol is that of `CausalModel`: the same tokens are scored, in the same sentences, in float32
unless `--dtype` says otherwise. A sentence is read once for each of its endings, and the engine
reports its tokens with their ranks; options that are the last token of a prompt are scored by
reading the prompt once, where the task needs no ranks. vLLM keeps shared beginnings in its prefix
cache for what it writes; while options are scored, the cache is off. Parallelism and memory are set
by the engine's own options (`--engine-option tensor_parallel_size=4`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seesay import metrics
from seesay.digests import json_digest
from seesay.errors import UserError, first_line
from seesay.grouping import chunks
from seesay.models.base import GREEDY, Reply, Sampling
from seesay.models.hf.causal import CausalModel
from seesay.models.hf.generation import LINE
from seesay.models.hf.precision import json_or_text, weights_digest
from seesay.models.hf.spans import Ids, ScoredSpan, SpanScore
from seesay.models.options import ModelOptions
from seesay.questions import Prompt, Task

PROTOCOL = {
    "dtype": "is an option of its own: give --dtype.",
    "enable_prefix_caching": "changes the scores of options: leave it out.",
    "logprobs_mode": "changes what is reported as a log-probability: leave it out.",
}
"""What an engine option may not change, and what to do instead."""

PER_CALL = 1024  # prompts given to the engine at once: it makes batches of its own
LAST_TOKENS = 128  # tokens whose log-probability after a prompt can be asked for at once


def load_vllm(rest: str, options: ModelOptions) -> VllmModel:
    """`vllm:HUB-ID` or `vllm:FOLDER`."""
    if not rest:
        raise UserError("vLLM needs a model: seesay probe vllm:HUB-ID or vllm:FOLDER.")
    try:
        import vllm
    except ImportError as error:
        raise UserError(
            "vLLM is not installed: pip install vllm, on a machine with an accelerator."
        ) from error
    arguments: dict[str, Any] = {"model": rest, "trust_remote_code": options.trust_remote_code}
    for name in ("dtype", "revision", "quantization"):
        if value := getattr(options, name):
            arguments[name] = value
    # as on a CPU here; the engine's own choice moves log-probabilities by up to 0.23
    arguments.setdefault("dtype", "float32")
    if not options.generates:
        # cached beginnings have no log-probabilities of their own (vLLM's issue 42019)
        arguments["enable_prefix_caching"] = False
    engine_arguments = engine_options(options.engine_options)
    for name in PROTOCOL:
        if engine_arguments.get(name, arguments.get(name)) != arguments.get(name):
            raise UserError(f"--engine-option {name} {PROTOCOL[name]}")
    arguments |= engine_arguments
    try:
        engine = vllm.LLM(**arguments)
    except Exception as error:  # an engine has more ways to fail than can be listed
        raise UserError(f"vLLM could not load '{rest}': {first_line(error)}") from error
    return VllmModel(f"vllm:{rest}", vllm, engine, arguments, options)


def engine_options(pairs: Sequence[str]) -> dict[str, Any]:
    """Read `KEY=VALUE` pairs; values are read as JSON where they are JSON.

    >>> engine_options(["tensor_parallel_size=4", "kv_cache_dtype=fp8"])
    {'tensor_parallel_size': 4, 'kv_cache_dtype': 'fp8'}
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise UserError(f"--engine-option is '{pair}': write it as KEY=VALUE.")
        values[name] = json_or_text(value)
    return values


class EngineScorer:
    """Scores spans by the log-probabilities that vLLM's engine reports."""

    def __init__(self, library: Any, engine: Any) -> None:
        self._library = library
        self._engine = engine
        self.needs_ranks = True
        """Whether the ranks of spans are used: the engine gives none of last tokens."""

    @property
    def max_tokens(self) -> int:
        """The engine's limit but for the token that it generates after every prompt."""
        return int(self._engine.llm_engine.model_config.max_model_len) - 1

    def score(self, spans: Sequence[ScoredSpan]) -> list[SpanScore]:
        """Score every span; equal sentences are read once, and so are equal contexts of spans that
        are one token."""
        parameters = self._library.SamplingParams
        last_tokens: dict[Ids, dict[int, float]] = {}
        sentences: dict[Ids, Any] = {}
        # before vLLM had this, any token but the likeliest had to be part of the prompt
        scores_last_tokens = hasattr(parameters, "logprob_token_ids") and not self.needs_ranks
        for span in spans:
            if scores_last_tokens and span.ids[span.start :] == span.ids[-1:]:
                last_tokens.setdefault(span.context, {})[span.ids[-1]] = 0.0
            else:
                sentences[span.ids] = None
        self._score_last_tokens(last_tokens)
        # a token that is generated as well costs little, and some versions need one
        one_more = parameters(temperature=0, max_tokens=1, prompt_logprobs=0)
        for some in chunks(list(sentences), PER_CALL):
            outputs = run_engine(self._engine, some, one_more)
            for ids, output in zip(some, outputs, strict=True):
                sentences[ids] = output.prompt_logprobs
        scores = []
        for span in spans:
            if span.ids in sentences:
                scores.append(_span_score(span, sentences[span.ids], ranked=self.needs_ranks))
            else:
                scores.append(SpanScore([last_tokens[span.context][span.ids[-1]]]))
        return scores

    def _score_last_tokens(self, last_tokens: dict[Ids, dict[int, float]]) -> None:
        """Fill in the log-probabilities of the tokens that may follow each context."""
        requests = []
        for context, logps in last_tokens.items():
            requests += [(context, tokens) for tokens in chunks(list(logps), LAST_TOKENS)]
        for some in chunks(requests, PER_CALL):
            parameters = [
                self._library.SamplingParams(temperature=0, max_tokens=1, logprob_token_ids=tokens)
                for _, tokens in some
            ]
            outputs = run_engine(self._engine, [context for context, _ in some], parameters)
            for (context, tokens), output in zip(some, outputs, strict=True):
                (reported,) = output.outputs[0].logprobs
                for token in tokens:
                    last_tokens[context][token] = float(reported[token].logprob)


def _span_score(span: ScoredSpan, positions: Sequence[Any], *, ranked: bool) -> SpanScore:
    """Return a span's score from what the engine reports at each position of its sentence: a table
    from tokens to their log-probability and rank."""
    entries = [positions[i][span.ids[i]] for i in range(span.start, len(span.ids))]
    logps = [float(entry.logprob) for entry in entries]
    if not (span.ranked and ranked) or not entries:
        return SpanScore(logps)
    return SpanScore(logps, int(entries[0].rank or 0))


def run_engine(engine: Any, rows: Sequence[Ids], parameters: Any) -> Any:
    """Give the engine prompts as tokens, so that its tokenizer adds none of its own."""
    prompts = [{"prompt_token_ids": list(ids)} for ids in rows]
    try:
        return engine.generate(prompts, parameters, use_tqdm=False)
    except Exception as error:  # an engine has more ways to fail than can be listed
        raise UserError(
            f"vLLM failed ({first_line(error)}): what it wrote before says why."
        ) from error


class VllmModel(CausalModel):
    """A causal model in vLLM's engine, which gives no hidden states."""

    _scorer: EngineScorer

    def __init__(
        self,
        name: str,
        library: Any,
        engine: Any,
        arguments: dict[str, Any],
        options: ModelOptions,
    ) -> None:
        config = engine.llm_engine.model_config
        identity = [getattr(library, "__version__", ""), str(config.dtype), arguments]
        identity.append(getattr(config.hf_config, "_commit_hash", None))
        super().__init__(
            name,
            json_digest(identity, default=str) + weights_digest(options, config.dtype),
            engine.get_tokenizer(),
            EngineScorer(library, engine),
            model_type=config.hf_config.model_type,
            scope=str(options.scope),
            planned_tokens=16 * PER_CALL,
        )
        self._library = library
        self._engine = engine
        type_name = str(config.dtype).removeprefix("torch.")
        if type_name != "float32":
            self.note(
                f"'{name}' computes in {type_name}: its log-probabilities differ from those in "
                "float32, in which other models are scored on a CPU.",
                lasting=True,
            )

    def prepare(self, task: Task) -> None:
        """Ranks cost a prompt for each option, so they are left out where no metric needs them."""
        super().prepare(task)
        needs_ranks = any(metrics.get(name).whole_vocabulary for name in task.metrics)
        self._scorer.needs_ranks = needs_ranks

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        """What the engine writes; beginnings that prompts share are read once."""
        parameters = self._library.SamplingParams(
            n=sampling.samples,
            temperature=sampling.temperature,
            max_tokens=sampling.max_tokens,
            seed=sampling.seed,
            stop=None if self._format else [LINE],
        )
        outputs = run_engine(self._engine, self._beginnings(prompts), parameters)
        return [tuple(map(_reply, output.outputs)) for output in outputs]


def _reply(completion: Any) -> Reply:
    return Reply(str(completion.text).strip(), completion.finish_reason == "length")
