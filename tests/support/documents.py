"""What the tests of the pages read out of them: commands, files to save, and the blocks that both languages share."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

from elolab.cli.shared.parser import CommandParser
from elolab.command_line import find_command

ROOT = Path(__file__).parents[2]


def text_of(page: str) -> str:
    """The text of a page of the repository."""
    return (ROOT / page).read_text("utf-8")


def in_chinese(page: str) -> str:
    """The name of the Chinese page beside an English one."""
    return page.replace(".md", ".zh-CN.md")


def blocks_in(page: str, *languages: str) -> list[str]:
    """The fenced blocks in any of these languages, in their order."""
    return re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)


def commands_in(page: str) -> list[str]:
    """The lines of the ``sh`` blocks, without comments."""
    lines = [line for block in blocks_in(page, "sh") for line in block.splitlines()]
    return [re.sub(r" +#.*", "", line) for line in lines]


def files_in(page: str) -> dict[str, str]:
    """The TOML files that the page tells to save, by name: the name is the last one before the block."""
    parts = re.split(r"^```toml\n(.*?)^```", text_of(page), flags=re.DOTALL | re.MULTILINE)
    return {
        re.findall(r"`([\w-]+\.toml)`", before)[-1]: content
        for before, content in zip(parts[:-1:2], parts[1::2], strict=True)
    }


def read_command(line: str) -> None:
    """Let the command line read a command of a page, up to a pipe; raises ``UserError`` if it does not know it."""
    program, name, *words = shlex.split(line.partition(" | ")[0])
    assert program == "elolab", line
    command = find_command(name)
    parser = CommandParser(prog=f"elolab {name}")
    import_module(command.module).configure(parser)
    parser.parse_args(words)


def without_comments(content: str) -> list[str]:
    """The lines of a TOML file without what may differ between languages."""
    return [line.partition("#")[0].rstrip() for line in content.splitlines()]


def links_in(page: str) -> list[str]:
    """The links to files of the repository, as they are written."""
    return re.findall(r"\]\(([^):]+)\)", text_of(page))


def anchors_in(page: str) -> set[str]:
    """The anchors of the headings, as GitHub and Markdown converters after its model make them."""
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links_in(page: str) -> list[str]:
    """The links to files that are not there, or to headings that the page they name does not have."""
    broken = []
    for link in links_in(page):
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors_in(str(target.resolve().relative_to(ROOT)))):
            broken.append(link)
    return broken
