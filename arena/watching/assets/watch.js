"use strict";
// The page that follows a run. The server sends the run's state, then its changes (format: arena/watching/snapshot.py).
// report.js, which is loaded before this script, shows games on the board of reports.

const END_SECONDS = 4, LIST_SECONDS = 2, UNKNOWN = "–";

function signedText(value, digits = 1) {
  if (value === null || value === undefined) return "∞";
  const size = Math.abs(value).toFixed(digits);
  return (Number(size) === 0 ? "" : value > 0 ? "+" : "−") + size;
}

// Elo as text; null is an infinite value with the given sign.
function eloText(value, sign) { return value === null ? sign + "∞" : signedText(value); }

function durationText(seconds) {
  const whole = Math.round(seconds), pad = (value) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
}

// In percent, rounded as in reports: what lies halfway to the even digit, so that 9 of 16 points are 56.2, not 56.3.
function percentText(share) {
  const percent = 100 * share;
  return percent % 1 === .25 ? `${Math.floor(percent)}.2` : percent.toFixed(1);
}

function likelihoodText(share) {
  // Never certain, as in reports.
  return share === null ? UNKNOWN : share < 0.0005 ? "<0.1" : share >= 0.9995 ? ">99.9" : percentText(share);
}
function countText(count) { return count.toLocaleString("en").replace(/,/g, "\u202f"); }

// A section of the page, and with it its link at the head.
function showSection(id, isThere) {
  element(id).hidden = !isThere;
  document.querySelector(`nav a[href="#${id}"]`).hidden = !isThere;
}

function setText(id, text) { if (element(id).textContent !== text) element(id).textContent = text; }

const nameOf = (game) => [...game.series.split(" ").filter(Boolean), game.number].join("-");

// --- The state ---------------------------------------------------------------------------------------------------

