"""Half-open connections, ids that are not one's own, invented ids, forged hosts and very long
numbers."""

from __future__ import annotations

import asyncio
import base64
import hmac
import inspect
import json
import operator
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h11
import httpx
import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from starlette.testclient import TestClient
from tests.judge.conftest import Opener
from tests.judge.crowd import Server, free_port
from tests.judge.studies import ServedStudy, form_token, pairs_file, rating_study, serve_in_test
from uvicorn.protocols.http.h11_impl import H11Protocol

from seesay.errors import UserError
from seesay.judge import participants, security
from seesay.judge.signed_ids import SignedIds
from seesay.judge.web.app import make_app
from seesay.judge.web.connections import ConnectionLimits, allow_open_files, limited_protocol
from seesay.judge.web.rate_limits import address_key

HALF_REQUEST = b"GET /static/style.css HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudy]:
    opened = serve_in_test(rating_study(tmp_path), str(tmp_path / "study.sqlite"))
    yield opened
    opened.database.close()


@contextmanager
def running(served: ServedStudy, limits: ConnectionLimits) -> Iterator[int]:
    """The study on a real port, with these limits."""
    port = free_port()
    app = make_app(served.study, served.database)
    config = uvicorn.Config(
        app, port=port, http=limited_protocol(limits), log_level="critical", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join(10)


def connect(port: int, text: bytes = HALF_REQUEST, source: str = "127.0.0.1") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 10, (source, 0))
    connection.sendall(text)
    return connection


def status(port: int, source: str = "127.0.0.1") -> int:
    """A whole request from an address."""
    with connect(port, HALF_REQUEST + b"Connection: close\r\n\r\n", source) as connection:
        response = connection.recv(100_000)
        while piece := connection.recv(100_000):
            response += piece
        return int(response.split()[1])


def is_closed(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        while connection.recv(100_000):
            pass
        return True
    except ConnectionError:
        return True
    except TimeoutError:
        return False


@pytest.mark.seconds
@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        HALF_REQUEST,
        b"POST /researcher/login HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\nform=",
        HALF_REQUEST + b"\r\n" + HALF_REQUEST,  # a whole one, and a half behind it
    ],
)
def test_request_must_arrive_in_time(served: ServedStudy, beginning: bytes) -> None:
    with (
        running(served, ConnectionLimits(receive_seconds=0.4)) as port,
        connect(port, beginning) as slow,
    ):
        start = time.monotonic()
        reply = b""
        while time.monotonic() - start < 10:  # a byte at a time prolongs nothing
            try:
                slow.sendall(b"x")
                slow.settimeout(0.05)
                if not (piece := slow.recv(10_000)):
                    break
                reply += piece
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert 0.3 < time.monotonic() - start < 5
        assert reply.count(b"200 OK") == beginning.count(b"\r\n\r\n") * beginning.startswith(b"GET")


def test_one_address_cannot_block_others(served: ServedStudy) -> None:
    limits = ConnectionLimits(total=20, per_address=5, receive_seconds=60)
    with running(served, limits) as port:
        attackers = [connect(port, source="127.0.0.2") for _ in range(12)]
        assert status(port) == 200
        assert status(port, "127.0.0.2") == 200  # who shares the address is served, too
        # one made room for the last request
        assert sum(is_closed(attacker, 0.05) for attacker in attackers) == 8
        many = [connect(port, source=f"127.0.1.{number}") for number in range(30)]
        assert status(port) == 200
        assert len(limits.connections) <= 20
        for connection in (*attackers, *many):
            connection.close()


def test_active_connections_are_not_dropped(served: ServedStudy) -> None:
    """Idle ones that have been served go before; where all are at work, the newcomer is closed."""
    limits = ConnectionLimits(per_address=1)
    with running(served, limits) as port:
        with connect(port, HALF_REQUEST + b"\r\n") as idle:
            assert idle.recv(10_000).startswith(b"HTTP/1.1 200")
            assert status(port) == 200
            assert is_closed(idle, 5)
        while limits.connections:  # the last one is still being closed
            time.sleep(0.01)
        holding = threading.Event()
        served.database.submit(lambda tx: holding.wait(20))
        token = security.new_token()
        with connect(port, f"GET /a/{token} HTTP/1.1\r\nHost: x\r\n\r\n".encode()) as working:
            while not any(protocol.is_answering for protocol in list(limits.connections)):
                time.sleep(0.01)
            with connect(port) as newcomer:
                assert is_closed(newcomer, 5)
            holding.set()
            assert working.recv(10_000).startswith(b"HTTP/1.1 404")


