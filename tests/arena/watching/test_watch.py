"""The server of ``elolab watch`` over real connections, and its page in a real browser."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.arena.collection.listing import changed_at
from elolab.arena.play import live
from elolab.arena.play.publishing import ASKED_NAME
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.provenance.status import new_status, write_status
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing
from elolab.arena.reports.document import Document, Note, Section, html_page
from elolab.arena.watching import followed
from elolab.engine.games import game_named
from tests.arena.watching.test_snapshot import begun, record, running_game, specification
from tests.support.browser import Browser

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

ROOT = Path(__file__).parents[3]
LINE = ("h2e2", "h9g7", "h0g2", "i9h9", "i0h0", "b9c7", "h0h6", "c6c5")


def played(number: int, result: str, **rest: Any) -> GameRecord:
    """A game of eight moves."""
    moves = tuple(MoveRecord(move, 10 * ply, 3, 100, 1.0) for ply, move in enumerate(LINE))
    seats = (number % 2, 1 - number % 2)
    return GameRecord(
        f"{number:032x}", Pairing(number, number // 2, *seats, 0), *(f"player {seat}" for seat in seats),
        Opening(game_named("xiangqi").start, (), "made up"), moves, result, rest.pop("reason", "checkmate"),
        "0123456789ab", **rest,
    )  # type: ignore[arg-type]  # fmt: skip


class Served:
    """A server in a thread."""

    def __init__(self, port: int) -> None:
        self.port = port

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
        """Status, text and headers of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), dict(answer.getheaders())
        finally:
            connection.close()

    @contextmanager
    def events(self, run: str) -> Iterator[Callable[[], tuple[str, dict[str, Any]]]]:
        """A function that gives the next event's name and data."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", f"/run/{run}/events")
        answer = connection.getresponse()

        rest = ""

        def following() -> tuple[str, dict[str, Any]]:
            nonlocal rest
            while "\n\n" not in rest:
                data = answer.read1(1 << 16)
                assert data, "the stream has ended"
                rest += data.decode()
            text, _, rest = rest.partition("\n\n")
            fields = dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith(":"))
            return (fields["event"], json.loads(fields["data"])) if fields else following()

        try:
            yield following
        finally:
            connection.close()

    @property
    def run(self) -> str:
        """The name of the run that is shown first."""
        return self.get("/")[2]["location"].split("/")[2]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/run/{self.run}/"


@contextmanager
def served(root: Path, *, is_single: bool = True) -> Iterator[Served]:
    import uvicorn

    from elolab.arena.watching.server import application, opened_socket

    listening = opened_socket("127.0.0.1", 0)
    runs = followed.WatchedRuns(root, is_single=is_single)
    server = uvicorn.Server(
        uvicorn.Config(application(runs, "en", "127.0.0.1"), log_level="critical", timeout_graceful_shutdown=0)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Served(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "POLL_SECONDS", 0.05)


def tell(folder: Path, running: list[dict[str, Any]], state: str = "running", done: int = 0) -> None:
    """Write ``live.json`` as a run does."""
    told = {
        "kind": "tournament", "state": state, "planned": 100, "done": done, "games_per_second": 2.0, "running": running,
        "workers": [{"name": "here", "threads": 2, "games": done, "games_per_second": 2.0, "state": "running"}],
    }  # fmt: skip
    new = folder / "live.json-new"
    new.write_text(json.dumps(told), "utf-8")
    os.replace(new, folder / live.LIVE_NAME)


# The server


def test_what_is_sent_is_the_state_and_then_what_changes(tmp_path: Path) -> None:
    with begun(tmp_path, specification()) as store, served(tmp_path) as server:
        store.add(played(0, "1-0"))
        with server.events(server.run) as following:
            name, state = following()
            assert (name, state["games"], state["kind"]) == ("state", 1, "tournament")
            store.add(played(1, "1-0"))
            name, event = following()
            assert (name, event["games"]) == ("changes", 2)
            assert "kind" not in event
        with server.events(server.run) as following:
            assert following()[1]["games"] == 2


def test_only_known_addresses_are_served_and_nothing_beside_the_runs(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    with begun(tmp_path / "run", specification()) as store:
        store.add(played(0, "1-0", reason="crash", detail={"fault": {"player": "player 1", "text": "player 1: gone"}}))
    with served(tmp_path / "run") as server:
        run = server.run
        assert server.get(f"/run/{run}/")[0] == 200
        assert server.get("/assets/watch.js")[0] == 200
        for path in (
            "/../secret.txt", "/..%2fsecret.txt", "/assets/..%2f..%2fsecret.txt", "/assets/%2e%2e/secret.txt",
            "/run/..%2f/", "/run/../secret.txt", f"/run/{run}/../../secret.txt", f"/run/{run}/games.sqlite",
            "/assets/server.py", "/secret.txt", f"/run/{run[:-1]}x/", f"/run/{run}/game?key=..%2fsecret.txt",
            f"/run/{run}/game?number=7",
        ):  # fmt: skip
            status, text, _ = server.get(path)
            assert (status, "secret" in text) == (404, False), path
        assert server.get(f"/run/{run}/games?from=-1")[0] == 400
        listed = json.loads(server.get(f"/run/{run}/games")[1])
        assert (listed["total"], listed["rows"][0]["number"]) == (1, "0")
        game = json.loads(server.get(f"/run/{run}/game?number=0")[1])
        assert [entry["move"] for entry in game["entries"]] == [*LINE]
        assert game["fault"]["text"] == "player 1: gone."
        with server.events(run) as following:
            (fault,) = following()[1]["faults"]
        assert (fault["player"], fault["games"]) == ("player 1", 1)
        assert fault["sentence"]["en"] == "player 1 lost game 0 by a crash: gone."


def test_other_names_and_other_methods_are_refused(tmp_path: Path) -> None:
    with begun(tmp_path, specification()) as store:
        store.add(played(0, "1-0"))
    with served(tmp_path) as server:
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:9", "192.168.0.7"):
            assert server.get("/", Host=host)[0] == 307, host
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "[evil.example]", ""):
            assert server.get("/", Host=host)[0] == 421, host
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
            assert server.get("/", method)[0] == 405, method
        assert server.get(f"/run/{server.run}/", "HEAD")[0] == 200


@pytest.mark.parametrize(
    ("host", "found", "told"),
    [("0.0.0.0", "10.0.0.7", "10.0.0.7"), ("0.0.0.0", None, "127.0.0.1"), ("127.0.0.1", "10.0.0.7", "127.0.0.1")],
)
def test_of_all_addresses_the_one_is_told_that_others_can_use(
    host: str, found: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``found`` is the address of the machine in its network, if it is in one."""
    from elolab.arena.watching.server import address_of

    def connect(_: object, __: object) -> None:
        if found is None:
            raise OSError("Network is unreachable")

    with socket.create_server((host, 0)) as listening:
        port = listening.getsockname()[1]
        monkeypatch.setattr(socket.socket, "connect", connect, raising=False)
        monkeypatch.setattr(socket.socket, "getsockname", lambda one: (found if one is not listening else host, port))
        assert address_of(listening, host) == f"http://{told}:{port}/"


