"""Command lines as users of cutechess-cli and fastchess write them, pasted after ``elolab match`` and the like."""

from __future__ import annotations

import gzip
import json
import shlex
import sys
from pathlib import Path

import pytest

from elolab.cli import match
from elolab.cli.shared.other_programs import IGNORED, REFUSED
from elolab.cli.shared.parser import CommandParser
from elolab.command_line import main

SUPPORT = Path(__file__).parents[1] / "support"
MOCK = (sys.executable, "-I", "-S", str(SUPPORT / "mock_engines.py"), "normal")
TWO = "-engine name=new cmd=./new proto=uci -engine name=base cmd=./base proto=uci"


@pytest.fixture(autouse=True)
def _a_folder_with_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("new", "base", "engines/dev"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\nexec {shlex.join(MOCK)} "$@"\n')
        path.chmod(0o755)


LINES = (
    # A worker of a test framework: fixed books, adjudication, checksums, output of another program
    "match -recover -repeat -games 2 -rounds 100 -tournament gauntlet -concurrency 1 -srand 5489 -openings "
    f"file=xiangqi format=epd order=random plies=16 start=33 {TWO} -each proto=uci tc=10+0.1 option.Hash=16 "
    "timemargin=10000 -draw movenumber=34 movecount=8 score=20 -resign movecount=3 score=600 "
    "-report penta=true -crc32 pgn=true -pgnout file=games.pgn nodes=true "
    "seldepth=true nps=true hashfull=true timeleft=true latency=true "
    "-site 'https://tests.example.org/tests/view/1' -event 'Batch 1: new vs base' -testEnv -output format=cutechess",
    "match -testEnv -variant xiangqi -concurrency 1 -games 2 -rounds 16 -repeat -resign movecount=3 score=400 "
    "twosided=true -draw movenumber=40 movecount=8 score=10 -srand 1000000 -recover -openings file=xiangqi format=epd "
    "order=random start=1 -engine dir=engines cmd=./dev proto=uci tc=8.0+0.08 timemargin=250 option.Threads=1 "
    "option.Hash=8 name=dev -engine cmd=./base proto=uci st=0.1 name=base -pgnout file=g.pgn -ratinginterval 10 "
    "-scoreinterval 5 -autosaveinterval 0 -show-latency -check-mate-pvs -strict",
    # Tests of a developer
    f"sprt {TWO} -each tc=8+0.08 -rounds 200 -repeat -sprt elo0=0 elo1=30 alpha=0.05 beta=0.05 -concurrency 1 "
    "-log file=fastchess.log level=trace engine=true append=false compress=false realtime=true -report penta=true "
    "-config outname=config.json discard=true stats=false -startup-ms 20000 -ucinewgame-ms 60000 -ping-ms 60000",
    f"match {TWO} -each tc=40/1:30+1 -sprt elo0=0 elo1=40 alpha=0.1 beta=0.1 model=logistic -games 200 -reverse",
    f"tournament {TWO} -engine conf=other -each tc=inf depth=6 -tournament round-robin -rounds 4 -games 2 -wait 500 "
    "-resultformat wide2 -outcomeinterval 2 -ratinginterval 5 -debug",
    f"tournament {TWO} -each proto=uci nodes=20000 -tournament pyramid -games 2 -bookmode disk -event cup",
    f"tournament {TWO} -each st=0.5 -sprt elo0=-5 elo1=40 -tournament gauntlet -seeds 1 -rounds 100",
    # As the manual of cutechess-cli has them
    "match -variant xiangqi -engine cmd=./new name=A stderr=a.txt restart=on trust debug tscale=1.5 -engine cmd=./base "
    "name=B arg=-x arg=-y restart=auto ponder -each proto=uci tc=5s+0.05s option.Threads=1 -openings file=xiangqi "
    "policy=round order=sequential -pgnout g.pgn min fi -epdout end.epd -maxmoves 150 -tb /syzygy -tbpieces 6 "
    "-tbignore50 -tbadjudicate BOTH -rounds 10 -games 2 -concurrency 1 -livepgnout live.pgn",
    f"match {TWO} -each tc=inf/60+0.6 -resign movecount=5 score=900 twosided=false -openings file=xiangqi format=epd "
    "policy=encounter reuse=true -rounds 30000 -concurrency 1 -debug all",
    r"match -engine cmd=./new 'initstr=setoption name Hash value 16\nsetoption name Clear Hash value true' "
    "-engine cmd=./base -each proto=uci nodes=9 -concurrency 1",
    "match -quick cmd=./new cmd=./base book=chess -variant standard -each proto=uci -concurrency 1",
    f"match {TWO} -each nodes=500 -tb /syzygy -tbpieces 6 -rounds 4 -games 2 -concurrency 1",
    f"match {TWO} -each nodes=500 -noswap -tb /syzygy -tbadjudicate WIN_LOSS -rounds 4 -concurrency 1",
    # Chess
    f"match {TWO} -variant standard -each tc=10+0.1 option.Hash=16 option.SyzygyPath=/syzygy -openings file=chess "
    "format=epd order=random -rounds 10 -games 2 -repeat -concurrency 1 -resign movecount=3 score=600",
    # Xiangqi
    "match -variant xiangqi -engine cmd=./new name=皮卡鱼 option.Hash=256 option.Threads=1 "
    "-engine cmd=./base name=对手 -each proto=uci tc=60+0.6 timemargin=500 -concurrency 1 -rounds 50 -games 2 "
    "-repeat -recover -event 测试 "
    "-site 北京 -pgnout 'file=对局.pgn' append=true",
    "match -engine cmd=./new -engine preset=default -each st=0.2 -force-concurrency -concurrency 64 -rounds 10 -repeat",
    "match -engine cmd=./new -engine preset=default -each nodes=500 -use-affinity -concurrency 1 -rounds 10",
)  # fmt: skip


@pytest.mark.integration
@pytest.mark.parametrize(
    "line",
    [pytest.param(line, marks=[] if place % 3 else [pytest.mark.integration]) for place, line in enumerate(LINES)],
)
def test_a_pasted_line_is_accepted(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("engines.toml").write_text('[other]\ncommand = ["./base"]\nprotocol = "uci"\n')
    assert main([*shlex.split(line), "--dry-run"]) == 0, capsys.readouterr().err
    printed = capsys.readouterr()
    assert "games" in printed.out
    warnings = [said for said in printed.err.splitlines() if "ignored" in said]
    assert len(set(warnings)) == len(warnings)
    for option in (word for word in shlex.split(line) if word.lstrip("-") in IGNORED):
        assert (
            sum(option in said.partition(":")[2].partition(" ignored")[0].replace(",", "").split() for said in warnings)
            == 1
        )
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("-quick cmd=a cmd=b", "-quick: expected cmd=ENGINE cmd=ENGINE book=FILE"),
        ("-tbadjudicate LOSS", "-tbadjudicate"),
        ("-each proto=uci 'initstr=level 3'", "--each initstr=level 3: players over UCI receive options only"),
        ("-engines", "elolab engines lists"),
        ("-compliance ./new", "elolab check"),
        ("-config file=config.json", "-config file=config.json: elolab resumes"),
        ("-each whitepov", "--resign movecount=0"),
        ("-each book=performance.bin bookdepth=4", "leave it out"),
        ("-tournament knockout", "elolab tournament -tournament knockout"),
        ("--format swiss", "elolab tournament --format swiss"),
        ("-repeat 4", "played twice"),
        ("-games 1", "give an even number"),
        ("-sprt elo0=0 elo1=2 model=bayesian", "expected 'normalized' or 'logistic'"),
        ("-variant suicide", "suicide"),
        ("-startup-ms soon", "milliseconds"),
        ("-scoreinterval often", "-scoreinterval: 'often' is not a whole number of games"),
        ("-resign movecount=3 score=400 twosided=maybe", "expected true or false"),
        ("-each tscale=fast", "expected a number"),
    ],
)
def test_a_word_that_would_change_the_result_is_refused(
    words: str, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*shlex.split(f"match {TWO} {words}"), "--dry-run"]) == 2
    (said,) = capsys.readouterr().err.splitlines()[-1:]
    assert remedy in said
    assert said.isprintable()


