"""Write the index of the tasks that are files (`make index`): what lists say of each, taken from
its task file.

`seesay tasks` reads the index and no task file. Its order is the order of lists: a new task comes
last, and may be moved.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from seesay.data.task_files.reader import read_declaration
from seesay.tasks import INDEX, TASK_FILES

Heads = dict[str, dict[str, str | float]]


def heads() -> Heads:
    """The head of every task file by the task's name: its title, source, and licence or data
    set."""
    by_name: Heads = {}
    for path in sorted(TASK_FILES.glob("*.yaml")):
        file = read_declaration(path).file
        if file is None:
            raise SystemExit(f"{path} cannot be read: `seesay tasks check {path}` says why.")
        fields = {
            "title": file.title,
            "source": file.source,
            "licence": file.licence,
            "dataset": file.dataset,
            "anchors": file.anchors,
        }
        by_name[path.stem] = {name: value for name, value in fields.items() if value}
    return by_name


def in_listing_order(found: Heads, listed: Mapping[str, object]) -> Heads:
    """The tasks that are listed already in their order, then the new ones."""
    names = [
        *(name for name in listed if name in found),
        *(name for name in found if name not in listed),
    ]
    return {name: found[name] for name in names}


def main() -> None:
    """Write the index."""
    listed = json.loads(INDEX.read_text(encoding="utf-8")) if INDEX.exists() else {}
    lines = [
        f"  {json.dumps(name)}: {json.dumps(head, ensure_ascii=False)}"
        for name, head in in_listing_order(heads(), listed).items()
    ]
    INDEX.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
