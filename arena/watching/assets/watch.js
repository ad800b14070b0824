"use strict";
// The page that follows a run. The server sends the run's state, then its changes (format: arena/watching/snapshot.py).
// report.js, which is loaded before this script, shows games on the board of reports.

const END_SECONDS = 4, LIST_SECONDS = 2, CLOCK_MS = 200, DIALOGUE_MS = 1000, UNKNOWN = "–";

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
    this.source?.close();
    this.source = new EventSource(`events?language=${facts.language}&boards=${this.needsAll() ? "all" : "first"}`);
    this.source.addEventListener("state", (event) => this.take(JSON.parse(event.data), null));
    this.source.addEventListener("changes", (event) => this.change(JSON.parse(event.data)));
    this.source.addEventListener("open", () => { element("connection").hidden = true; });
    this.source.addEventListener("error", () => { element("connection").hidden = false; setText("connection", say("lost")); });
  },

  // The run publishes the moves of its first games only, unless it is asked for all.
  needsAll() { return cards.isOpen && this.state !== null && this.state.running.length > facts.gamesWithMoves; },

  // A study by matches of a command or a function has games, but nobody here sees them.
  get hasBoards() { return this.state?.game !== "" || !this.state.games; },

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
    if (isNew("running", "state", "machine", "workers")) this.showMachines();
    if (isNew("games") || isNew("running") && finished.isOfRunning()) finished.renew();
    if (isNew("games")) openings.renew();
    if (isNew("games", "players")) engines.renew();
    if (isNew("players")) this.suggest();
    if (isNew("faults")) this.showFaults();
    if (isNew("warnings")) this.showWarnings();
    if (isNew("drawing", "kind", "standings", "result")) this.loadFigures();
    element("trouble").hidden = !state.trouble;
    setText("trouble", state.trouble);
    if (!before) begun();
  },

  // Words for the query of the table of games.
  suggest() {
    const words = ["running", ...this.state.players.map((name) => filterText("engine", name)), ...Object.keys(facts.endings).filter((name) => name !== "unfinished").map((name) => `ending:${name}`), "result:1-0", "result:0-1", "result:draw"];
    element("games-words").replaceChildren(...words.map((value) => make("option", { value })));
  },

  // The machine of the run, and the workers of a cluster.
  showMachines() {
    const { machine, running, progress, state } = this.state, workers = state === "running" ? this.state.workers : [], own = running.filter((game) => !game.worker).length;
    const loadText = ({ load, processors }) => load === undefined || !processors ? UNKNOWN : say("load", { load: load.toFixed(1), share: Math.round(100 * load / processors) });
    const rows = workers.map((worker) => [worker.name, facts.messages[`worker_${worker.state}`] || worker.state, String(worker.processors || worker.threads || UNKNOWN), loadText(worker),
      String(running.filter((game) => game.worker === worker.name).length), worker.games, worker.games_per_second]);
    if (machine.name !== undefined) {
      rows.unshift([machine.name, say(workers.length ? "machine_of_run" : "machine_playing"), String(machine.processors), loadText(machine), String(own), ...(workers.length ? [null, null] : [progress.all_done, progress.games_per_second])]);
    }
    showSection("machines", rows.length > 0);
    const speedText = (speed) => speed === null || speed === undefined ? UNKNOWN : speed >= 1 ? say("per_second", { games: speed.toFixed(1) }) : say("per_minute", { games: (60 * speed).toFixed(1) });
    element("machines-table").tBodies[0].replaceChildren(...rows.map(([name, state, threads, load, playing, games, speed]) => make("tr", {},
      make("th", { scope: "row" }, name), make("td", {}, state), ...[threads, load, playing, games === null || games === undefined ? UNKNOWN : countText(games), speedText(speed)].map((text) => make("td", { class: "number" }, text)))));
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
    const { curve, test } = this.state, isThere = curve.points.filter((point) => point[1] !== null).length > 1;
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
    element("drawing").hidden = !isHeavy || drawing > 0 || this.state.state !== "running";
    if (isHeavy) setText("drawing", say("drawing"));
    const isTable = facts.language in result || players.length > 2 && games > 0;
    // A run that is over shows the figures of its report at once.
    if (!isTable && (!isHeavy || !drawing && this.state.state === "running")) return;
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
  follows: true, isOpen: remembered("boards") === "open",
  // What is known of each game in progress, by its name: the state on its board, the time at which it was received.
  known: new Map(),

  show(running) {
    const told = running.filter((game) => game.moves), now = Date.now();
    showSection("now", running.length > 0 || ["running", "waiting"].includes(watch.state.state) && watch.hasBoards);
    setText("now-note", !running.length ? say("nothing_running") : !told.length ? say("untold") : "");
    element("open-all").disabled = !told.length;
    for (const game of running) {
      const before = this.known.get(nameOf(game));
      this.known.set(nameOf(game), { ...(before?.moves.length <= (game.moves?.length ?? 0) ? before : { states: [] }), game, moves: game.moves || [], at: now });
    }
    this.arrange(running.map(nameOf));
    if (watch.needsAll() !== this.hasAll && watch.source) { this.hasAll = watch.needsAll(); watch.connect(); }
    board.follow(running);
  },

  hasAll: false,

  // A game takes the place of one that has ended, so that the other boards stay where they are.
  arrange(names) {
    const box = element("cards"), places = new Map([...box.children].map((card) => [card.dataset.name, card]));
    for (const name of this.known.keys()) if (!names.includes(name)) this.known.delete(name);
    const free = [...box.children].filter((card) => !names.includes(card.dataset.name));
    for (const name of names) {
      const card = places.get(name) || this.card(name), gone = places.has(name) ? null : free.shift();
      if (gone) gone.replaceWith(card);
      else if (!places.has(name)) box.append(card);
      this.fill(card);
    }
    for (const card of free) card.remove();
    box.classList.toggle("boards", this.isOpen);
    this.tick();
  },

  card(name) {
    const seat = (side) => make("div", { class: `seat seat${side}` }, make("p", { class: "seat-name" }, make("span", { class: `side side${side}`, role: "img", "aria-label": facts.sides[side] }), make("span", { class: "who" }), make("span", { class: "clock" })), make("p", { class: "seat-figures" }));
    const show = make("button", { type: "button", class: "show", title: say("card_show") }), talk = make("button", { type: "button", class: "talk" }, say("dialogue_button"));
    show.addEventListener("click", () => { this.setFollow(true); board.watch(name); });
    talk.addEventListener("click", () => dialogue.open(name));
    return make("article", { class: "card-game", "data-name": name, "data-game": facts.game }, make("div", { class: "head" }, show, make("span", { class: "length" })), seat(1), make("div", { class: "mini" }), seat(0), talk);
  },

  fill(card) {
    const known = this.known.get(card.dataset.name), { game } = known, part = (name) => card.querySelector(name);
    const opening = game.opening_moves || [], plies = game.moves ? say("live_plies", { plies: opening.length + game.moves.length }) + " · " : "";
    const title = say("live_card", { number: nameOf(game) }) + (game.worker ? ` · ${game.worker}` : "");
    if (part(".show").textContent !== title) part(".show").textContent = title;
    part(".show").disabled = !game.moves;
    part(".talk").setAttribute("aria-label", `${say("dialogue_button")}: ${title}`);
    part(".length").textContent = plies + durationText(game.seconds);
    card.setAttribute("aria-current", String(board.live === nameOf(game)));
    const drawer = BOARDS[facts.game];
    if (drawer) this.advance(known, drawer, opening);
    for (const side of [0, 1]) {
      part(`.seat${side} .who`).textContent = side ? game.second : game.first;
      part(`.seat${side} .seat-figures`).textContent = this.figures(known, side);
    }
    const box = part(".mini");
    box.hidden = !this.isOpen || !known.states.length;
    if (box.hidden) { box.replaceChildren(); known.drawn = null; return; }
    const key = `${known.states.length} ${replay.letters}`;
    if (known.drawn === key) return;
    known.drawn = key;
    const moves = [...opening, ...game.moves], last = moves[moves.length - 1];
    const label = last ? say("position_after", { ply: moves.length, move: last, side: facts.sides[(known.start + moves.length - 1) % 2] }) : say("position_before");
    box.replaceChildren(paintBoard(drawer, known.states[known.states.length - 1], { flipped: false, letters: replay.letters, label }));
  },

  // Play the moves that have come.
  advance(known, drawer, opening) {
    if (!known.game.moves) { known.states = []; return; }
    if (!known.states.length) { known.states = [drawer.parse(known.game.position)]; known.start = known.states[0].side; }
    for (const move of [...opening, ...known.game.moves].slice(known.states.length - 1)) known.states.push(drawer.play(known.states[known.states.length - 1], move));
  },

  // The side that makes a move of a game, by the move's index after the opening.
  side(known, index) { return ((known.start ?? 0) + (known.game.opening_moves || []).length + index) % 2; },

  // Score, depth, nodes and time of a side's last move; the score is from the point of view of the side that moves first.
  figures(known, side) {
    const { moves, scores, depths, nodes, times } = known.game;
    if (!moves || !depths) return "";
    const last = [moves.length - 1, moves.length - 2].find((index) => index >= 0 && this.side(known, index) === side);
    if (last === undefined) return say("no_move_yet");
    const score = scores[last] === null ? UNKNOWN : scoreText(side ? -scores[last] : scores[last]);
    return say("last_figures", { score, depth: depths[last] ?? UNKNOWN, nodes: nodes[last] === null ? UNKNOWN : shortCount(nodes[last]), time: shortTime(times[last]) });
  },

  // Milliseconds left on a side's clock, or used by a side without one; the side to move's are counted on here.
  clock(known, side) {
    const { game } = known, clock = game.clocks?.[side] || null;
    let [time, toGo] = clock ? [clock[0], clock[2]] : [0, 0];
    game.times.forEach((spent, index) => {
      if (this.side(known, index) !== side) return;
      if (!clock) { time += spent; return; }
      time = Math.max(0, time - spent) + clock[1];
      if (clock[2] && --toGo === 0) [time, toGo] = [time + clock[0], clock[2]];
    });
    if (this.side(known, game.moves.length) !== side) return time;
    const total = game.times.reduce((sum, spent) => sum + spent, 0);
    const thinking = (game.thinking ?? Math.max(0, 1000 * game.seconds - total)) + Date.now() - known.at;
    return clock ? Math.max(0, time - thinking) : time + thinking;
  },

  // Clocks run on between two messages of the server.
  tick() {
    if (document.hidden) return;
    for (const card of element("cards").children) {
      const known = this.known.get(card.dataset.name);
      if (!known?.game.moves || !known.game.times) continue;
      for (const side of [0, 1]) {
        const box = card.querySelector(`.seat${side} .clock`), hasClock = Boolean(known.game.clocks?.[side]), text = clockText(this.clock(known, side));
        if (box.textContent !== text) box.textContent = text;
        box.title = say(hasClock ? "clock_left" : "clock_used");
        box.classList.toggle("runs", this.side(known, known.game.moves.length) === side);
      }
    }
  },

  mark() { for (const card of element("cards").children) card.setAttribute("aria-current", String(board.live === card.dataset.name)); },

  open(isOpen) {
    this.isOpen = isOpen;
    remember("boards", isOpen ? "open" : "closed");
    element("open-all").setAttribute("aria-pressed", String(isOpen));
    if (watch.state) this.show(watch.state.running);
  },

  setFollow(follows) {
    this.follows = follows;
    element("follow").setAttribute("aria-pressed", String(follows));
  },
};

