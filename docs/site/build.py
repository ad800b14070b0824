"""Build the site: Sphinx over the pages of ``docs``, English at the top, Chinese in ``zh-CN``.

``python docs/site/build.py FOLDER``. The pages are copied to a temporary folder under equal names in both languages,
so that the switch between languages finds the counterpart. Links to files of the repository that are no pages lead to
the repository. The reference of the command line and of the Python interface comes from the program.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

from sphinx.cmd.build import build_main

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
CHINESE = ".zh-CN.md"

LANGUAGES = {"en": (".md", ""), "zh_CN": (CHINESE, "zh-CN")}
"""Suffix of the pages and folder on the site, by language."""
OUTSIDE = {
    "index": "README",
    "architecture": "ARCHITECTURE",
    "changelog": "CHANGELOG",
    "contributing": "CONTRIBUTING",
    "security": "SECURITY",
}
"""Pages from the top folder: their names on the site and their files, without suffix."""
GENERATED = {"command-line": ("Options of every command", "各命令的选项"), "api": ("Python interface", "Python 接口")}
"""Pages that come from the program, with their titles."""
NOT_PAGES = {"claims-source", "claims-source-appendix", "ablations-source"}
"""Sources of generated pages."""


def pages(suffix: str) -> dict[str, Path]:
    """The files of one language, by their names on the site."""
    found = {path.name.removesuffix(suffix): path for path in (ROOT / "docs").glob(f"*{suffix}")}
    found |= {name: ROOT / f"{stem}{suffix}" for name, stem in OUTSIDE.items()}
    return {name: path for name, path in found.items() if path.exists() and "." not in name and name not in NOT_PAGES}


def repository() -> str:
    """The address under which the repository shows its files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return f"{project['urls']['Homepage']}/blob/main"


def linked(text: str, source: Path, names: dict[Path, str], english: dict[Path, str], folder: Path) -> str:
    """A page with its links rewritten from files to pages of the site, and its pictures copied into ``folder``.

    ``names`` and ``english`` hold the names of pages on the site, of the same language and of English.
    """

    def target(found: re.Match[str]) -> str:
        mark, label, link = found.groups()
        file, _, anchor = link.partition("#")
        path = (source.parent / file).resolve()
        anchor = f"#{anchor}" if anchor else ""
        if path in names:
            return f"{mark}[{label}]({names[path]}.md{anchor})"
        if path in english:  # a page without translation
            return f'<a href="../{english[path]}.html{anchor}">{label}</a>'
        if mark:
            picture = path.relative_to(ROOT).as_posix().replace("/", "-")
            shutil.copy(path, folder / picture)
            return f"![{label}]({picture})"
        return f"[{label}]({repository()}/{path.relative_to(ROOT).as_posix()}{anchor})"

    text = re.sub(r"^\*\[(?:中文|中文说明|English)\]\([^)]*\)\*\n\n", "", text, flags=re.MULTILINE)
    return re.sub(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#)([^)\s]+)\)", target, text)


def navigation(guide: str) -> str:
    """The menu: the headings and links of ``docs/guide.md``, which lists every page once, as trees of contents."""
    trees = [contents(["guide"])]
    for heading, body in re.findall(r"^\*\*(.+?)\*\*\n\n(.*?)(?=^\*\*|\Z)", guide, re.DOTALL | re.MULTILINE):
        listed = dict.fromkeys(re.findall(r"\]\(([\w./-]+)\.md\)", body))
        if "commands" in listed:
            listed |= dict.fromkeys(GENERATED)
        trees.append(contents(listed, f":caption: {heading}\n"))
    return "\n".join(trees)


def contents(names: Iterable[str], options: str = "") -> str:
    """A tree of contents that only the menu shows."""
    return f":::{{toctree}}\n:hidden:\n{options}\n" + "\n".join(names) + "\n:::\n"


def command_line(title: str) -> str:
    """The help of every command."""
    from elolab.cli import COMMANDS

    environment = os.environ | {"COLUMNS": "88", "ELOLAB_LANGUAGE": "en"}
    parts = [f"# {title}\n"]
    for name in [row.name for row in COMMANDS]:
        words = [sys.executable, "-m", "elolab", name, "--help"]
        text = subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout
        parts.append(f"## elolab {name}\n\n```text\n{text.rstrip()}\n```\n")
    return "\n".join(parts)


def python_interface(title: str) -> str:
    """The documentation of every public name of the package ``elolab``."""
    import elolab

    directives = []
    for name in elolab.__all__:
        item = getattr(elolab, name)
        kind = "class" if inspect.isclass(item) else "function" if callable(item) else "data"
        members = "\n   :members:" if kind == "class" else ""
        directives.append(f".. auto{kind}:: elolab.{name}{members}\n")
    return f"# {title}\n\n```{{eval-rst}}\n" + "\n".join(directives) + "```\n"


def stage(language: str, folder: Path) -> None:
    """Write the pages of one language as Sphinx reads them."""
    suffix, _ = LANGUAGES[language]
    files = pages(suffix)
    names = {path.resolve(): name for name, path in files.items()}
    english = {path.resolve(): name for name, path in pages(".md").items()}
    shutil.copytree(HERE / "locales", folder / "locales")
    for name, path in files.items():
        (folder / f"{name}.md").write_text(linked(path.read_text("utf-8"), path, names, english, folder), "utf-8")
    shown = {name: titles[language == "zh_CN"] for name, titles in GENERATED.items()}
    (folder / "command-line.md").write_text(command_line(shown["command-line"]), "utf-8")
    (folder / "api.md").write_text(python_interface(shown["api"]), "utf-8")
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write("\n" + navigation((folder / "guide.md").read_text("utf-8")))
        index.write("\n" + contents(name for name in ("contributing", "security", "changelog") if name in files))


def dead_links(site: Path) -> list[str]:
    """The links between pages that lead to no file. Sphinx does not check those of templates."""
    found = []
    for page in site.rglob("*.html"):
        for link in re.findall(r'href="(?![a-z]+:)([^"#?]+)', page.read_text("utf-8")):
            if not (page.parent / link).exists():
                found.append(f"{page.relative_to(site)}: {link}")
    return found


def build(site: Path) -> int:
    """Build both languages; 0 if Sphinx has no warning, such as a broken link, and no link of a template is dead."""
    shutil.rmtree(site, ignore_errors=True)
    for language, (suffix, subfolder) in LANGUAGES.items():
        (other,) = (other for name, (other, _) in LANGUAGES.items() if name != language)
        counterparts = ",".join((pages(suffix).keys() & pages(other).keys()) | GENERATED.keys())
        with tempfile.TemporaryDirectory() as folder:
            stage(language, Path(folder))
            settings = [f"-Dlanguage={language}", f"-Aother_pages={counterparts}"]
            words = ["-q", "-W", "--keep-going", "-c", str(HERE), "-d", f"{folder}/.doctrees", *settings]
            if code := build_main([*words, folder, str(site / subfolder)]):
                return code
    dead = dead_links(site)
    print(*dead, sep="\n")
    return int(bool(dead))


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
