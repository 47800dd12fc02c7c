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
    """Verifies the tokens of one study."""

    keys: Path
    """A JWKS document. It is read at each token, so that it can be renewed."""
    public_url: str

    def check(self) -> SignedIds:
        """Refuse a file without usable keys, and a study without a public address."""
        if not self.public_url:
            raise UserError("Signed ids name the study's address: give it with --public-url.")
        if not self._read_keys():
            raise UserError(
                f"{self.keys} holds no RSA key for {_ALGORITHM}: save Prolific's JWKS document "
                "there."
            )
        return self

    def worker(self, token: str, now: float) -> str | None:
        """Return the worker's id in a token of this study; None for any other token.

        It must be authentic, for this study's address and not expired.
        """
        # Before anything is parsed.
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
            is_valid = now < claims["exp"] < math.inf and self._is_audience(claims["aud"])
            if is_valid and isinstance(worker, str) and 0 < len(worker) <= 200:
                return worker
        except UserError as error:
            logger.warning("%s", error)
        # A token is whatever a visitor sends: anything may be wrong with it.
        except (jwt.PyJWTError, ValueError, LookupError, TypeError, RecursionError):
            pass
        return None

    def _is_audience(self, audience: object) -> bool:
        """Return whether a token's audience is the study's host, or an address there."""
        host = urlsplit(self.public_url).netloc
        names = audience if isinstance(audience, list) else [audience]
        return any(
            isinstance(name, str) and host in (name, urlsplit(name).netloc) for name in names
        )

    def _read_keys(self) -> dict[str, jwt.PyJWK]:
        """Return the keys of the file that can verify a token, by their ids."""
        try:
            keys = jwt.PyJWKSet.from_json(self.keys.read_text(encoding="utf-8")).keys
        except jwt.PyJWKSetError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(
                f"{self.keys} is not a JWKS document ({type(error).__name__})."
            ) from error
        # Only one algorithm is accepted: a token must not choose a weaker one.
        return {str(key.key_id): key for key in keys if key.algorithm_name == _ALGORITHM}
