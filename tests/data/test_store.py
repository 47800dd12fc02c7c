"""The data folder: only whole and checked files reach it, over the network or by hand."""

from __future__ import annotations

import functools
import hashlib
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.shared_data import shared

from seesay.data import catalogue, store
from seesay.data.catalogue import CATALOGUE, DataFile, DataSet
from seesay.data.downloads import check_address
from seesay.errors import UserError

CONTENT = {"one.jsonl": b"first\n" * 50_000, "two.txt": b"second\n"}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def data_file(name: str, content: bytes) -> DataFile:
    return DataFile(name, f"https://data.invalid/{name}", digest(content), len(content))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))
    files = tuple(data_file(name, content) for name, content in CONTENT.items())
    pair = DataSet("a-pair", "Two files", files, "none", "nobody", "", "none")
    asked = DataSet(
        "asked-for", "One file", (DataFile("norms.dat"),), "none", "", "", "none", "ask its owners"
    )
    monkeypatch.setitem(catalogue.CATALOGUE, "a-pair", pair)
    monkeypatch.setitem(catalogue.CATALOGUE, "asked-for", asked)
    return tmp_path / "data" / "a-pair"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, Callable[[DataFile], str]]]:
    """A folder on a local server, and the addresses of its files."""
    root = tmp_path / "served"
    root.mkdir()
    for name, content in CONTENT.items():
        (root / name).write_bytes(content)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/away":
                self.send_response(302)
                self.send_header("Location", "http://example.invalid/one.jsonl")
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, format: str, *args: object) -> None: ...

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(root))
    )
    thread = threading.Thread(
        target=functools.partial(server.serve_forever, poll_interval=0.01), daemon=True
    )
    thread.start()
    yield root, lambda file: f"http://127.0.0.1:{server.server_port}/{file.name}"
    server.shutdown()
    server.server_close()
    thread.join()


Served = tuple[Path, Callable[[DataFile], str]]


def states(name: str = "a-pair") -> list[str]:
    return [status.state for status in store.check_files([name])]


