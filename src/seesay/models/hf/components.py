"""Components of vision models (network, image processor, tokenizer), from a folder or the Hub."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seesay.models.hf.loading import find_source, hub_arguments, load_network, loading_error
from seesay.models.options import ModelOptions


def load_component(name: str, options: ModelOptions, kind: str, what: str) -> Any:
    """One component by the name of its `Auto…` class in transformers; `what` names the expected model in an error.

    Missing weights are no error: the published DPT lacks some that its network never uses.
    """
    source = find_source(name, options.revision)
    import transformers

    auto_class: Any = getattr(transformers, kind)
    if kind.startswith("AutoModel"):
        return load_network(name, source, replace(options, device="cpu"), auto_class, what)[0]
    try:
        return auto_class.from_pretrained(source, **hub_arguments(options))
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise loading_error(name, source, options, error, what) from error