PROTOCOL_METHODS = {
    "connection_made": ["self", "transport"],
    "data_received": ["self", "data"],
    "on_response_complete": ["self"],
    "pause_writing": ["self"],
    "resume_writing": ["self"],
    "connection_lost": ["self", "exc"],
}
PROTOCOL_STATE = (
    *(
        "client",
        "loop",
        "transport.abort",
        "transport.is_closing",
        "transport.get_write_buffer_size",
    ),
    *("conn.their_state", "conn.trailing_data", "cycle.response_complete"),
)


def test_uvicorn_internals_are_as_expected(served: ServedStudy) -> None:
    """`LimitedProtocol` overrides methods of a class that uvicorn does not document, and reads its
    state."""
    advice = (
        f"uvicorn {uvicorn.__version__} is not as judge/web/connections.py expects it: read the "
        "changes of its "
        "H11Protocol, adapt LimitedProtocol and this list, or lower the ceiling of uvicorn in "
        "pyproject.toml."
    )
    for name, parameters in PROTOCOL_METHODS.items():
        method = getattr(H11Protocol, name, None)
        assert method is not None, f"H11Protocol.{name} is gone. {advice}"
        assert list(inspect.signature(method).parameters) == parameters, (
            f"H11Protocol.{name} has changed. {advice}"
        )
    limits = ConnectionLimits()
    with running(served, limits) as port, connect(port, HALF_REQUEST + b"\r\n") as connection:
        assert connection.recv(10_000).startswith(b"HTTP/1.1 200")
        assert limits.connections, f"H11Protocol.connection_made is no longer called. {advice}"
        protocol = next(iter(limits.connections))
        for name in PROTOCOL_STATE:
            try:
                operator.attrgetter(name)(protocol)
            except AttributeError:
                pytest.fail(f"H11Protocol has no {name}. {advice}")
        assert isinstance(protocol.conn, h11.Connection), (
            f"H11Protocol.conn is no connection of h11. {advice}"
        )


def test_connections_fit_into_the_open_files() -> None:
    assert 0 < allow_open_files(2000) <= 2000
    assert address_key("192.0.2.7") == "192.0.2.7" == address_key("::ffff:192.0.2.7")
    assert (
        address_key("2001:db8::1") == address_key("2001:db8::2:3") != address_key("2001:db8:0:1::1")
    )
    assert address_key("testclient") == "testclient"


@pytest.mark.slow
@pytest.mark.parametrize("open_files", [None, 1024])
@pytest.mark.parametrize("addresses", [1, 100], ids=["one address", "a hundred addresses"])
def test_two_thousand_half_open_connections(
    tmp_path: Path, addresses: int, open_files: int | None
) -> None:
    server = Server(pairs_file(tmp_path), str(tmp_path / "a.sqlite"), open_files=open_files)
    attackers: list[socket.socket] = []
    slowest = 0.0
    try:
        tokens = [link.rsplit("/", 1)[1] for link in server.start(links=20)["links"]]
        for number in range(2100):
            attackers.append(connect(server.port, source=f"127.0.0.{2 + number % addresses}"))
        for token in tokens:
            start = time.monotonic()
            page = f"GET /a/{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
            with connect(server.port, page) as person:
                assert person.recv(100).startswith(b"HTTP/1.1 200")
            slowest = max(slowest, time.monotonic() - start)
    finally:
        for attacker in attackers:
            attacker.close()
        server.stop()
    print(
        f"2,100 half-open connections from {addresses} addresses: the slowest of 20 people waited "
        f"{slowest:.3f} s"
    )
    assert slowest < 2


