"""Hooks of the documentation site: the reference of commands comes from the command line itself,
and a notebook is a page with the outputs that are stored in it.

A folder in the navigation (`tasks/*`) stands for all its pages, so that a new task card needs no
entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

COMMANDS = "reference/commands.md"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages of the folders that the navigation names."""
    config.nav = [_with_pages(entry, Path(config.docs_dir)) for entry in config.nav or []]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of commands, and one for each notebook."""
    files.append(File.generated(config, COMMANDS, content=commands_page()))
    for path in sorted(Path(config.docs_dir).rglob("*.ipynb")):
        page = path.relative_to(config.docs_dir).with_suffix(".md")
        files.append(File.generated(config, page.as_posix(), content=notebook_page(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to a notebook lead to its page, except that page's own, which gives the file."""
    if Path(page.file.src_path).stem + ".ipynb" in markdown and page.file.generated_by:
        return markdown
    return markdown.replace(".ipynb)", ".md)")


def notebook_page(path: Path) -> str:
    """A notebook as Markdown: its texts, its code, and what the code has shown."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += map(_output, cell["outputs"])
    parts.append(f"This page is a notebook: [{path.name}]({path.name}).")
    return "\n\n".join(part for part in parts if part) + "\n"


def _output(output: Any) -> str:
    """What a cell has shown: a table as it is, all else as text."""
    data = output.get("data", {})
    if "text/html" in data:
        # an empty line would end the block of HTML
        lines = "".join(data["text/html"]).splitlines()
        table = "\n".join(line for line in lines if line.strip())
        return f'<div class="notebook-output">\n{table}\n</div>'
    text = "".join(data.get("text/plain", output.get("text", "")))
    return f"```text\n{text.rstrip()}\n```" if text else ""


def commands_page() -> str:
    """Every command with its arguments and options, as Markdown."""
    from seesay.cli import command_addresses, load_command

    parts = [
        "# Commands",
        "Made from the program itself: `seesay COMMAND --help` prints the same. Options have to "
        "follow their command.",
    ]
    for name in command_addresses():
        for path, command in _commands(load_command(name), ("seesay", name)):
            parts += _section(" ".join(path), command)
    return "\n\n".join(parts) + "\n"


def _with_pages(entry: Any, root: Path) -> Any:
    if isinstance(entry, dict):
        return {title: _with_pages(value, root) for title, value in entry.items()}
    if isinstance(entry, list):
        return [_with_pages(value, root) for value in entry]
    if isinstance(entry, str) and entry.endswith("/*"):
        return sorted(page.relative_to(root).as_posix() for page in root.glob(f"{entry[:-1]}*.md"))
    return entry


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """This command and those below it that are not hidden, each with the words that call it."""
    yield path, command
    subcommands: dict[str, Any] = getattr(command, "commands", {})
    for name, subcommand in subcommands.items():
        if not subcommand.hidden:
            yield from _commands(subcommand, (*path, name))


def _section(name: str, command: Any) -> list[str]:
    depth = "##" if name.count(" ") == 1 else "###"
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    lines = [f"{depth} {name}", _escaped(command.help or ""), f"```\n{usage}\n```"]
    for title, rows in command.help_panels(context).items():
        table = [f"| {title} | |", "|---|---|"]
        table += [
            f"| {_code(names)} | {_escaped(' '.join(text.split()))} |" for names, text in rows
        ]
        lines.append("\n".join(table))
    examples = getattr(command, "examples", ())
    if examples:
        lines.append("```sh\n{}\n```".format("\n".join(examples)))
    return lines


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"


def _escaped(text: str) -> str:
    for mark in "\\|<>*_[]":
        text = text.replace(mark, f"\\{mark}")
    return text