function shortCount(count) { return count < 1e4 ? countText(count) : count < 1e6 ? `${(count / 1e3).toFixed(count < 1e5 ? 1 : 0)}\u202fk` : count < 1e9 ? `${(count / 1e6).toFixed(count < 1e8 ? 1 : 0)}\u202fM` : `${(count / 1e9).toFixed(1)}\u202fG`; }

function shortTime(time) { return time < 1000 ? `${time < 10 ? time.toFixed(1) : Math.round(time)}\u202fms` : `${(time / 1000).toFixed(time < 1e5 ? 1 : 0)}\u202fs`; }

function clockText(time) {
  const seconds = time / 1000;
  return seconds >= 60 ? durationText(Math.floor(seconds)) : `0:${String(Math.floor(seconds)).padStart(2, "0")}.${Math.floor(10 * (seconds % 1))}`;
}

// --- The dialogue of a game --------------------------------------------------------------------------------------

const dialogue = {
  name: null, timer: null,

  open(name) {
    this.name = name;
    element("dialogue").hidden = false;
    setText("dialogue-title", say("dialogue_title", { number: name }));
    element("dialogue-lines").replaceChildren();
    setText("dialogue-note", say("dialogue_asked"));
    element("dialogue").scrollIntoView({ block: "nearest" });
    element("dialogue-close").focus({ preventScroll: true });
    this.renew().catch(fail);
  },

  close() {
    clearTimeout(this.timer);
    const talk = [...element("cards").children].find((card) => card.dataset.name === this.name)?.querySelector(".talk");
    this.name = null;
    element("dialogue").hidden = true;
    (talk || element("open-all")).focus({ preventScroll: true });
  },

  async renew() {
    clearTimeout(this.timer);
    const name = this.name;
    const answer = document.hidden ? null : await fetch("dialogue?game=" + encodeURIComponent(name));
    if (this.name !== name) return;
    if (answer?.ok) this.show(await answer.json());
    if (this.name === name) this.timer = setTimeout(() => this.renew().catch(() => { this.timer = setTimeout(() => this.renew(), 5000); }), DIALOGUE_MS);
  },

  show({ state, players }) {
    setText("dialogue-note", state === "shown" ? say("dialogue_note") : say(`dialogue_${state}`));
    players.forEach(([player, lines], side) => {
      let box = element("dialogue-lines").children[side];
      if (!box) {
        box = make("div", {}, make("h4", {}, make("span", { class: `side side${side}` }), player), make("pre", { tabindex: "0", "aria-label": player }));
        element("dialogue-lines").append(box);
      }
      const text = lines.join("\n") || say("dialogue_none"), place = box.lastChild;
      if (place.textContent === text) return;
      const isAtEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 30;
      place.textContent = text;
      if (isAtEnd) place.scrollTop = place.scrollHeight;
    });
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
      opening: [game.position, (game.opening_moves || []).join(" "), game.opening], entries: game.moves.map((_, index) => this.entry(game, index)),
    });
    [this.live, this.key] = [name, null];
    showSection("replay", true);
    replay.open(0, Infinity);
    this.label(game);
    finished.mark();
    cards.mark();
  },

  entry(game, index) {
    const of = (column) => game[column]?.[index] ?? null;
    return { move: game.moves[index], score: of("scores"), depth: of("depths"), nodes: of("nodes"), time: of("times"), line: [] };
  },

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
    const added = game.moves.slice(known).map((_, index) => this.entry(game, known + index));
    replay.entries.slice(book).forEach((entry, index) => Object.assign(entry, this.entry(game, index)));
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

