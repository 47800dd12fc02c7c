"""Ids that a recruiting platform has signed: Prolific's secure study links (`prolific_token`).

The token is a JSON Web Token (RFC 7519) signed with RSA and SHA-256 (RS256, RFC 7518 section 3.3). Only public keys are
needed: https://api.prolific.com/.well-known/study/jwks.json, saved to a file and renewed daily.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import math
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from seesay.errors import UserError

logger = logging.getLogger(__name__)

_SHA256_PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")
"""DigestInfo of SHA-256 (RFC 8017, section 9.2)."""
_LONGEST_TOKEN = 8192
_MIN_KEY_BYTES = 256
_MAX_KEY_BYTES = 1024


@dataclass(frozen=True)
class SignedIds:
    """Verifies the tokens of one study. The file of keys is read at each token, so that it can be renewed."""

    keys: Path
    public_url: str

    def check(self) -> SignedIds:
        """Refuse a file without usable keys, and a study without a public address to compare with."""
        if not self.public_url:
            raise UserError("Signed ids name the study's address: give it with --public-url.")
        if not self._read_keys():
            raise UserError(f"{self.keys} holds no RSA key for RS256: save Prolific's JWKS document there.")
        return self

    def worker(self, token: str, now: float) -> str | None:
        """The worker's id in a token that is authentic, for this study's address and not expired."""
        try:
            signed, _, signature = token.rpartition(".")
            head, _, body = signed.partition(".")
            if len(token) > _LONGEST_TOKEN or not token.isascii():
                return None
            header, claims = json.loads(_decode(head)), json.loads(_decode(body))
            modulus, exponent = self._read_keys()[header["kid"]]
            if header["alg"] != "RS256" or not _verify(signed.encode(), _decode(signature), modulus, exponent):
                return None
            audience, expires, worker = claims["aud"], claims["exp"], claims["prolific"]["PROLIFIC_PID"]
            own = urlsplit(self.public_url).netloc
            names = audience if isinstance(audience, list) else [audience]
            is_ours = any(isinstance(name, str) and own in (name, urlsplit(name).netloc) for name in names)
            if is_ours and isinstance(worker, str) and 0 < len(worker) <= 200 and now < expires < math.inf:
                return worker
        except UserError as error:
            logger.warning("%s", error)
        except (ValueError, LookupError, TypeError, RecursionError, OverflowError):
            pass  # not a token
        return None

    def _read_keys(self) -> dict[str, tuple[int, int]]:
        try:
            document: Mapping[str, Any] = json.loads(self.keys.read_text(encoding="utf-8"))
            usable = [key for key in document["keys"] if key["kty"] == "RSA" and key.get("alg", "RS256") == "RS256"]
            return {str(key["kid"]): (_number(key["n"]), _number(key["e"])) for key in usable}
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(f"{self.keys} is not a JWKS document ({type(error).__name__}).") from error


def _verify(message: bytes, signature: bytes, modulus: int, exponent: int) -> bool:
    """RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2.2): the whole padded digest is compared, nothing is parsed."""
    size = (modulus.bit_length() + 7) // 8
    if not _MIN_KEY_BYTES <= size <= _MAX_KEY_BYTES or len(signature) != size or not 3 <= exponent < 1 << 32:
        return False
    digest = _SHA256_PREFIX + hashlib.sha256(message).digest()
    expected = b"\x00\x01" + b"\xff" * (size - len(digest) - 3) + b"\x00" + digest
    return hmac.compare_digest(pow(int.from_bytes(signature), exponent, modulus).to_bytes(size), expected)


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _number(text: str) -> int:
    return int.from_bytes(_decode(text))
