"""Ids that a recruiting platform has signed: Prolific's secure study links (`prolific_token`).

The token is a JSON Web Token (RFC 7519) signed with RSA and SHA-256 (RS256). Only public keys are
needed: https://api.prolific.com/.well-known/study/jwks.json, saved to a file and renewed daily.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import jwt

from seesay.errors import UserError

logger = logging.getLogger(__name__)

_ALGORITHM = "RS256"
_LONGEST_TOKEN = 8192


@dataclass(frozen=True)
class SignedIds:
    """Verifies the tokens of one study. The file of keys is read at each token, so that it can be
    renewed."""

    keys: Path
    public_url: str

    def check(self) -> SignedIds:
        """Refuse a file without usable keys, and a study without a public address to compare
        with."""
        if not self.public_url:
            raise UserError("Signed ids name the study's address: give it with --public-url.")
        if not self._read_keys():
            raise UserError(
                f"{self.keys} holds no RSA key for {_ALGORITHM}: save Prolific's JWKS document "
                "there."
            )
        return self

    def worker(self, token: str, now: float) -> str | None:
        """The worker's id in a token that is authentic, for this study's address and not
        expired."""
        if len(token) > _LONGEST_TOKEN:
            return None
        try:
            key = self._read_keys()[jwt.get_unverified_header(token)["kid"]]
            claims = jwt.decode(
                token,
                key,
                algorithms=[_ALGORITHM],
                # The server's clock and the address in a URL are compared below.
                options={
                    "enforce_minimum_key_length": True,
                    "verify_aud": False,
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
            worker = claims["prolific"]["PROLIFIC_PID"]
            is_current = now < claims["exp"] < math.inf
            if (
                is_current
                and self._is_audience(claims["aud"])
                and isinstance(worker, str)
                and 0 < len(worker) <= 200
            ):
                return worker
        except UserError as error:
            logger.warning("%s", error)
        except (jwt.PyJWTError, ValueError, LookupError, TypeError, RecursionError):
            pass  # not a token of this study
        return None

    def _is_audience(self, audience: object) -> bool:
        """Whether a token is meant for this study: its audience is the study's host, or an address
        there."""
        host = urlsplit(self.public_url).netloc
        names = audience if isinstance(audience, list) else [audience]
        return any(
            isinstance(name, str) and host in (name, urlsplit(name).netloc) for name in names
        )

    def _read_keys(self) -> dict[str, jwt.PyJWK]:
        try:
            keys = jwt.PyJWKSet.from_json(self.keys.read_text(encoding="utf-8")).keys
        except jwt.PyJWKSetError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(
                f"{self.keys} is not a JWKS document ({type(error).__name__})."
            ) from error
        return {str(key.key_id): key for key in keys if key.algorithm_name == _ALGORITHM}