def join(served: ServedStudy, **parameters: str) -> Any:
    key = served.rows("SELECT value FROM study WHERE key = ?", "join")[0][0]
    return served.client.get(f"/join/{key}", params=parameters, follow_redirects=False)


def test_worker_id_alone_does_not_open_a_session(serve: Opener, tmp_path: Path) -> None:
    served = serve(rating_study(tmp_path))
    for worker, visit in (("PROLIFIC_PID", "SESSION_ID"), ("workerId", "assignmentId")):
        first = join(served, **{worker: "ann", visit: "s1"})
        assert first.status_code == 303
        assert (
            join(served, **{worker: "ann", visit: "s1"}).headers["location"]
            == first.headers["location"]
        )
        for attempt in ({}, {visit: ""}, {visit: "s2"}):
            stolen = join(served, **{worker: "ann", **attempt})
            assert stolen.status_code == 403
            assert "This id has been used before" in stolen.text
        alone = join(served, **{worker: "bob"})  # a link without the site's second parameter
        assert alone.status_code == 303
        assert join(served, **{worker: "bob"}).status_code == 403
        # their page stays theirs
        assert served.client.get(alone.headers["location"]).status_code == 200
    assert served.rows("SELECT COUNT(*) FROM person") == [(4,)]


@pytest.fixture(scope="module")
def private_key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def encoded(value: object) -> str:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


CLAIMS = {
    "iss": "https://www.prolific.com",
    "aud": "study.example.org",
    "exp": 1_800_000_300,
    "prolific": {"PROLIFIC_PID": "ann", "SESSION_ID": "s1"},
}


def signed(key: RSAPrivateKey, header: dict[str, Any] | None = None, **changes: Any) -> str:
    """A token as Prolific makes it (docs.prolific.com, "Retrieve JSON Web Key Set"), signed by
    another library."""
    head = {"alg": "RS256", "kid": "k1", "typ": "JWT"} | (header or {})
    content = f"{encoded(head)}.{encoded(CLAIMS | changes)}"
    return f"{content}.{encoded(key.sign(content.encode(), PKCS1v15(), SHA256()))}"


@pytest.fixture
def keys_file(tmp_path: Path, private_key: RSAPrivateKey) -> Path:
    keys = [jwk(private_key, kid="k1", alg="RS256"), {"kty": "EC", "kid": "k2"}]
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": keys}), encoding="utf-8")
    return path


def test_ids_signed_by_prolific(
    served: ServedStudy, keys_file: Path, private_key: RSAPrivateKey, tmp_path: Path
) -> None:
    unsigned = join(served, PROLIFIC_PID="ann", SESSION_ID="s1").headers["location"]
    ids = SignedIds(keys_file, "https://study.example.org").check()
    app = make_app(served.study, served.database, signed_ids=ids, clock=served.clock)
    served.client = TestClient(app, base_url="http://testserver")
    token = signed(private_key)
    first = join(served, prolific_token=token, PROLIFIC_PID="eve")
    assert first.status_code == 303
    again = join(
        served, prolific_token=signed(private_key, aud=["https://study.example.org/join/x"])
    )
    # what was unsigned ends
    assert again.headers["location"] == first.headers["location"] != unsigned
    assert served.client.get(unsigned).status_code == 404
    stranger = generate_private_key(65537, 2048)
    head, body, signature = token.split(".")
    anonymous = {"aud": "study.example.org", "exp": 1_900_000_000, "prolific": {}}
    forged = [
        "",
        "a.b.c",
        "." * 5,
        "ü.ü.ü",
        "x" * 9000,
        signed(stranger),
        signed(private_key, exp=1_799_999_999),
        signed(private_key, exp="9" * 5000),
        signed(private_key, exp=float("inf"), aud=7),
        signed(private_key, aud="elsewhere.example"),
        signed(private_key, prolific={}),
        signed(private_key, prolific={"PROLIFIC_PID": ""}),
        signed(private_key, header={"kid": "k2"}),
        signed(private_key, header={"alg": "none"}),
        f"{encoded({'alg': 'none', 'kid': 'k1'})}.{body}.",
        f"{head}.{encoded(anonymous)}.{signature}",
        f"{head}.{body}.{encoded(bytes(256))}",
        f"{head}.{body}.{signature[:-4]}",
        f"{head}.{encoded(b'[' * 3000)}.{signature}",
    ]
    for token in forged:
        assert join(
            served, prolific_token=token, PROLIFIC_PID="ann", SESSION_ID="s1"
        ).status_code in (403, 429), token
    assert served.rows("SELECT COUNT(*) FROM person") == [(1,)]
    keys_file.write_text("{", encoding="utf-8")
    assert join(served, prolific_token=signed(private_key)).status_code == 403
    with pytest.raises(UserError, match="is not a JWKS document"):
        ids.check()
    with pytest.raises(UserError, match="--public-url"):
        SignedIds(keys_file, "").check()