def test_what_cannot_be_read_is_told_and_the_server_goes_on(tmp_path: Path) -> None:
    (tmp_path / "games.sqlite").write_bytes(b"no database at all")
    with served(tmp_path) as server, server.events(server.run) as following:
        state = following()[1]
        assert (state["state"], state["games"]) == ("damaged", 0)
        assert "games.sqlite" in state["trouble"]
        assert server.get(f"/run/{server.run}/game?number=0")[0] in (404, 503)
        assert server.get("/runs")[0] == 200


def test_all_runs_are_listed_and_the_one_that_is_played_comes_first(tmp_path: Path) -> None:
    for name in ("alpha", "beta"):
        with begun(tmp_path / name, specification(name=name)) as store:
            store.add(played(0, "1-0"))
    tell(tmp_path / "beta", [], "finished")
    with begun(tmp_path / "alpha", specification(name="alpha")), served(tmp_path, is_single=False) as server:
        page = server.get("/runs?language=zh")[1]
        assert 'lang="zh-CN"' in page
        assert 'lang="en">English</a>' in page
        assert 'lang="zh">中文</a>' in server.get("/runs?language=en")[1]
        assert all(f">{name}</a>" in page for name in ("alpha", "beta"))
        assert "<h1>alpha</h1>" in server.get(f"/run/{server.run}/")[1]
    with served(tmp_path / "nothing", is_single=False) as server:
        assert server.get("/")[2]["location"] == "/runs"