@pytest.mark.parametrize(
    ("words", "every"),
    [
        ("-ratinginterval 10", 10),
        ("-scoreinterval 5", 5),
        ("-ratinginterval 10 -scoreinterval 5", 5),
        ("-scoreinterval 0", None),
        ("-ratinginterval 20 --every 30", 30),
    ],
)
def test_intervals_of_other_programs_are_those_of_every(words: str, every: int | None) -> None:
    parser = CommandParser(prog="elolab match")
    match.configure(parser)
    assert parser.parse_args(["new", "base", *words.split()]).every == every


def test_every_refused_option_is_in_the_table_above() -> None:
    assert set(REFUSED) == {"compliance"}


def test_words_reach_the_games_the_report_and_the_files(
    without_charts: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Resignation by one side's scores, openings that are used again, and a file of final positions."""
    suite = Path(__file__).parents[2] / "configs" / "openings" / "xiangqi.epd.gz"
    lines = gzip.decompress(suite.read_bytes()).decode().splitlines()
    Path("two.epd").write_text("\n".join([line for line in lines if line[:1] not in ("#", "")][:2]))
    line = (
        "match default material -each st=0.01 timemargin=60000 -openings file=two.epd order=sequential reuse=true "
        "-rounds 3 -repeat -maxmoves 3 -resign movecount=1 score=1 twosided=false -epdout end.epd -concurrency 1"
    )
    assert main([*shlex.split(line), "--json", "--out", "out"]) in (0, 1)
    data = json.loads(capsys.readouterr().out)
    assert any(
        "2 of 6 games began from an opening that the same players had played before" in w for w in data["warnings"]
    )
    assert len(Path("end.epd").read_text().splitlines()) == 6
    assert [row["reason"] for row in data["endings"]] == ["resign_adjudication"]
    report = Path("out", "report.md").read_text()
    assert "used again from the first on if there are fewer openings than pairs" in report
    assert "lost if a player's own scores show a deficit" in report