def left_behind(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_the_catalogue_is_complete() -> None:
    published = {
        name: entry for name, entry in CATALOGUE.items() if name not in ("a-pair", "asked-for")
    }
    assert list(published) == [
        "memory-colors",
        "property-norms",
        "cslb-norms",
        "coda",
        "viphy",
        "verb-physics",
        "numersense",
        "prost",
        "vsr",
        "spatial-commonsense",
        "imagenetvc",
        "things-sizes",
        "meteor",
    ]
    for name, entry in published.items():
        assert entry.name == name
        assert entry.licence
        assert entry.citation
        assert entry.fetchable or entry.request
        for file in entry.files:
            if file.address:
                check_address(file.address)
                renamed = name == "spatial-commonsense"  # published as size/data.json and so on
                end = f"{file.name.removesuffix('.json')}/data.json" if renamed else file.name
                if file.name.startswith("examples/"):  # ViPhy's, of another repository
                    end = file.name.replace("examples/", "viphy_data/")
                assert file.address.endswith(f"/{end}")
                assert file.sha256
                assert len(file.sha256) == 64
                assert file.size


def test_fetching_checks_and_reports(served: Served, folder: Path) -> None:
    heard: list[tuple[str, int, int]] = []
    assert states() == ["missing", "missing"]
    placed = store.fetch("a_pair", address=served[1], progress=lambda *step: heard.append(step))
    assert [path.read_bytes() for path in placed] == list(CONTENT.values())
    assert states() == ["verified", "verified"]
    assert heard[-1] == ("two.txt", 7, 7)
    assert [came for name, came, _ in heard if name == "one.jsonl"][-1] == 300_000
    assert left_behind(folder) == ["one.jsonl", "two.txt"]


def test_existing_files_are_not_fetched_again(served: Served) -> None:
    store.fetch("a-pair", address=served[1])
    store.fetch("a-pair", address=lambda file: "https://data.invalid/never-asked")


def test_a_damaged_file_is_seen_and_fetched_again(served: Served, folder: Path) -> None:
    store.fetch("a-pair", address=served[1])
    (folder / "two.txt").write_text("changed")
    assert states() == ["verified", "damaged"]
    store.fetch("a-pair", address=served[1])
    assert states() == ["verified", "verified"]


def test_another_content_is_refused(served: Served, folder: Path) -> None:
    (served[0] / "one.jsonl").write_bytes(b"x" * 300_000)
    with pytest.raises(
        UserError,
        match=f"checksum is {digest(b'x' * 300_000)}, expected {digest(CONTENT['one.jsonl'])}",
    ):
        store.fetch("a-pair", address=served[1])
    assert left_behind(folder) == []


def test_more_than_the_declared_size_is_refused(served: Served, folder: Path) -> None:
    (served[0] / "one.jsonl").write_bytes(CONTENT["one.jsonl"] + b"!")
    with pytest.raises(UserError, match="sent more than the expected 300,000 bytes"):
        store.fetch("a-pair", address=served[1])
    assert left_behind(folder) == []


@pytest.mark.parametrize("port", ["1", "closed"])
def test_offline_says_what_to_do(served: Served, folder: Path, port: str) -> None:
    def address(file: DataFile) -> str:
        return f"http://127.0.0.1:1/{file.name}" if port == "1" else served[1](file) + ".gone"

    with pytest.raises(UserError, match=r"(?s)Could not reach .*seesay data add a-pair PATH"):
        store.fetch("a-pair", address=address)
    assert left_behind(folder) == []


@pytest.mark.parametrize(
    "address", ["http://example.invalid/x", "file:///etc/hostname", "ftp://example.invalid/x", ""]
)
def test_only_https_is_fetched(address: str) -> None:
    with pytest.raises(UserError, match="is not an https address"):
        check_address(address)


def test_a_redirect_may_not_leave_https(served: Served) -> None:
    away = served[1](DataFile("away"))
    with pytest.raises(UserError, match=r"example\.invalid/one\.jsonl is not an https address"):
        store.fetch("a-pair", address=lambda file: away)


def test_what_cannot_be_fetched_says_whom_to_ask() -> None:
    with pytest.raises(UserError, match="cannot be fetched: ask its owners"):
        store.fetch("asked-for")
    with pytest.raises(
        UserError, match="ask its owners; if you have the file: `seesay data add asked-for PATH`"
    ):
        store.require_file("asked-for", "norms.dat")


def test_adding_a_folder_and_a_renamed_file(served: Served, folder: Path, tmp_path: Path) -> None:
    assert store.add("a-pair", served[0]) == [folder / "one.jsonl", folder / "two.txt"]
    (folder / "two.txt").unlink()
    renamed = tmp_path / "download (1)"
    renamed.write_bytes(CONTENT["two.txt"])
    assert store.add("a-pair", renamed) == [folder / "two.txt"]
    assert states() == ["verified", "verified"]


def test_adding_is_all_or_nothing(served: Served, folder: Path) -> None:
    (served[0] / "two.txt").write_text("another")
    with pytest.raises(
        UserError, match=r"is not the published two\.txt: its checksum is .* expected .*--force"
    ):
        store.add("a-pair", served[0])
    assert left_behind(folder) == []


def test_force_marks_a_file_as_unverified(served: Served, folder: Path) -> None:
    (served[0] / "two.txt").write_text("another")
    store.add("a-pair", served[0], force=True)
    assert states() == ["verified", "unverified"]
    (folder / "two.txt").write_text("and another")
    assert states() == ["verified", "damaged"]
    (served[0] / "two.txt").write_bytes(CONTENT["two.txt"])
    store.add("a-pair", served[0])
    assert states() == ["verified", "verified"]
    assert left_behind(folder) == ["one.jsonl", "two.txt"]


def test_a_file_without_published_checksum_is_taken_as_it_is(tmp_path: Path) -> None:
    mine = tmp_path / "my-norms.dat"
    mine.write_text("anything")
    placed = store.add("asked-for", mine)
    assert states("asked-for") == ["unverified"]
    assert store.require_file("asked-for", "norms.dat") == placed[0]


def test_adding_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "three.txt").write_text("3")
    with pytest.raises(
        UserError, match=r"holds none of the files of 'a-pair': one\.jsonl, two\.txt"
    ):
        store.add("a-pair", tmp_path / "empty")
    with pytest.raises(UserError, match="There is no file or folder"):
        store.add("a-pair", tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"has no file named three\.txt"):
        store.add("a-pair", tmp_path / "three.txt")
    with pytest.raises(UserError, match=r"Unknown data set 'a-pear'\. Did you mean 'a-pair'"):
        store.add("a-pear", tmp_path)


def test_a_data_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "a-file"))
    with pytest.raises(UserError, match=r"Cannot write .*one\.jsonl"):
        store.add("a-pair", served[0])


def test_missing_file_names_the_two_commands_that_help(served: Served, tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"`seesay data fetch a-pair` fetches it; .* `seesay data add a-pair PATH`"
    ):
        store.require_file("a-pair", "two.txt")
    assert store.require_file("a-pair", "two.txt", served[0]) == served[0] / "two.txt"
    assert (
        store.require_file("a-pair", "two.txt", served[0] / "one.jsonl") == served[0] / "one.jsonl"
    )
    with pytest.raises(UserError, match=r"There is no two\.txt in"):
        store.require_file("a-pair", "two.txt", tmp_path)
    with pytest.raises(UserError, match="There is no file or folder"):
        store.require_file("a-pair", "two.txt", tmp_path / "nowhere")


def test_lookup_beside_a_file(served: Served, tmp_path: Path) -> None:
    assert store.find_file("a-pair", "two.txt", served[0] / "one.jsonl") == served[0] / "two.txt"
    assert store.find_file("a-pair", "two.txt", tmp_path) is None


def test_what_papers_read_beside_the_tasks_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`data add` of the published folders: the annotated examples, ConceptNet's names, and the
    accuracies of Memory Colors."""
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))
    beside = {
        "viphy": (
            "extra/cnet_objs.txt",
            "examples/size_examples.tsv",
            "examples/spatial_examples.tsv",
        ),
        "memory-colors": ("results.csv",),
    }
    for name, files in beside.items():
        folder = shared(name.replace("-", "_"))
        store.add(name, folder)
        states = {status.file: status.state for status in store.check_files([name])}
        assert set(states.values()) == {"verified"}
        for file in files:
            path = store.find_file(name, file)
            assert path is not None
            assert path.read_bytes() == (folder / file).read_bytes()
