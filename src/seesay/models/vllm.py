"""`vllm:MODEL`: vLLM's offline engine, by the log-probabilities that it reports of a prompt's own
tokens.

The protocol is that of `CausalModel`: the same tokens are scored, in the same sentences, with the
same ranks. vLLM keeps shared beginnings in its prefix cache for generated answers; where
log-probabilities of the prompt are asked for, it computes them in full, whatever the cache holds.
Parallelism and memory are set by the engine's own options (`--engine-option
tensor_parallel_size=4`).
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from seesay.digests import json_digest
from seesay.errors import UserError, first_line
from seesay.models.base import GREEDY, Model, Reply, Sampling
from seesay.models.batches import chunks
from seesay.models.hf.causal import CausalModel, ScoredSpan, SpanLogps
from seesay.models.hf.generation import LINE
from seesay.models.hf.precision import json_or_text
from seesay.models.options import ModelOptions
from seesay.questions import Prompt

PER_CALL = 1024  # prompts given to the engine at once: it makes batches of its own


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
    arguments |= engine_options(options.engine_options)
    try:
        engine = vllm.LLM(**arguments)
    except Exception as error:  # an engine has more ways to fail than can be listed
        raise UserError(f"vLLM could not load '{rest}': {first_line(error)}") from error
    return VllmModel(f"vllm:{rest}", vllm, engine, arguments, scope=options.scope)


def engine_options(pairs: Sequence[str]) -> dict[str, Any]:
    """`KEY=VALUE` pairs; values are read as JSON where they are JSON.

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


class VllmModel(CausalModel):
    """A causal model in vLLM's engine."""

    def __init__(
        self, name: str, library: Any, engine: Any, arguments: dict[str, Any], *, scope: str
    ) -> None:
        self.name = self._loaded_as = name
        self.scope = scope
        self._library = library
        self._engine = engine
        self._tokenizer = engine.get_tokenizer()
        config = engine.llm_engine.model_config
        self._longest = int(config.max_model_len)
        self._network = SimpleNamespace(config=config.hf_config)
        self._budget = PER_CALL
        self._planned = 16 * PER_CALL
        identity = [getattr(library, "__version__", ""), str(config.dtype), arguments]
        identity.append(getattr(config.hf_config, "_commit_hash", None))
        self.fingerprint = json_digest(identity, default=str)

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        """What the engine writes; beginnings that prompts share are read once."""
        arguments: dict[str, Any] = {"n": sampling.samples, "temperature": sampling.temperature}
        arguments |= {"max_tokens": sampling.max_tokens, "seed": sampling.seed}
        parameters = self._library.SamplingParams(
            **arguments, stop=None if self._format else [LINE]
        )
        outputs = self._run(self._beginnings(prompts), parameters)
        return [
            tuple(
                Reply(str(reply.text).strip(), reply.finish_reason == "length")
                for reply in output.outputs
            )
            for output in outputs
        ]

    def encode(self, texts: Sequence[str]) -> Any:
        """The engine gives no hidden states."""
        raise self._cannot("encode texts")

    encode_layers = Model.encode_layers
    answer_layers = Model.answer_layers

    def _token_logps(self, spans: Sequence[ScoredSpan], budget: int) -> list[SpanLogps]:
        """Prompt log-probabilities; a token that is generated as well costs little, and some
        versions need one."""
        longest = max((len(span.ids) for span in spans), default=0)
        if longest >= self._longest:
            raise UserError(
                f"A text of {longest:,} tokens is longer than the {self._longest:,} that "
                f"'{self.name}' reads."
            )
        unique = list(dict.fromkeys(span.ids for span in spans))
        parameters = self._library.SamplingParams(temperature=0, max_tokens=1, prompt_logprobs=0)
        reported: dict[tuple[int, ...], Any] = {}
        for rows in chunks(unique, PER_CALL):
            reported |= {
                ids: out.prompt_logprobs
                for ids, out in zip(rows, self._run(rows, parameters), strict=True)
            }
        results: list[SpanLogps] = []
        for span in spans:
            entries = [reported[span.ids][i][span.ids[i]] for i in range(span.start, len(span.ids))]
            rank = int(entries[0].rank or 0) if span.ranked and entries else 0
            results.append(([float(entry.logprob) for entry in entries], rank))
        return results

    def _run(self, rows: Sequence[Sequence[int]], parameters: Any) -> Any:
        prompts = [{"prompt_token_ids": list(ids)} for ids in rows]
        return self._engine.generate(prompts, parameters, use_tqdm=False)

    def _max_tokens(self) -> int:
        return self._longest - 1