// --- Tables ------------------------------------------------------------------------------------------------------

function filterText(filter, value) { return `${filter}:${/\s/.test(value) ? `"${value}"` : value}`; }

// A table whose rows the server sorts and sends in pages. The table's name is also its section's and its address.
class PagedTable {
  constructor(name, section, row) {
    Object.assign(this, { name, section, row, rows: [], from: 0, total: 0, sort: "", descending: false, renewed: 0, timer: null, size: 15 });
    for (const head of element(`${section}-list`).tHead.querySelectorAll("[data-key]")) head.firstChild.addEventListener("click", () => this.sortBy(head.dataset.key, head.classList.contains("number")));
    element(`${section}-newer`).addEventListener("click", () => this.turn(-1));
    element(`${section}-older`).addEventListener("click", () => this.turn(1));
  }

  // Reload the rows, at most every other second.
  renew() {
    if (this.timer) return;
    const wait = Math.max(0, this.renewed + 1000 * LIST_SECONDS - Date.now());
    this.timer = setTimeout(() => { this.timer = null; this.load().catch(fail); }, wait);
  }

  get query() { return ""; }

  async load() {
    this.renewed = Date.now();
    const query = new URLSearchParams({ from: this.from, sort: this.sort, descending: this.descending ? "1" : "0", language: facts.language, query: this.query });
    const answer = await fetch(`${this.name}?${query}`);
    if (answer.ok) this.show(await answer.json());
  }