@pytest.fixture(scope="module")
def short_key() -> RSAPrivateKey:
    return generate_private_key(65537, 1024)


def jwk(key: RSAPrivateKey, **fields: str) -> dict[str, str]:
    numbers = key.public_key().public_numbers()
    return {
        "kty": "RSA",
        "n": encoded(numbers.n.to_bytes(key.key_size // 8)),
        "e": "AQAB",
        **fields,
    }


def test_only_rsa_keys_of_2048_bits_with_sha256_sign_ids(
    tmp_path: Path, private_key: RSAPrivateKey, short_key: RSAPrivateKey
) -> None:
    secret = b"a secret that someone published as a key"
    keys = [
        jwk(private_key, kid="rsa"),
        jwk(private_key, kid="rs512", alg="RS512"),
        jwk(private_key, kid="ps256", alg="PS256"),
        jwk(short_key, kid="short"),
        {"kty": "oct", "kid": "hmac", "k": encoded(secret)},
    ]
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": keys}), encoding="utf-8")
    ids = SignedIds(path, "https://study.example.org").check()
    now = 1_800_000_000.0

    def worker(key: RSAPrivateKey | bytes, algorithm: str, kid: str) -> str | None:
        return ids.worker(jwt.encode(CLAIMS, key, algorithm, headers={"kid": kid}), now)

    assert worker(private_key, "RS256", "rsa") == "ann"
    assert worker(private_key, "RS512", "rs512") is None
    assert worker(private_key, "RS512", "rsa") is None
    assert worker(private_key, "PS256", "ps256") is None
    assert ids.worker(signed(short_key, {"kid": "short"}), now) is None
    assert worker(secret, "HS256", "hmac") is None
    # The public key is public: it must not serve as the secret of a symmetric signature.
    public = private_key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    content = f"{encoded({'alg': 'HS256', 'kid': 'rsa'})}.{encoded(CLAIMS)}"
    assert (
        ids.worker(f"{content}.{encoded(hmac.digest(public, content.encode(), 'sha256'))}", now)
        is None
    )
    path.write_text(json.dumps({"keys": keys[1:3] + keys[4:]}), encoding="utf-8")
    with pytest.raises(UserError, match="holds no RSA key for RS256"):
        ids.check()


def test_invented_ids_are_limited(
    serve: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(rating_study(tmp_path))
    assert participants.max_workers(served.study) == 1000
    monkeypatch.setattr(participants, "max_workers", lambda study: 5)
    opened = [
        join(served, PROLIFIC_PID=f"invented {number}", SESSION_ID="s") for number in range(8)
    ]
    assert [reply.status_code for reply in opened] == [303] * 5 + [403] * 3
    assert "tell the researcher" in opened[-1].text
    location = opened[0].headers["location"]
    form = {"form": form_token(served.client.get(location).text), "agree": "yes"}
    assert served.client.post(f"{location}/consent", data=form).status_code == 200
    gone = opened[2].headers["location"]
    form = {"form": form_token(served.client.get(gone).text), "agree": "yes"}
    assert served.client.post(f"{gone}/consent", data=form).status_code == 200
    served.database.submit(lambda tx: participants.withdraw(tx, gone.removeprefix("/a/"))).result()
    # those who never agreed make room; who did, who withdrew, and the last number, stay
    served.clock.now += 3700
    assert join(served, PROLIFIC_PID="real", SESSION_ID="s").status_code == 303
    assert [row[0] for row in served.rows("SELECT id FROM person ORDER BY id")] == [1, 3, 5, 6]
    assert served.client.get(location).status_code == 200
    assert served.client.get(opened[1].headers["location"]).status_code == 404
    # and may come back
    assert join(served, PROLIFIC_PID="invented 1", SESSION_ID="s").headers == opened[1].headers
    assert served.invite()  # the researcher's own links are not limited by this


@pytest.mark.seconds
def test_joins_of_one_address_are_limited(served: ServedStudy) -> None:
    replies = [join(served, PROLIFIC_PID="ann", SESSION_ID="s").status_code for _ in range(320)]
    assert replies[:300] == [303] * 300
    assert replies[-1] == 429


def test_links_ignore_the_host_header(served: ServedStudy) -> None:
    app = make_app(
        served.study, served.database, public_url="https://study.example.org/", clock=served.clock
    )
    served.client = TestClient(app, base_url="https://testserver", headers={"Host": "evil.example"})
    served.login()
    page = served.client.get("/researcher").text
    shown = served.client.post(
        "/researcher/links", data={"form": form_token(page), "count": "2"}
    ).text
    assert shown.count("https://study.example.org/a/") == 2
    assert "https://study.example.org/join/" in page
    assert "evil.example" not in page + shown


def test_links_of_a_server_without_a_public_address(tmp_path: Path) -> None:
    """They begin with the address that the server listens at, whatever a request says."""
    server = Server(pairs_file(tmp_path), str(tmp_path / "a.sqlite"))
    try:
        password = server.start()["password"]
        with httpx.Client(
            base_url=f"http://127.0.0.1:{server.port}", headers={"Host": "evil.example"}
        ) as client:
            form = {"form": form_token(client.get("/researcher").text), "password": password}
            cookie = (
                client.post("/researcher/login", data=form).headers["set-cookie"].partition(";")[0]
            )
            page = client.get("/researcher", headers={"Cookie": cookie}).text
        assert f"http://127.0.0.1:{server.port}/join/" in page
        assert "evil.example" not in page
    finally:
        server.stop()


LONG = "9" * 5000


def test_numbers_of_5000_digits(served: ServedStudy) -> None:
    token = served.begin()
    form = served.fill(token)
    bearer = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    assert served.send(token, int("9" * 12), form).status_code == 400
    for path in (
        f"/a/{token}/page/{LONG}",
        f"/a/{token}/picture/{LONG}/1",
        f"/a/{token}/picture/1/{LONG}",
    ):
        reply = served.client.post(path, data=form) if "/page/" in path else served.client.get(path)
        assert reply.status_code == 400, path[:40]
    assert served.client.get(f"/a/preview/picture/0/{LONG}").status_code == 400
    for name in ("page", "place", "value"):
        body = {"page": 1, "place": 1, "value": 1, "how": "moved", "key": security.new_token()} | {
            name: "LONG"
        }
        for number in (LONG, f"-{LONG}", f"{LONG}.0", "1e400", "1e308"):
            content = json.dumps(body).replace('"LONG"', number)
            reply = served.client.post("/api/answers", content=content, headers=bearer)
            assert reply.status_code == (422 if "e" in number else 400), (
                name,
                number[:10],
                reply.text,
            )
    assert served.send(token, 1, {**form, "v1": LONG}).status_code == 422
    for length in (LONG, "²", "-1"):
        headers = [
            *((name.encode(), value.encode()) for name, value in bearer.items()),
            (b"Content-Length", length.encode()),
        ]
        assert served.client.post("/api/answers", content=b"", headers=headers).status_code == 413
    served.login()
    csrf = form_token(served.client.get("/researcher").text)
    assert (
        served.client.post("/researcher/links", data={"form": csrf, "count": LONG}).status_code
        == 422
    )
    assert served.rows("SELECT COUNT(*) FROM answer") == [(0,)]
