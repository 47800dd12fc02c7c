"""Passwords, links and form tokens. What is kept can check a secret but does not tell it."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

_SCRYPT = {"n": 2**14, "r": 8, "p": 1}
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""For codes that people copy by hand: no I, O, 0 or 1."""


def hash_password(password: str) -> str:
    """The password as it may be kept: salted, and slow to guess (scrypt)."""
    salt = secrets.token_bytes(16)
    made = hashlib.scrypt(password.encode(), salt=salt, n=_SCRYPT["n"], r=_SCRYPT["r"], p=_SCRYPT["p"])
    return f"scrypt${salt.hex()}${made.hex()}"


def check_password(password: str, kept: str) -> bool:
    """Whether it is the one; takes the same time right or wrong."""
    _, salt, expected = kept.split("$")
    made = hashlib.scrypt(
        password.encode("utf-8", "replace"), salt=bytes.fromhex(salt), n=_SCRYPT["n"], r=_SCRYPT["r"], p=_SCRYPT["p"]
    )
    return hmac.compare_digest(made.hex(), expected)


def new_token() -> str:
    """192 bits that nobody guesses, fit for a link."""
    return secrets.token_urlsafe(24)


def is_token(text: str) -> bool:
    """Whether it looks like one at all; nothing else is looked up."""
    return _TOKEN.fullmatch(text) is not None


def digest(token: str) -> str:
    """A token as it is kept."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_code() -> str:
    """A completion code."""
    return "".join(secrets.choice(_LETTERS) for _ in range(10))


def sign(secret: str, *parts: object) -> str:
    """A form token: only this server makes it, and it fits one form of one person."""
    return hmac.new(secret.encode(), "|".join(map(str, parts)).encode(), hashlib.sha256).hexdigest()


def is_signed(given: str, secret: str, *parts: object) -> bool:
    """Whether the form token fits; compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), sign(secret, *parts).encode())