  show({ rows, total, problem }) {
    [this.rows, this.total] = [rows, total];
    const body = element(`${this.section}-list`).tBodies[0], focused = [...body.rows].findIndex((row) => row.contains(document.activeElement));
    body.replaceChildren(...rows.map((row) => this.row(row)));
    if (focused >= 0) body.rows[focused]?.querySelector("a, button")?.focus({ preventScroll: true });
    for (const head of element(`${this.section}-list`).tHead.querySelectorAll("[data-key]")) {
      if (head.dataset.key === this.sort) head.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    setText(`${this.section}-text`, total ? say("shown", { from: this.from + 1, to: this.from + rows.length, total: countText(total) }) : this.emptyText());
    element(`${this.section}-newer`).disabled = this.from === 0;
    element(`${this.section}-older`).disabled = this.from + rows.length >= total;
    element(`${this.section}-newer`).parentElement.hidden = total > 0 && total <= this.size;
    showSection(this.section, total > 0 || this.section === "finished" && watch.hasBoards);
    this.shown(problem || "");
  }

  emptyText() { return say("no_games"); }
  shown() {}

  // Numbers begin with the largest; a third click restores the table's own order.
  sortBy(key, isNumber) {
    const isSame = this.sort === key;
    if (isSame && this.descending !== isNumber) this.sort = "";
    else { this.descending = isSame ? !this.descending : isNumber; this.sort = key; }
    this.from = 0;
    this.load().catch(fail);
  }

  turn(by) { this.from = Math.max(0, this.from + by * this.size); this.load().catch(fail); }
}

class GamesTable extends PagedTable {
  get query() { return element("games-query").value.trim(); }

  isOfRunning() { return /(^|\s)running(\s|$)/i.test(this.query); }

