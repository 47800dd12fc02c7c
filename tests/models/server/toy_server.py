"""A small server of our own: a toy language model behind OpenAI's layouts, and whatever a bad
server may do."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = (
    "The color of a lemon tomato is are light red yellow blue green down up opposite Grass usually "
    "Two and two make"
)
TOKENS = list(
    dict.fromkeys(
        [
            *WORDS.split(),
            *(f" {word}" for word in WORDS.split()),
            *"abcdefghijklmnopqrstuvwxyzGRYBTUD .?\n-",
            "é",
        ]
    )
)

Reply = tuple[int, object]
Answer = Callable[[str, dict[str, Any]], Reply]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """The address of a server that answers as told; an answer that is no object is sent as it
    stands."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, output = answer(self.path, body)
            content = output.encode() if isinstance(output, str) else json.dumps(output).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def spell(text: str) -> list[str]:
    """The text in tokens, always the longest that fits."""
    tokens = []
    while text:
        tokens.append(max((token for token in TOKENS if text.startswith(token)), key=len))
        text = text[len(tokens[-1]) :]
    return tokens


def following(tokens: list[str]) -> dict[str, float]:
    """Log-probabilities of every next token, the likeliest first: any numbers, as long as they add
    up."""
    weights = {
        token: math.exp(
            hashlib.blake2b("|".join([*tokens, token]).encode(), digest_size=1).digest()[0] / 40
        )
        for token in TOKENS
    }
    total = math.fsum(weights.values())
    return {
        t: math.log(w / total)
        for t, w in sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    }


def logp(context: str, target: str) -> tuple[float, int]:
    """What the toy gives a text after another, and the text's tokens."""
    tokens, start = spell(context + target), len(spell(context))
    return math.fsum(following(tokens[:i])[tokens[i]] for i in range(start, len(tokens))), len(
        tokens
    ) - start


def old_layout(
    most: int, *, echo: bool, shown: Callable[[str], str] = str, beginning: str | None = None
) -> Answer:
    """OpenAI's first layout, as vLLM has it: echo of the prompt's tokens, at most so many
    log-probabilities."""

    def answer(path: str, body: dict[str, Any]) -> Reply:
        if path != "/v1/completions":
            return 404, {"detail": "Not Found"}
        if body.get("logprobs", 0) > most:
            return 400, {
                "error": {
                    "message": f"Requested sample logprobs, which is greater than max: {most}"
                }
            }
        if body.get("echo") and not echo:
            return 400, {"error": {"message": "echo is not supported"}}
        tokens = spell(body["prompt"])
        generated = next(iter(following(tokens)))
        mark = [] if beginning is None else [beginning]
        reported = [*mark, *tokens, generated] if body.get("echo") else [generated]
        tables: list[dict[str, float] | None] = []
        logps: list[float | None] = []
        for i, token in enumerate(reported):
            before = [*tokens, generated][: i - len(mark)] if body.get("echo") else tokens
            first = i == 0 and body.get("echo")
            table = following(before)
            logps.append(None if first else table[token])
            tables.append(
                None
                if first
                else {shown(t): table[t] for t in list(table)[: body.get("logprobs", 0)]}
            )
        logprobs = {
            "text_offset": [0] * len(reported),
            "tokens": [shown(t) for t in reported],
            "token_logprobs": logps,
            "top_logprobs": tables,
        }
        choice = {
            "index": 0,
            "text": shown(generated),
            "logprobs": logprobs,
            "finish_reason": "length",
        }
        usage = {"prompt_tokens": len(mark) + len(tokens), "completion_tokens": 1}
        return 200, {"object": "text_completion", "choices": [choice], "usage": usage}

    return answer


def completion(logprobs: object) -> Reply:
    """One completion with these log-probabilities."""
    return 200, {"choices": [{"text": " down", "index": 0, "logprobs": logprobs}]}


def chat(content: object) -> Reply:
    """One chat message."""
    return 200, {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]}
