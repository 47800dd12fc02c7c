"""Passwords, link tokens and form tokens. Only digests are stored."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
_CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""For codes that people copy by hand: no I, O, 0 or 1."""


def hash_password(password: str) -> str:
    """Return the password as it is stored: salted, and slow to guess (scrypt)."""
    salt = secrets.token_bytes(16)
    return f"scrypt${salt.hex()}${_scrypt(password, salt).hex()}"


def verify_password(password: str, stored: str) -> bool:
    """Return whether the password matches; compared in constant time."""
    _, salt, expected = stored.split("$")
    actual = _scrypt(password, bytes.fromhex(salt)).hex()
    return hmac.compare_digest(actual, expected)


def _scrypt(password: str, salt: bytes) -> bytes:
    # `replace`: a lone surrogate in a form must not be an error of the server.
    return hashlib.scrypt(password.encode("utf-8", "replace"), salt=salt, n=2**14, r=8, p=1)


def new_token() -> str:
    """Return a random token of 192 bits that can stand in a URL."""
    return secrets.token_urlsafe(24)


def is_token(text: str) -> bool:
    """Return whether a text has the form of a token; anything else is not looked up."""
    return _TOKEN.fullmatch(text) is not None


def digest(token: str) -> str:
    """Return a token as it is stored."""
    # Unlike passwords, tokens are too long to be guessed: a fast digest without salt suffices.
    return hashlib.sha256(token.encode()).hexdigest()


def new_completion_code() -> str:
    """Return a random completion code."""
    return "".join(secrets.choice(_CODE_ALPHABET) for _ in range(10))


def sign(secret: str, *parts: object) -> str:
    """Return a form token (HMAC) that is valid for one form of one participant."""
    content = "|".join(map(str, parts)).encode()
    return hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()


def verify_signature(signature: str, secret: str, *parts: object) -> bool:
    """Return whether a form token is valid; compared in constant time."""
    expected = sign(secret, *parts).encode()
    # As bytes: `compare_digest` raises on texts that are not ASCII.
    return hmac.compare_digest(signature.encode("utf-8", "replace"), expected)