  emptyText() { return say(this.query ? "no_game_found" : "no_games"); }

  shown(problem) {
    element("games-problem").textContent = problem;
    element("games-query").setAttribute("aria-invalid", String(problem !== ""));
    if (problem) setText("finished-text", "");
    this.mark();
  }

  // Show the games that a query selects.
  select(query) {
    element("games-query").value = query;
    this.from = 0;
    this.load().catch(fail);
    element("finished").scrollIntoView({ block: "start" });
    element("games-query").focus({ preventScroll: true });
  }

  mark() {
    for (const row of element("finished-list").tBodies[0].rows) {
      if (row.dataset.key && row.dataset.key === board.key) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  step(by) {
    const place = this.rows.findIndex((game) => game.key === board.key), game = this.rows[place < 0 ? 0 : place + by];
    if (game?.key) { cards.setFollow(false); board.open(game.key, false).catch(fail); }
  }
}

function gameRow(game) {
  const link = make("a", { href: "#game=" + game.number }, game.number), isRunning = game.result === "*";
  const row = make("tr", { "data-key": game.key }, make("td", {}, link), make("td", { class: game.result === "1-0" ? "won" : "" }, game.first), make("td", { class: game.result === "0-1" ? "won" : "" }, game.second),
    make("td", {}, isRunning ? UNKNOWN : resultText(game.result)), make("td", {}, isRunning ? say("row_running") : facts.endings[game.reason] || game.reason), make("td", { class: "number" }, String(game.plies)),
    make("td", {}, game.opening || UNKNOWN), make("td", { class: "number" }, shortTime(1000 * game.seconds)));
  row.addEventListener("click", (event) => {
    event.preventDefault();
    if (game.key) { board.open(game.key, true).catch(fail); return; }
    cards.setFollow(true);
    board.watch(game.number);
    element("replay").scrollIntoView({ block: "start" });
  });
  return row;
}

// A button that shows the games with a name in the table of games.
function filterButton(filter, value) {
  const button = make("button", { type: "button", class: "link", title: say("show_games", { name: value }) }, value);
  button.addEventListener("click", () => finished.select(filterText(filter, value)));
  return button;
}

function openingRow(row) {
  const name = row.opening.startsWith("#") ? row.opening : filterButton("opening", row.opening);
  return make("tr", {}, make("th", { scope: "row" }, name), ...[countText(row.games), countText(row.wins), countText(row.draws), countText(row.losses), `${percentText(row.score)} %`, row.plies.toFixed(1)].map((text) => make("td", { class: "number" }, text)));
}

function engineRow(row) {
  return make("tr", {}, make("th", { scope: "row" }, filterButton("engine", row.player)), make("td", {}, row.limit), make("td", { class: "sentence" }, row.setting), make("td", { class: "sentence build" }, row.builds || UNKNOWN));
}

const finished = new GamesTable("games", "finished", gameRow);
const openings = new PagedTable("openings", "openings", openingRow);
const engines = new PagedTable("engines", "engines", engineRow);

// --- Wiring ------------------------------------------------------------------------------------------------------

// The first state is there: show the game of the address, one in progress, or the last one.
async function begun() {
  const match = /game=([\w.-]+)(?:&ply=(\d+))?/.exec(location.hash);
  if (match && await board.load("number=" + match[1], false, match[2] === undefined ? undefined : Number(match[2]))) { cards.setFollow(false); return; }
  if (board.live !== null) return;
  await finished.load();
  if (board.live === null && finished.rows.length) await board.open(finished.rows[0].key, false, Infinity);
}

for (const name of ["faults", "replay", "openings", "engines", "machines"]) showSection(name, false);
listen();
element("follow").addEventListener("click", () => {
  cards.setFollow(!cards.follows);
  board.ended = 0;
  if (cards.follows && board.live === null && watch.state) board.follow(watch.state.running);
});
element("open-all").addEventListener("click", () => cards.open(!cards.isOpen));
element("open-all").setAttribute("aria-pressed", String(cards.isOpen));
element("dialogue-close").addEventListener("click", () => dialogue.close());
element("dialogue").addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); dialogue.close(); } });
element("games-query").form.addEventListener("submit", (event) => event.preventDefault());
element("games-query").addEventListener("input", () => { finished.from = 0; finished.load().catch(fail); });
setInterval(() => cards.tick(), CLOCK_MS);
document.addEventListener("visibilitychange", () => watch.pause());
window.addEventListener("resize", () => { if (watch.state) watch.showCurve(); });
for (const link of document.querySelectorAll("[data-language]")) link.addEventListener("click", () => { link.href = `?language=${link.dataset.language}${location.hash}`; });
watch.connect();