const watch = {
  state: null, source: null, figures: {},

  connect() {
    this.source = new EventSource("events?language=" + facts.language);
    this.source.addEventListener("state", (event) => this.take(JSON.parse(event.data), null));
    this.source.addEventListener("changes", (event) => this.change(JSON.parse(event.data)));
    this.source.addEventListener("open", () => { element("connection").hidden = true; });
    this.source.addEventListener("error", () => { element("connection").hidden = false; setText("connection", say("lost")); });
  },

  change(event) { this.take({ ...this.state, ...event }, event); },

  // A hidden page reads nothing from the server.
  pause() {
    if (document.hidden && this.source) { this.source.close(); this.source = null; }
    else if (!document.hidden && !this.source) this.connect();
  },

  take(state, event) {
    // The board, its words and the names of the sides are of a game, which is known only once the run has begun.
    if (state.game && state.game !== facts.game) { location.reload(); return; }
    const before = this.state, isNew = (...names) => !event || names.some((name) => name in event);
    this.state = state;
    if (isNew("state", "kind", "format", "name")) this.showHead();
    if (isNew("progress", "running", "workers", "state", "games", "test")) this.showProgress();
    if (isNew("standings", "anchors")) this.showStandings();
    if (isNew("curve", "match", "test", "standings")) this.showCurve();
    this.showFinding();
    if (isNew("running", "state")) cards.show(state.running);
    if (isNew("games")) finished.renew();
    if (isNew("players")) finished.players(state.players);
    if (isNew("faults")) this.showFaults();
    if (isNew("warnings")) this.showWarnings();
    if (isNew("drawing", "kind", "standings", "result")) this.loadFigures();
    element("trouble").hidden = !state.trouble;
    setText("trouble", state.trouble);
    if (!before) begun();
  },

  showHead() {
    const { kind, format, state, name } = this.state, { kinds, states } = facts.counts;
    const words = kinds[format] || kinds[kind] || kind;
    element("kicker").replaceChildren(words ? words + " · " : "", make("span", { class: `state state-${state}` }, states[state] || state));
    const title = this.figures.title || name;
    document.querySelector("h1").textContent = title;
    document.title = `${title} · ${states[state] || state}`;
  },

  showProgress() {
    const { progress, running, workers, state, games } = this.state;
    const planned = progress.all_planned, done = progress.all_done || (planned ? 0 : games);
    const isOver = state === "finished", share = isOver ? 1 : planned ? Math.min(1, done / planned) : 0;
    element("progress-bar").style.width = `${100 * share}%`;
    element("progress").setAttribute("aria-valuenow", String(Math.round(100 * share)));
    setText("tile-games", planned ? say("of", { done: countText(done), planned: countText(planned) }) : countText(done));
    const stage = progress.stage ? [make("span", { class: "small" }, progress.stage)] : [];
    element("tile-games").append(...stage);
    const speed = progress.games_per_second;
    setText("tile-speed", !speed ? UNKNOWN : speed >= 1 ? say("per_second", { games: speed.toFixed(1) }) : say("per_minute", { games: (60 * speed).toFixed(1) }));
    setText("tile-left", progress.seconds_left === null ? UNKNOWN : (progress.at_most ? "≤ " : "") + durationText(progress.seconds_left));
    setText("tile-running", String(running.length));
    element("tile-workers").parentElement.hidden = !workers.length;
    setText("tile-workers", String(workers.length));
    element("tile-workers").title = workers.map((worker) => say("worker", { name: worker.name, state: worker.state, games: worker.games })).join("\n");
  },

  showFinding() { setText("finding", this.finding()); },

  finding() {
    const { state, match, test, standings, games, progress, result } = this.state;
    if (state === "waiting") return say("finding_waiting");
    if (games && result[facts.language]) return result[facts.language];
    const [first, second] = this.state.players;
    if (test && match) {
      const verdict = this.verdict(test, first);
      return say("finding_test", { verdict, pairs: countText(test.pairs), ratio: signedText(test.llr, 2), low: signedText(test.lower_bound, 2), high: signedText(test.upper_bound, 2) });
    }
    if (match) return say("finding_match", { first, second, elo: eloText(match.elo, match.los >= 0.5 ? "+" : "−"), low: eloText(match.elo_low, "−"), high: eloText(match.elo_high, "+"), pairs: countText(match.pairs), los: likelihoodText(match.los) });
    if (this.figures.summary) return this.figures.summary;
    if (!games) return say("finding_none");
    if (standings.length) return say("finding_leader", { player: standings[0].player, score: percentText(standings[0].score), games: countText(standings[0].games) });
    return progress.words;
  },

  // An accepted hypothesis rejects the other one: the gain is above elo0, or below elo1.
  verdict(test, first) {
    const accepted = { "H0 accepted": ["h0", test.elo1], "H1 accepted": ["h1", test.elo0] }[test.verdict];
    if (!accepted) return say("verdict_undecided");
    const [hypothesis, bound] = accepted, sign = bound > 0 ? "positive" : bound < 0 ? "negative" : "zero";
    return say(`verdict_${hypothesis}_${sign}`, { first, elo: Math.abs(bound), unit: say(`unit_${test.model}`) });
  },

  showStandings() {
    const { standings, anchors } = this.state;
    element("standings-box").hidden = !standings.length;
    const ends = standings.flatMap((row) => row.rating === null || row.rating_error === null ? [] : [row.rating - row.rating_error, row.rating + row.rating_error]);
    // Given ratings have a scale of their own, which may be far from 0 and has no sign.
    const isGiven = Object.keys(anchors).length > 0, zero = isGiven ? [] : [0];
    const scale = { low: Math.min(...zero, ...ends), high: Math.max(...zero, ...ends), zero: !isGiven };
    const ratingText = ({ rating }) => rating === null ? UNKNOWN : isGiven ? signedText(rating).replace("+", "") : signedText(rating);
    const errorText = ({ player, rating, rating_error }) => rating === null ? "" : Object.hasOwn(anchors, player) ? say("given") : rating_error === null ? "± ∞" : `± ${rating_error.toFixed(1)}`;
    element("standings-table").tBodies[0].replaceChildren(...standings.map((row) => make("tr", {},
      make("td", { class: "number" }, String(row.rank)), make("th", { scope: "row" }, row.player),
      make("td", { class: "number rating" }, ratingText(row), make("span", { class: "small" }, errorText(row))),
      make("td", { class: "interval wide-only" }, intervalPicture(row, scale)),
      make("td", { class: "number wide-only" }, countText(row.games)),
      make("td", { class: "number wide-only" }, `${row.wins} ${row.draws} ${row.losses}`),
      make("td", { class: "number" }, row.games ? `${percentText(row.score)} %` : UNKNOWN))));
  },

  showCurve() {
    const { curve, test } = this.state, isThere = curve.points.length > 1;
    element("curve-figure").hidden = !isThere;
    if (!isThere) return;
    const [first, second] = this.state.players;
    setText("curve-caption", say(`curve_${curve.kind}`, { first, second }));
    element("curve").replaceChildren(curvePicture(curve, test));
  },

  showFaults() {
    const { faults } = this.state;
    showSection("faults", faults.length > 0);
    element("fault-list").replaceChildren(...faults.map((fault) => {
      const button = make("button", { type: "button" }, say("fault_first"));
      button.addEventListener("click", () => board.open(fault.key, true));
      return make("li", {}, fault.sentence[facts.language], " ", button);
    }));
  },

  showWarnings() {
    const texts = this.state.warnings.map((warning) => make("p", { class: "note warning" }, warning[facts.language]));
    element("warnings").replaceChildren(...texts);
  },

  async loadFigures() {
    const { kind, drawing, result, players, games } = this.state, isHeavy = kind !== "" && kind !== "tournament";
    element("drawing").hidden = !isHeavy || drawing > 0;
    if (isHeavy) setText("drawing", say("drawing"));
    const isTable = facts.language in result || players.length > 2 && games > 0;
    if (!isTable && (!isHeavy || !drawing)) return;
    const found = await (await fetch("figures?language=" + facts.language)).json();
    if (!found.html) return;
    if (found.html !== this.figures.html) {
      const places = [...document.querySelectorAll("#drawn .scroll")].map((box) => box.scrollLeft);
      element("drawn").innerHTML = found.html;
      document.querySelectorAll("#drawn .scroll").forEach((box, number) => { box.scrollLeft = places[number] ?? 0; });
    }
    this.figures = found;
    this.showHead();
    this.showFinding();
  },
};

