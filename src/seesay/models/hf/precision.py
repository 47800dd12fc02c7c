"""Large models: the type of the weights, where they go, and how they are quantised."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from seesay.digests import text_digest
from seesay.errors import UserError, first_line

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions

TRIAL_SECONDS = 120
_TRIAL = """
import torch
x = torch.randn(64, 64, dtype=torch.{dtype})
y = torch.nn.functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])
assert (torch.nn.functional.linear(y, x) @ x).log_softmax(-1).isfinite().all()
"""


def weight_arguments(options: ModelOptions, device: str) -> dict[str, Any]:
    """Arguments of `from_pretrained` for dtype, device and quantisation; float32 on a CPU unless
    the user chooses."""
    import torch

    arguments: dict[str, Any] = {"dtype": "auto", "device_map": device}
    if device == "cpu":
        # half precision is slow on most CPUs, and on some it is an illegal instruction
        arguments = {"dtype": torch.float32, "device_map": None}
    if options.dtype is not None:
        if device == "cpu" and options.device_map is None:
            try_on_cpu(options.dtype)
        arguments["dtype"] = options.dtype
        if options.dtype != "auto":
            arguments["dtype"] = getattr(torch, options.dtype)
    if options.device_map is not None:
        arguments["device_map"] = _device_map(options.device_map)
    if options.quantization is not None:
        arguments["quantization_config"] = quantization_config(options.quantization)
    return arguments


def weights_digest(options: ModelOptions, dtype: Any) -> str:
    """The part of a fingerprint that other digits than those of float32 need."""
    suffix = ""
    type_name = str(dtype).removeprefix("torch.")
    if type_name != "float32":
        suffix += f"-{type_name}"
    if options.quantization is not None:
        method = options.quantization.partition(":")[0]
        suffix += f"-{method}-{text_digest(options.quantization, 4)}"
    return suffix


def try_on_cpu(dtype: str) -> None:
    """Refuse a type that this CPU cannot compute with. It is tried in a process of its own, because
    it may kill it."""
    if dtype in ("auto", "float32", "float64"):
        return
    command = [sys.executable, "-c", _TRIAL.format(dtype=dtype)]
    try:
        trial = subprocess.run(
            command, capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"{dtype} takes this CPU too long: use --dtype float32.") from None
    if not trial.returncode:
        return
    if trial.returncode < 0:
        reason = f"signal {-trial.returncode}"
    else:
        # the last line of a traceback names the error
        reason = (trial.stderr.strip().splitlines() or [""])[-1]
    raise UserError(f"This CPU cannot compute in {dtype} ({reason}): use --dtype float32.")


def quantization_config(text: str) -> Any:
    """A method of transformers with its settings, as in `quanto:weights=int8` or
    `bitsandbytes_4bit`."""
    from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING

    method, _, settings = text.partition(":")
    methods: dict[str, Any] = AUTO_QUANTIZATION_CONFIG_MAPPING
    if method not in methods:
        raise UserError(
            f"transformers knows no quantization '{method}': choose one of "
            f"{', '.join(sorted(methods))}."
        )
    values: dict[str, Any] = {}
    for pair in filter(None, settings.split(",")):
        name, _, value = pair.partition("=")
        values[name] = json_or_text(value)
    # both widths of bitsandbytes share one class: an argument says which
    if method.startswith("bitsandbytes_"):
        values.setdefault(f"load_in_{method.removeprefix('bitsandbytes_')}", True)
    try:
        return methods[method](**values)
    except Exception as error:  # every method has settings and libraries of its own
        raise UserError(f"--quantization {text}: {first_line(error)}") from error


def _device_map(text: str) -> Any:
    """`auto`, a device, or a JSON object from modules to devices."""
    if not text.startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(
            f"--device-map is not a JSON object from modules to devices: {first_line(error)}"
        ) from error


def json_or_text(text: str) -> Any:
    """The value of an option: as JSON where it is JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
