"""What pip installs: one importable name, which works in a folder full of files of the same names as its parts."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PATIENCE_SECONDS = 900

pytestmark = pytest.mark.packaging

STUDY = """\
game = "xiangqi"
limit = "nodes=50"
base = "no-quiescence"
budget = { games = 60 }
validation = { maximum_pairs = 200, slow_pairs = 1 }
[dimensions.null_depth]
"""


def run(*words: str | Path, folder: Path, codes: tuple[int, ...] = (0,)) -> str:
    """Standard output of a program that runs in ``folder`` and must end with one of ``codes``."""
    done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode in codes, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel and the sdist of a copy of what git tracks, by kind."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in run("git", "ls-files", "-z", folder=ROOT).split("\0")[:-1]:
        if (ROOT / name).is_symlink() or (ROOT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    run(sys.executable, "-m", "build", "--outdir", out, source, folder=out)
    return {"wheel": next(out.glob("*.whl")), "sdist": next(out.glob("*.tar.gz"))}


def test_the_wheel_has_one_top_level_name(archives: dict[str, Path]) -> None:
    with zipfile.ZipFile(archives["wheel"]) as wheel:
        tops = {name.partition("/")[0] for name in wheel.namelist()}
        sources = [name for name in wheel.namelist() if name.endswith(".py")]
    assert {top for top in tops if not top.endswith(".dist-info")} == {"elolab"}
    assert len(sources) > 300


def test_the_sdist_holds_each_file_once(archives: dict[str, Path]) -> None:
    with tarfile.open(archives["sdist"]) as sdist:
        names = [member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile()]
    assert not [name for name in names if name.partition("/")[0] in ("engine", "arena", "tuning", "configs")]
    assert "elolab/engine/search/node.py" in names


@pytest.fixture
def foreign_folder(tmp_path: Path) -> Path:
    """Somebody's project: its own ``engine.py``, ``tuning.py`` and packages ``arena`` and ``configs``."""
    folder = tmp_path / "project"
    for name in ("engine.py", "tuning.py", "arena/__init__.py", "configs/__init__.py", "configs/my.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"MINE = {name!r}\n", "utf-8")
    (folder / "study.toml").write_text(STUDY, "utf-8")
    return folder


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_an_installed_copy_works_in_somebody_elses_folder(
    archives: dict[str, Path], foreign_folder: Path, tmp_path: Path, kind: str
) -> None:
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", environment, folder=tmp_path)
    python, elolab = environment / "bin" / "python", environment / "bin" / "elolab"
    constraints = ROOT / "constraints.txt"
    run(python, "-m", "pip", "install", "--quiet", "-c", constraints, archives[kind], folder=tmp_path)
    script = foreign_folder / "script.py"
    script.write_text(
        "import elolab, engine, arena, tuning\nfrom configs import my\n"
        "print(elolab.Engine('xiangqi').search(limit='depth=2').depth)\n"
        "print(engine.MINE, arena.MINE, tuning.MINE, my.MINE, elolab.__file__)\n",
        "utf-8",
    )
    depth, names = run(python, script, folder=foreign_folder).splitlines()
    assert depth == "2"
    assert names.split()[:4] == ["engine.py", "arena/__init__.py", "tuning.py", "configs/my.py"]
    assert Path(names.split()[4]).is_relative_to(environment)
    players = ("default", "no-quiescence")
    match = ("match", *players, "--pairs", "2", "--limit", "nodes=100", "--out", "match")
    assert "games digest:" in run(elolab, *match, folder=foreign_folder)
    assert "games digest:" in run(python, "-m", "elolab", *match, folder=foreign_folder)
    run(elolab, "tune", "study.toml", "--out", "study", folder=foreign_folder, codes=(0, 3))
    run(elolab, "report", "study", folder=foreign_folder)
    assert (foreign_folder / "study" / "report.html").is_file()
    kept = {path.name for path in (foreign_folder / "configs").iterdir()} - {"__pycache__"}
    assert kept == {"__init__.py", "my.py"}, "elolab wrote into a folder of somebody else"