// --- Pictures ----------------------------------------------------------------------------------------------------

function intervalPicture(row, { low, high, zero }) {
  const width = 240, x = (value) => high > low ? width * (value - low) / (high - low) : width / 2;
  const picture = draw("svg", { viewBox: `0 0 ${width} 16`, preserveAspectRatio: "none", "aria-hidden": "true" });
  if (zero) picture.append(draw("line", { x1: x(0), x2: x(0), y1: 0, y2: 16, stroke: "var(--line)", "vector-effect": "non-scaling-stroke" }));
  if (row.rating === null) return picture;
  const error = row.rating_error ?? 0;
  picture.append(draw("line", { x1: x(row.rating - error), x2: x(row.rating + error), y1: 8, y2: 8, stroke: "var(--win)", "stroke-width": 2.4, "vector-effect": "non-scaling-stroke" }),
    draw("line", { x1: x(row.rating), x2: x(row.rating), y1: 3, y2: 13, stroke: "var(--win)", "stroke-width": 4, "vector-effect": "non-scaling-stroke" }));
  return picture;
}

// Round values between two, some five of them.
function ticksBetween(low, high) {
  const rough = (high - low) / 5 || 1, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return found;
}

// The Elo of a match with its interval, or a test's ratio between its bounds.
function curvePicture({ kind, points }, test) {
  const width = Math.max(320, element("curve").clientWidth || 640), height = 230, [left, right, top, bottom] = [48, 12, 10, 36];
  const bounds = kind === "llr" && test ? [test.lower_bound, test.upper_bound] : [];
  const middles = points.map((point) => point[1]).filter((value) => value !== null);
  // The first intervals are so wide that they would flatten the rest of the curve.
  const settled = points.slice(Math.floor(points.length / 5)).flatMap((point) => point.slice(1)).filter((value) => value !== null);
  let [low, high] = [Math.min(0, ...bounds, ...settled), Math.max(0, ...bounds, ...settled)];
  if (high === low) [low, high] = [-1, 1];
  const room = .06 * (high - low), last = points[points.length - 1][0], from = points[0][0];
  [low, high] = [low - room, high + room];
  const x = (pairs) => left + (width - left - right) * (pairs - from) / Math.max(1, last - from);
  const y = (value) => top + (height - top - bottom) * (high - Math.max(low, Math.min(high, value))) / (high - low);
  const at = (pairs, value) => `${x(pairs).toFixed(1)} ${y(value).toFixed(1)}`;
  const label = say(`curve_${kind}`, { first: watch.state.players[0], second: watch.state.players[1] });
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const words = { "font-size": 12, fill: "var(--muted)" };
  for (const tick of ticksBetween(low, high)) {
    picture.append(draw("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), stroke: tick ? "var(--line)" : "var(--muted)" }),
      draw("text", { x: left - 7, y: y(tick) + 4, "text-anchor": "end", ...words }, signedText(tick, Math.abs(high - low) < 4 ? 1 : 0)));
  }
  for (const tick of ticksBetween(from, last).filter((value) => Number.isInteger(value))) picture.append(draw("text", { x: x(tick), y: height - 20, "text-anchor": "middle", ...words }, countText(tick)));
  picture.append(draw("text", { x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle", ...words }, say("pairs_axis")));
  if (kind === "elo") {
    const whole = points.filter((point) => point[2] !== null && point[3] !== null);
    const band = [...whole.map((point) => at(point[0], point[3])), ...whole.reverse().map((point) => at(point[0], point[2]))];
    picture.append(draw("path", { d: band.length ? `M${band.join("L")}Z` : "", fill: "var(--win)", "fill-opacity": .16 }));
  }
  bounds.forEach((bound, upper) => picture.append(draw("line", { x1: left, x2: width - right, y1: y(bound), y2: y(bound), stroke: upper ? "var(--win)" : "var(--loss)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }),
    draw("text", { x: width - right, y: y(bound) + (upper ? 14 : -5), "text-anchor": "end", "font-size": 12, fill: upper ? "var(--win)" : "var(--loss)" }, upper ? "H1" : "H0")));
  const line = points.filter((point) => point[1] !== null).map((point) => at(point[0], point[1])).join("L");
  if (middles.length) picture.append(draw("path", { d: `M${line}`, fill: "none", stroke: "var(--ink)", "stroke-width": 1.8, "stroke-linejoin": "round" }));
  return picture;
}

// --- Games in progress -------------------------------------------------------------------------------------------

const cards = {
  follows: true,

  show(running) {
    const told = running.filter((game) => game.moves);
    showSection("now", running.length > 0 || ["running", "waiting"].includes(watch.state.state));
    setText("now-note", !running.length ? say("nothing_running") : !told.length ? say("untold") : "");
    const places = new Map([...element("cards").children].map((card) => [card.dataset.name, card]));
    element("cards").replaceChildren(...running.map((game) => this.card(game, places.get(nameOf(game)))));
    board.follow(running);
  },

  card(game, before) {
    const card = before || make("button", { type: "button", class: "card-game", "data-name": nameOf(game) }, make("span", { class: "head" }, make("span"), make("span")), make("span", { class: "who" }), make("span", { class: "who" }));
    if (!before) card.addEventListener("click", () => { this.setFollow(true); board.watch(nameOf(game)); });
    const [number, length] = card.firstChild.children, [, first, second] = card.children;
    const plies = game.moves ? say("live_plies", { plies: (game.opening_moves || []).length + game.moves.length }) + " · " : "";
    number.textContent = say("live_card", { number: nameOf(game) }) + (game.worker ? ` · ${game.worker}` : "");
    length.textContent = plies + durationText(game.seconds);
    [first.textContent, second.textContent] = [game.first, game.second];
    card.disabled = !game.moves;
    card.setAttribute("aria-current", String(board.live === nameOf(game)));
    return card;
  },

  mark() { for (const card of element("cards").children) card.setAttribute("aria-current", String(board.live === card.dataset.name)); },

  setFollow(follows) {
    this.follows = follows;
    element("follow").setAttribute("aria-pressed", String(follows));
  },
};

// --- The board ---------------------------------------------------------------------------------------------------

const board = {
  // The name of the game in progress that the board shows, and the key of the finished one.
  live: null, key: null, ended: 0,

  // A game as report.js wants all games of a page: columns, of one row here, and the game itself.
  bundle(game) {
    const columns = { number: game.number, pair: game.pair, first: 0, second: 1, opening: 0, result: game.result, reason: 0, plies: game.entries.length };
    const [position, before, opening] = game.opening;
    const header = {
      players: [game.first, game.second], openings: [opening], reasons: [game.reason],
      games: Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, [value]])),
    };
    const { entries, round, date, detail, fault } = game;
    const found = { position, before: before.split(" ").filter(Boolean), key: (game.key || "").slice(0, 12), entries, round, date, detail, fault };
    return { header, load: () => found };
  },

  async open(key, scroll, ply) { return this.load("key=" + encodeURIComponent(key), scroll, ply); },

  async load(query, scroll, ply) {
    const answer = await fetch(`game?language=${facts.language}&${query}`);
    if (!answer.ok) { if (scroll) setText("now-note", say("unavailable")); return false; }
    this.showFinished(await answer.json(), ply);
    if (scroll) {
      cards.setFollow(false);
      element("replay").scrollIntoView({ block: "start" });
      element("replay").focus({ preventScroll: true });
    }
    return true;
  },

  showFinished(game, ply) {
    games = this.bundle(game);
    [this.live, this.key] = [null, game.key];
    showSection("replay", true);
    replay.open(0, ply);
    finished.mark();
    cards.mark();
  },

  watch(name) {
    const game = watch.state.running.find((one) => nameOf(one) === name);
    if (!game || !game.moves) return;
    games = this.bundle({
      number: name, pair: UNKNOWN, round: "", date: "", first: game.first, second: game.second, result: "*", reason: "unfinished", detail: "", fault: null, key: "",
      opening: [game.position, (game.opening_moves || []).join(" "), game.opening], entries: game.moves.map((move, index) => this.entry(move, (game.scores || [])[index])),
    });
    [this.live, this.key] = [name, null];
    showSection("replay", true);
    replay.open(0, Infinity);
    this.label(game);
    finished.mark();
    cards.mark();
  },

  entry(move, score) { return { move, score: score ?? null, depth: null, nodes: null, time: null, line: [] }; },

  label(game) {
    setText("replay-title", say("live_title", { number: nameOf(game), first: game.first, second: game.second }));
    setText("replay-text", say("live_text", { opening: game.opening || UNKNOWN, plies: replay.entries.length }));
  },

  // Games in progress have changed: update the game on the board, end it, or choose one if the board has none.
  follow(running) {
    const game = running.find((one) => nameOf(one) === this.live);
    if (game) this.extend(game);
    else if (this.live !== null) this.end();
    else if (cards.follows && !document.hidden && Date.now() >= this.ended) {
      const next = running.find((one) => one.moves);
      if (next) this.watch(nameOf(next));
    }
  },

  extend(game) {
    const book = (game.opening_moves || []).length, known = replay.entries.length - book, drawer = BOARDS[facts.game];
    if (game.moves.length < known) { this.watch(this.live); return; }
    const added = game.moves.slice(known).map((move, index) => this.entry(move, (game.scores || [])[known + index]));
    replay.entries.slice(book).forEach((entry, index) => { entry.score = (game.scores || [])[index] ?? entry.score; });
    if (!added.length) return;
    const wasAtEnd = replay.ply === replay.entries.length, { ahead } = replay;
    for (const entry of added) {
      replay.entries.push(entry);
      if (drawer) replay.states.push(drawer.play(replay.states[replay.states.length - 1], entry.move));
    }
    replay.fillMoves();
    replay.drawGraph();
    if (wasAtEnd && !ahead) replay.go(replay.entries.length);
    else replay.mark();
    this.label(game);
  },

  // The last position stays for a moment, with the result, before another game takes its place.
  end() {
    const name = this.live, ply = replay.ply === replay.entries.length ? Infinity : replay.ply;
    this.live = null;
    this.ended = Date.now() + 1000 * END_SECONDS;
    setTimeout(() => this.follow(watch.state.running), 1000 * END_SECONDS + 50);
    this.load("number=" + encodeURIComponent(name), false, ply).catch(fail);
  },
};

replay.letters = glyphsMissing;
list.show = () => {};
const actOnBoard = replay.act;
replay.act = function act(name) {
  if (name === "previous" || name === "next") finished.step(name === "next" ? 1 : -1);
  else actOnBoard.call(this, name);
};

// --- Finished games ----------------------------------------------------------------------------------------------

const finished = {
  rows: [], from: 0, total: 0, renewed: 0, timer: null, size: 15,

  // Reload the newest games, at most every other second.
  renew() {
    if (this.timer) return;
    const wait = Math.max(0, this.renewed + 1000 * LIST_SECONDS - Date.now());
    this.timer = setTimeout(() => { this.timer = null; this.load().catch(fail); }, wait);
  },

  async load() {
    this.renewed = Date.now();
    const query = new URLSearchParams({ from: this.from, player: element("finished-player").value });
    const answer = await fetch("games?" + query);
    if (!answer.ok) return;
    const found = await answer.json();
    [this.rows, this.total] = [found.games, found.total];
    element("finished-list").tBodies[0].replaceChildren(...this.rows.map((game) => this.row(game)));
    setText("finished-text", this.total ? say("shown", { from: this.from + 1, to: this.from + this.rows.length, total: countText(this.total) }) : say("no_games"));
    element("newer").disabled = this.from === 0;
    element("older").disabled = this.from + this.rows.length >= this.total;
    this.mark();
  },

  row(game) {
    const link = make("a", { href: "#game=" + game.number }, game.number);
    const row = make("tr", { "data-key": game.key }, make("td", {}, link), make("td", { class: game.result === "1-0" ? "won" : "" }, game.first), make("td", { class: game.result === "0-1" ? "won" : "" }, game.second),
      make("td", {}, resultText(game.result)), make("td", { class: "wide-only" }, facts.endings[game.reason] || game.reason), make("td", { class: "number" }, String(game.plies)));
    row.addEventListener("click", (event) => { event.preventDefault(); board.open(game.key, true).catch(fail); });
    return row;
  },

  mark() {
    for (const row of element("finished-list").tBodies[0].rows) {
      if (row.dataset.key === board.key) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  },

  step(by) {
    const place = this.rows.findIndex((game) => game.key === board.key), game = this.rows[place < 0 ? 0 : place + by];
    if (game) { cards.setFollow(false); board.open(game.key, false).catch(fail); }
  },

  turn(by) { this.from = Math.max(0, this.from + by * this.size); this.load().catch(fail); },

  players(names) {
    const select = element("finished-player"), known = [...select.options].slice(1).map((option) => option.value);
    const wanted = [...names].sort();
    select.form.hidden = wanted.length < 3;
    if (wanted.join("\n") === known.join("\n")) return;
    const chosen = select.value;
    select.replaceChildren(select.options[0], ...wanted.map((name) => make("option", { value: name }, name)));
    select.value = wanted.includes(chosen) ? chosen : "";
  },
};

// --- Wiring ------------------------------------------------------------------------------------------------------

// The first state is there: show the game of the address, one in progress, or the last one.
async function begun() {
  const match = /game=([\w.-]+)(?:&ply=(\d+))?/.exec(location.hash);
  if (match && await board.load("number=" + match[1], false, match[2] === undefined ? undefined : Number(match[2]))) { cards.setFollow(false); return; }
  if (board.live !== null) return;
  await finished.load();
  if (board.live === null && finished.rows.length) await board.open(finished.rows[0].key, false, Infinity);
}

for (const name of ["faults", "replay"]) showSection(name, false);
listen();
element("follow").addEventListener("click", () => {
  cards.setFollow(!cards.follows);
  board.ended = 0;
  if (cards.follows && board.live === null && watch.state) board.follow(watch.state.running);
});
element("newer").addEventListener("click", () => finished.turn(-1));
element("older").addEventListener("click", () => finished.turn(1));
element("finished-player").addEventListener("change", () => { finished.from = 0; finished.load().catch(fail); });
document.addEventListener("visibilitychange", () => watch.pause());
window.addEventListener("resize", () => { if (watch.state) watch.showCurve(); });
for (const link of document.querySelectorAll("[data-language]")) link.addEventListener("click", () => { link.href = `?language=${link.dataset.language}${location.hash}`; });
watch.connect();