def test_runs_in_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("one", "other"):
        with begun(tmp_path / name / "first", specification()):
            pass
    with served(tmp_path, is_single=False) as server:
        page = server.get("/runs")[1]
    assert all(f">{name}/first</a>" in page for name in ("one", "other"))
    assert "<nav" not in page  # there are no sections to go to


def test_the_list_of_a_bisections_steps_begins_with_its_finding(tmp_path: Path) -> None:
    with begun(tmp_path / "0123abcd", specification()):
        pass
    (tmp_path / "report.md").write_text("# Bisection\n\nThe first bad commit is 0123abcd.\n")
    write_status(tmp_path, new_status("bisection", "bisect.json") | {"reason": "decided"})
    with served(tmp_path, is_single=False) as server:
        page = server.get("/runs")[1]
    assert f"Bisection in {tmp_path}, finished. The first bad commit is 0123abcd." in page
    assert "0123abcd</a>" in page


def test_a_run_that_was_killed_is_not_listed_as_running_nor_shown_first(tmp_path: Path) -> None:
    """What was killed writes nothing more that would tell."""
    runs = followed.WatchedRuns(tmp_path, is_single=False)
    with begun(tmp_path / "alpha", specification()):
        tell(tmp_path / "alpha", [])
        assert [entry.state for _, entry in runs.entries("en")] == ["running"]
        times = changed_at(tmp_path / "alpha")
    os.utime(tmp_path / "alpha" / STORE_NAME, (times, times))
    assert changed_at(tmp_path / "alpha") == times
    assert [entry.state for _, entry in runs.entries("en")] == ["died"]
    with begun(tmp_path / "beta", specification()):
        pass
    os.utime(tmp_path / "beta" / STORE_NAME, (times + 60, times + 60))
    assert runs.folders()[runs.chosen() or ""].name == "beta"


# The command


def test_a_missing_extra_a_busy_port_and_wrong_folders_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from elolab.arena.watching.server import opened_socket

    def said(*words: str) -> str:
        assert command_line.main(["watch", *words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    with begun(tmp_path / "run", specification()):
        pass
    assert "no such folder" in said(str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    assert "no run in it; name the folder of a run, or add --wait" in said(str(tmp_path / "empty"))
    with opened_socket("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port} of 127.0.0.1 is in use" in said(str(tmp_path / "run"), "--port", port)
    monkeypatch.setattr("elolab.cli.watch.find_spec", lambda name: None)
    assert 'pip install "elolab[watch]"' in said(str(tmp_path / "run"))


@pytest.mark.integration
def test_ctrl_c_ends_it_at_once_though_somebody_looks_on(tmp_path: Path) -> None:
    with begun(tmp_path, specification()) as store:
        store.add(played(0, "1-0"))
    command = [sys.executable, "-m", "elolab", "watch", str(tmp_path), "--port", "0"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        port = int(process.stderr.readline().split(" (")[0].rstrip("/").rpartition(":")[2])
        server = Served(port)
        with server.events(server.run) as following:
            following()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 130
        assert process.stderr.read() == "elolab: interrupted\n"
    finally:
        process.kill()
        process.wait()


# The page


def text_of(browser: Browser, name: str) -> str:
    found: str = browser.value(f"element({json.dumps(name)}).textContent")
    return found


def test_a_game_in_progress_moves_on_and_ends_on_the_board(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = game_named("xiangqi").position
    start = game_named("xiangqi").start
    with begun(tmp_path, specification()) as store, served(tmp_path) as server:
        tell(tmp_path, [running_game(0, [*LINE[:2]])])
        browser.open(server.address)
        browser.until("replay.ply === 2")
        assert text_of(browser, "position") == position(start, [*LINE[:2]]).text
        assert text_of(browser, "replay-title") == "Game 0: player 0 – player 1, in progress"
        tell(tmp_path, [running_game(0, [*LINE[:5]]), running_game(1, [])])
        browser.until("replay.ply === 5 && element('cards').children.length === 2")
        assert text_of(browser, "position") == position(start, [*LINE[:5]]).text
        # Who has gone back stays there, and the moves come all the same.
        browser.press("ArrowLeft", "#replay")
        assert browser.value("replay.ply") == 4
        tell(tmp_path, [running_game(0, [*LINE[:7]]), running_game(1, [])])
        browser.until("element('move-list').tBodies[0].rows.length === 7")
        assert browser.value("replay.ply") == 4
        browser.press("End", "#replay")
        store.add(played(0, "1-0"))
        tell(tmp_path, [running_game(1, [])], done=1)
        browser.until("replay.entries.length === 8 && element('replay-title').textContent.includes('1–0')")
        assert browser.value("replay.ply") == 8
        browser.until("element('finished-list').tBodies[0].rows.length === 1")
        browser.until("element('replay-title').textContent.startsWith('Game 1')")
        tell(tmp_path, [], "finished", done=1)
        store.close()
        browser.until("/finished|stopped/.test(element('kicker').textContent)")
        assert browser.value("element('failure').hidden")


SAID = {
    ("en", "H1 accepted", 0, 5): "H1 accepted: A is stronger",
    ("en", "H1 accepted", 2, 5): "H1 accepted: A is stronger by more than 2 Elo",
    ("en", "H1 accepted", -5, 0): "H1 accepted: A is weaker by less than 5 Elo, if at all",
    ("en", "H0 accepted", 0, 5): "H0 accepted: A is stronger by less than 5 Elo, if at all",
    ("en", "H0 accepted", -5, 0): "H0 accepted: A is weaker",
    ("en", "H0 accepted", -5, -2): "H0 accepted: A is weaker by more than 2 Elo",
    ("en", "undecided", -5, 0): "Undecided",
    ("zh", "H1 accepted", -5, 0): "接受 H1：A 即使更弱，差距也小于 5 Elo",
    ("zh", "H0 accepted", -5, 0): "接受 H0：A 更弱",
}


def test_a_verdict_says_what_was_tested_in_both_languages(tmp_path: Path, browser: Browser) -> None:
    """A test of no regression that is passed shows nobody the stronger."""
    with begun(tmp_path, specification()):
        pass
    with served(tmp_path) as server:
        for language in ("en", "zh"):
            browser.open(f"{server.address}?language={language}")
            browser.until("watch.state")
            for (spoken, verdict, elo0, elo1), said in SAID.items():
                if spoken == language:
                    test = json.dumps({"verdict": verdict, "elo0": elo0, "elo1": elo1, "model": "logistic"})
                    assert browser.value(f"watch.verdict({test}, 'A')") == said


def test_the_winner_of_a_knockout_is_named_in_both_languages(tmp_path: Path, browser: Browser) -> None:
    """Its ratings may put another player first."""
    with begun(tmp_path, specification(format="knockout", pairs=1, tiebreak_pairs=0)) as store:
        store.add_all((played(number, "1-0"), True) for number in range(2))
    with served(tmp_path) as server:
        for language, said in (("en", "player 0 has won the final"), ("zh", "player 0 在决赛中")):
            browser.open(f"{server.address}?language={language}")
            browser.until(f"document.querySelector('#finding').innerText.startsWith('{said}')")
            shown = browser.until("document.querySelector('#drawn .bracket')?.innerText")
            assert shown.split()[1:9] == ["1", "player", "0", "1", "2", "player", "1", "1"]


def test_a_swiss_tournament_has_its_table(tmp_path: Path, browser: Browser) -> None:
    with begun(tmp_path, specification(format="swiss", pairs=1, rounds=1)) as store, served(tmp_path) as server:
        browser.open(server.address)
        browser.until("document.querySelector('#drawn table')?.innerText.includes('Buchholz')")
        store.add_all((played(number, "1-0" if number == 0 else "0-1"), True) for number in range(2))
        browser.until("document.querySelector('#drawn tbody tr').innerText.split(/\\s+/).slice(-1)[0] === '2+'")


def test_faults_stand_above_the_board_and_links_at_the_head_lead_to_what_is_there(
    tmp_path: Path, browser: Browser
) -> None:
    """They stood below the finished games, where nobody scrolls whose engine has lost all of them."""
    shown = "[...document.querySelectorAll('nav a')].filter((link) => !link.hidden).map((link) => link.hash).join(' ')"
    with begun(tmp_path, specification()) as store, served(tmp_path) as server:
        tell(tmp_path, [])
        browser.open(server.address)
        browser.until(f"{shown} === '#standing #now #finished #engines #machines'")
        detail = {"fault": {"player": "player 1", "text": "player 1: killed by signal 6"}}
        store.add(played(0, "1-0", reason="crash", detail=detail))
        tell(tmp_path, [], "finished", done=1)
        store.close()
        browser.until(f"{shown} === '#standing #faults #finished #openings #engines'")
        browser.open(f"{server.address}?language=zh")
        browser.until(f"{shown} === '#standing #faults #replay #finished #openings #engines'")
        place = "element('{}').getBoundingClientRect().top".format
        assert browser.value(f"{place('faults')} < {place('replay')}")


def test_a_round_robin_has_its_crosstable_which_stays_where_it_was_scrolled(tmp_path: Path, browser: Browser) -> None:
    head, box = "document.querySelector('#drawn h2')?.innerText", "document.querySelector('#drawn .scroll')"
    with begun(tmp_path, specification(players=9)) as store, served(tmp_path) as server:
        browser.resize(390)
        store.add(played(0, "1-0"))
        browser.open(f"{server.address}?language=zh")
        assert browser.until(head) == "交叉表"
        browser.open(server.address)
        assert browser.until(head) == "Crosstable"
        assert browser.value(f"[...{box}.querySelectorAll('tbody tr')].map((row) => row.cells.length)") == [10] * 9
        browser.value(f"{box}.scrollLeft = 80")
        store.add(played(1, "0-1"))
        assert browser.until("document.querySelector('#drawn .up strong').parentElement.innerText.includes('2-0-0')")
        assert browser.value(f"{box}.scrollLeft") == 80
        browser.resize(1280)


def test_words_stay_whole_on_a_telephone(tmp_path: Path, browser: Browser) -> None:
    with begun(tmp_path, specification()) as store:
        store.add(played(0, "1-0"))
    with served(tmp_path) as server:
        browser.resize(390)
        browser.open(server.address)
        for shown in ("#seat-near .outcome", "#finished-list tbody td"):
            browser.until(f"document.querySelector('{shown}') !== null")
        browser.value(
            "document.querySelector('#seat-near').childNodes[1].textContent = 'NullDepth 3, Quiescence true (Black)';"
            "[...document.querySelectorAll('#finished-list tbody td')].slice(0, 3)"
            ".forEach((cell) => { cell.textContent = 'validation-00 Quiescence'; })"
        )
        heights = "[...document.querySelectorAll('{}')].map((one) => one.getBoundingClientRect().height)"
        line, other = browser.value(heights.format("#seat-near .outcome, #seat-far .outcome"))
        assert line == other
        assert max(browser.value(heights.format("#finished-list tbody td"))) < 4 * line
        browser.resize(1280)


def test_scores_are_rounded_as_in_reports(tmp_path: Path, browser: Browser) -> None:
    with begun(tmp_path, specification()):
        pass
    shares = [points / games for games in (3, 8, 16, 32, 64, 80) for points in range(games + 1)]
    with served(tmp_path) as server:
        browser.open(server.address)
        browser.until("watch.state")
        assert browser.value(f"{json.dumps(shares)}.map(percentText)") == [f"{100 * share:.1f}" for share in shares]


def test_given_ratings_have_a_scale_of_their_own(tmp_path: Path, browser: Browser) -> None:
    """Intervals fill the column wherever on the scale they are."""
    with begun(tmp_path, specification(anchors={"player 0": 2500})) as store:
        store.add_all((played(number, result), True) for number, result in enumerate(("1-0", "1-0", "1-0", "0-1")))
    rows = "[...document.querySelectorAll('#standings-table tbody tr')]"
    with served(tmp_path) as server:
        browser.open(server.address)
        texts = browser.until(f"watch.state && {rows}.map((row) => row.querySelector('.rating').innerText.trim())")
        assert any(text.startswith("2500.0") and text.endswith("fixed") for text in texts), texts
        assert not any("+" in text for text in texts)
        ends = f"{rows}.flatMap((row) => [...row.querySelectorAll('svg line')].flatMap((line) => [line.x1, line.x2]))"
        places = browser.value(f"{ends}.map((end) => end.baseVal.value)")
    assert (min(places), max(places)) == (0, 240)


def test_infinite_elo_has_its_sign(tmp_path: Path, browser: Browser) -> None:
    with begun(tmp_path, specification()) as store:
        store.add_all((played(number, result), True) for number, result in enumerate(("0-1", "1-0")))
    with served(tmp_path) as server:
        browser.open(server.address)
        browser.until("document.querySelector('#finding').innerText.includes('−∞ Elo, 95 % interval −∞ to +636.4')")


def test_finished_games_are_replayed_in_both_languages(tmp_path: Path, browser: Browser) -> None:
    with begun(tmp_path, specification()) as store:
        for number in range(20):
            store.add(played(number, ("1-0", "1/2-1/2")[number % 2]))
    tell(tmp_path, [], "finished", done=20)
    with served(tmp_path) as server:
        browser.open(server.address)
        browser.until("element('finished-list').tBodies[0].rows.length === 15 && replay.game !== null")
        assert "player 0 against player 1" in text_of(browser, "finding")
        assert text_of(browser, "tile-games") == "20 of 100"
        browser.value("element('finished-older').click()")
        browser.until("element('finished-list').tBodies[0].rows.length === 5")
        browser.value("element('finished-list').tBodies[0].rows[4].click()")
        browser.until("element('replay-title').textContent === 'Game 0: player 0 – player 1, 1–0'")
        browser.press("ArrowUp", "#replay")
        browser.until("element('replay-title').textContent.startsWith('Game 1:')")
        for key, ply in (("Home", 0), ("ArrowRight", 1), ("End", 8)):
            browser.press(key, "#replay")
            assert browser.value("replay.ply") == ply
        browser.value("document.querySelector('[data-language=zh]').click()")
        browser.until("document.documentElement.lang === 'zh-CN' && watch.state && replay.game !== null")
        browser.until("element('replay-title').textContent.startsWith('第 1 局')")
        assert "player 0 对 player 1" in text_of(browser, "finding")
        for width in (390, 1200):
            browser.resize(width)
            assert browser.value("document.documentElement.scrollWidth") == width
        loaded = browser.value("performance.getEntriesByType('resource').map((entry) => new URL(entry.name).host)")
        assert set(loaded) == {f"127.0.0.1:{server.port}"}
        assert browser.value("element('failure').hidden")


def test_the_page_waits_for_a_run_and_follows_it_from_its_first_game(tmp_path: Path, browser: Browser) -> None:
    with served(tmp_path / "later") as server:
        browser.open(server.address)
        browser.until("element('kicker').textContent.includes('waiting')")
        with begun(tmp_path / "later", specification()) as store:
            store.add(played(0, "1-0"))
            browser.until("facts.game === 'xiangqi' && watch.state && watch.state.games === 1")
            for number in range(1, 12):
                store.add(record(number, "1-0"))
            browser.until("watch.state.games === 12 && !element('curve-figure').hidden")
            assert browser.value("watch.state.curve.points.length") == 6


@pytest.mark.slow
def test_a_live_run_is_followed_to_its_end(tmp_path: Path, browser: Browser) -> None:
    folder = tmp_path / "run"
    command = [
        sys.executable, "-m", "elolab", "match", "default", "material", "--limit", "nodes=2000", "--pairs", "20",
        "--concurrency", "1", "--out", str(folder),
    ]  # fmt: skip
    with served(folder) as server:
        browser.open(server.address)
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            browser.until("typeof watch === 'object' && watch.state && watch.state.state === 'running'")
            assert process.wait(timeout=300) == 0
        finally:
            process.kill()
            process.wait()
        browser.until("watch.state.state === 'finished' && watch.state.games === 40")
        browser.until("watch.state.standings[0].games === 40 && element('tile-games').textContent === '40 of 40'")
        with Store(folder, read_only=True) as store:
            assert browser.value("watch.state.games") == len(store)
        time.sleep(0.2)
        assert browser.value("element('failure').hidden")


# Boards, dialogues and tables


def clocked_game(number: int, moves: list[str], **rest: Any) -> dict[str, Any]:
    """A game in progress with the figures of its moves; the first player has a clock."""
    return {
        **running_game(number, moves), "opening": "made up", "depths": [7] * len(moves), "nodes": [12_345] * len(moves),
        "times": [2500.0] * len(moves), "clocks": [[60_000, 500, 0], None], "thinking": 1000, **rest,
    }  # fmt: skip


def test_boards_of_all_games_show_figures_and_clocks_that_run(tmp_path: Path, browser: Browser) -> None:
    """The score is from the first mover's view; a side without a clock has the time that it has used."""
    seat = "element('cards').children[0].querySelector('.seat{} {}').textContent".format
    with begun(tmp_path, specification()), served(tmp_path) as server:
        tell(tmp_path, [clocked_game(0, [*LINE[:3]], scores=[35, 20, None]), clocked_game(1, [])])
        browser.resize(1280)
        browser.open(server.address)
        browser.until("element('cards').children.length === 2")
        assert browser.value("document.querySelectorAll('.mini svg').length") == 0
        browser.value("element('open-all').click()")
        browser.until("document.querySelectorAll('.mini svg').length === 2")
        assert browser.value(seat(0, ".seat-figures")) == "– · depth 7 · 12.3\u202fk nodes · 2.5\u202fs"
        assert browser.value(seat(1, ".seat-figures")).startswith("−0.20 · depth 7")
        assert browser.value(seat(0, ".clock")) == "0:56.0"  # 60 - 2.5 + 0.5 - 2.5 + 0.5
        before = browser.value(f"parseFloat({seat(1, '.clock')}.slice(2))")
        assert 3.5 <= before < 30
        browser.until(f"parseFloat({seat(1, '.clock')}.slice(2)) > {before}")
        assert browser.value("document.querySelectorAll('.card-game .clock.runs').length") == 2
        # The move list of the large board has them too, and a new game takes the place of one that has ended.
        browser.until("element('move-list').tBodies[0].rows[2].innerText.includes('12\u202f345')")
        tell(tmp_path, [clocked_game(1, []), clocked_game(2, [])])
        browser.until("[...element('cards').children].map((card) => card.dataset.name).join() === '2,1'")
        browser.value("element('open-all').click()")
        browser.until("document.querySelectorAll('.mini svg').length === 0")
        assert browser.value("element('failure').hidden")


def test_a_viewer_asks_for_boards_and_a_dialogue_and_the_run_is_told(tmp_path: Path, browser: Browser) -> None:
    """Only who presses the buttons writes into the run's folder."""
    many = [clocked_game(number, [*LINE[:1]] if number < 16 else []) for number in range(20)]
    for game in many[16:]:
        game["moves"] = None
    with begun(tmp_path, specification()), served(tmp_path) as server:
        tell(tmp_path, many)
        browser.open(server.address)
        browser.until("element('cards').children.length === 20")
        assert not (tmp_path / ASKED_NAME).exists()
        browser.value("element('cards').children[0].querySelector('.talk').click()")
        browser.until("element('dialogue-note').textContent.startsWith('elolab has asked the run')")
        wait_for((tmp_path / ASKED_NAME).exists)
        assert json.loads((tmp_path / ASKED_NAME).read_text()) == {"all_moves": False, "dialogues": ["0"]}
        many[0]["dialogue"] = [["0.1000 > go nodes 100", "0.2000 < bestmove h2e2"], []]
        tell(tmp_path, many)
        browser.until("element('dialogue-lines').innerText.includes('bestmove h2e2')")
        assert "plays inside elolab" in browser.value("element('dialogue-lines').children[1].innerText")
        browser.press("Escape", "#dialogue-close")
        browser.until("element('dialogue').hidden && document.activeElement.className === 'talk'")
        browser.value("element('open-all').click()")
        wait_for(lambda: json.loads((tmp_path / ASKED_NAME).read_text())["all_moves"])


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_table_of_games_is_filtered_and_sorted(tmp_path: Path, browser: Browser) -> None:
    numbers = "[...element('finished-list').tBodies[0].rows].map((row) => row.cells[0].innerText).join()"
    with begun(tmp_path, specification()) as store, served(tmp_path) as server:
        for number, reason in enumerate(("checkmate", "crash", "checkmate", "stalemate")):
            store.add(played(number, ("1-0", "0-1")[number % 2], reason=reason))
        tell(tmp_path, [clocked_game(9, [*LINE[:2]])], done=4)
        browser.open(server.address)
        browser.until(f"{numbers} === '3,2,1,0'")

        def filter_by(query: str) -> None:
            put = "Object.assign(element('games-query'), { value: %s }).dispatchEvent(new Event('input'))"
            browser.value(put % json.dumps(query))

        filter_by("ending:checkmate")
        browser.until(f"{numbers} === '2,0'")
        filter_by("running")
        browser.until(f"{numbers} === '9'")
        filter_by("colour:red")
        browser.until("element('games-problem').textContent.startsWith('unknown filter colour:')")
        filter_by("")
        browser.until(f"{numbers} === '3,2,1,0'")
        browser.press("Enter", "#finished-list th[data-key=number] button")
        browser.value("document.querySelector('#finished-list th[data-key=number] button').click()")
        browser.until("document.querySelector('#finished-list th[data-key=number]').ariaSort !== null")
        browser.until("element('openings-list').tBodies[0].rows.length === 1")
        browser.value("element('openings-list').querySelector('tbody button').click()")
        browser.until(f"element('games-query').value === 'opening:\"made up\"' && {numbers}.split(',').length === 4")
        assert "nodes=100" in browser.until("element('engines-list').tBodies[0].innerText")
        assert browser.value("element('machines-table').tBodies[0].rows[0].cells[0].innerText") == "here"
        assert browser.value("element('failure').hidden")


def test_a_table_says_that_it_scrolls_only_if_it_does(tmp_path: Path, browser: Browser) -> None:
    shown = "getComputedStyle(element('finished-list').parentElement, '::after').visibility"
    with begun(tmp_path, specification()) as store, served(tmp_path) as server:
        store.add(played(0, "1-0"))
        for width, visibility in ((390, "visible"), (1400, "hidden")):
            browser.resize(width)
            browser.open(server.address)
            browser.until("element('finished-list').tBodies[0].rows.length === 1")
            browser.until(f"{shown} === '{visibility}'")
            assert browser.value("document.documentElement.scrollWidth") == width
        browser.resize(1280)


def test_a_run_that_is_over_shows_the_figures_of_its_report_at_once(tmp_path: Path, browser: Browser) -> None:
    """It says nowhere that they are being drawn, even if nothing can draw them."""
    store = Store(tmp_path)
    store.record_metadata({"kind": "ablation"})
    store.add(played(0, "1-0"))
    store.close()
    told = {"kind": "ablation", "state": "finished", "planned": 1, "done": 1, "all_planned": 1, "all_done": 1}
    (tmp_path / live.LIVE_NAME).write_text(json.dumps({**told, "running": []}), "utf-8")
    sections = [Section("effects", "Effects", (Note("Null move: +31 Elo"),)), Section("repeat", "Again", ())]
    document = Document("What the search is worth", "Ablation", "Null move helps & nothing else.", tuple(sections))
    (tmp_path / "report.html").write_text(html_page(document), "utf-8")
    with served(tmp_path) as server:
        browser.open(server.address)
        browser.until("element('drawn').innerText.includes('Null move: +31 Elo')")
        assert text_of(browser, "finding") == "Null move helps & nothing else."
        assert browser.value("element('drawing').hidden")
        assert "Again" not in text_of(browser, "drawn")
        browser.open(f"{server.address}?language=zh")
        browser.until("element('drawn').innerText.includes('Null move: +31 Elo')")
        assert browser.value("element('drawing').hidden")
