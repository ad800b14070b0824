"use strict";
// The list of games and the replay of one game. Data: #facts (JSON), an index of all games, and the games themselves, one
// at a time; see begin at the end for their sources, and arena/reports/packed_games.py for the layout.

const facts = JSON.parse(document.getElementById("facts").textContent);
// A message in the page's language with its fields filled in.
// {games:game|games} is the first word if the field games is 1, else the second.
const say = (name, fields = {}) => facts.messages[name].replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g,
  (_, field, one, others) => one === undefined ? fields[field] : String(fields[field]) === "1" ? one : others);
const element = (id) => document.getElementById(id);
const NO_SCORE = -32768, NO_DEPTH = 255, NO_NODES = 4294967295, MATE = 30000, MATE_FROM = 29872, REPETITION_FROM = 28872;
const ROWS_PER_PAGE = 15, COPIED_MS = 1500, CHUNKS_KEPT = 8;
const SVG = "http://www.w3.org/2000/svg";

function fail(error) {
  const place = element("failure");
  place.hidden = false;
  place.textContent = say("failure", { error: error && error.message || error });
}
window.addEventListener("error", (event) => fail(event.message));
window.addEventListener("unhandledrejection", (event) => fail(event.reason));

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/* The parts of a name, which breaks after an underscore if a line has no room for it. */
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, index) => index ? [make("wbr"), part] : [part]);
}

function draw(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// --- Unpacking ---------------------------------------------------------------------------------------------------

function bytesOf(base64) {
  const text = atob(base64.trim()), bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

async function unpackedIndex(base64) { return JSON.parse(new TextDecoder().decode(await decompress(bytesOf(base64)))); }

// The games of a chunk: a function from a game's place in it to the game.
async function unpackedChunk(base64) {
  const data = await decompress(bytesOf(base64));
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length))), { games } = header;
  const starts = [0];
  for (const plies of games.plies) starts.push(starts[starts.length - 1] + plies);
  const total = starts[starts.length - 1];
  let offset = 4 + length;
  const column = (width) => {
    const planes = data.subarray(offset, offset + width * total);
    offset += width * total;
    return (index) => {
      let value = 0;
      for (let plane = width - 1; plane >= 0; plane--) value = value * 256 + planes[plane * total + index];
      return value;
    };
  };
  const move = column(2), score = column(2), depth = column(1), nodes = column(4), time = column(2), plies = column(1);
  const lines = new Uint32Array(total + 1);
  for (let index = 0; index < total; index++) lines[index + 1] = lines[index] + plies(index);
  const lineMove = (place) => header.vocabulary[data[offset + place] + 256 * data[offset + lines[total] + place]];
  const entry = (index) => {
    const raw = (score(index) << 16) >> 16, packed = time(index), counted = nodes(index), deep = depth(index);
    return {
      move: header.vocabulary[move(index)],
      score: raw === NO_SCORE ? null : raw,
      depth: deep === NO_DEPTH ? null : deep,
      nodes: counted === NO_NODES ? null : counted,
      time: (packed & 1023) * Math.pow(10, (packed >> 10) - 3),
      line: Array.from({ length: plies(index) }, (_, ply) => lineMove(lines[index] + ply)),
    };
  };
  return (place) => {
    const [position, before] = header.openings[games.opening[place]];
    return {
      position, before: before.split(" ").filter(Boolean), key: games.key[place], date: games.date[place], round: games.round[place],
      detail: header.details[place] || "", fault: header.faults[place] || null,
      entries: Array.from({ length: games.plies[place] }, (_, ply) => entry(starts[place] + ply)),
    };
  };
}

async function decompress(bytes) {
  if (typeof DecompressionStream === "undefined") return inflate(bytes.subarray(2));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// RFC 1951, for browsers without DecompressionStream.
function inflate(source) {
  let place = 0, bits = 0, count = 0, out = new Uint8Array(Math.max(1024, source.length * 4)), size = 0;
  const take = (need) => {
    while (count < need) { bits |= source[place++] << count; count += 8; }
    const value = bits & ((1 << need) - 1);
    bits >>>= need; count -= need;
    return value;
  };
  const put = (value) => {
    if (size === out.length) { const more = new Uint8Array(size * 2); more.set(out); out = more; }
    out[size++] = value;
  };
  const tree = (lengths) => {
    const counts = new Uint16Array(16), offsets = new Uint16Array(16), symbols = [];
    for (const length of lengths) if (length) counts[length]++;
    for (let length = 1; length < 15; length++) offsets[length + 1] = offsets[length] + counts[length];
    lengths.forEach((length, symbol) => { if (length) symbols[offsets[length]++] = symbol; });
    return { counts, symbols };
  };
  const symbolOf = ({ counts, symbols }) => {
    let code = 0, first = 0, index = 0;
    for (let length = 1; length < 16; length++) {
      code |= take(1);
      if (code - counts[length] < first) return symbols[index + code - first];
      index += counts[length]; first = (first + counts[length]) << 1; code <<= 1;
    }
    throw new Error("damaged data");
  };
  const lengthBase = [], lengthBits = [], distanceBase = [], distanceBits = [];
  for (let index = 0, base = 3; index < 28; index++) { lengthBits[index] = index < 4 ? 0 : (index >> 2) - 1; lengthBase[index] = base; base += 1 << lengthBits[index]; }
  lengthBase[28] = 258; lengthBits[28] = 0;
  for (let index = 0, base = 1; index < 30; index++) { distanceBits[index] = index < 2 ? 0 : (index >> 1) - 1; distanceBase[index] = base; base += 1 << distanceBits[index]; }
  const fixed = [tree(Array.from({ length: 288 }, (_, symbol) => symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8)), tree(new Array(30).fill(5))];
  const dynamic = () => {
    const literals = take(5) + 257, distances = take(5) + 1, codes = take(4) + 4, lengths = new Array(19).fill(0);
    const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    for (let index = 0; index < codes; index++) lengths[order[index]] = take(3);
    const code = tree(lengths), all = [];
    while (all.length < literals + distances) {
      const symbol = symbolOf(code);
      if (symbol < 16) { all.push(symbol); continue; }
      const value = symbol === 16 ? all[all.length - 1] : 0;
      let times = symbol === 16 ? 3 + take(2) : symbol === 17 ? 3 + take(3) : 11 + take(7);
      while (times--) all.push(value);
    }
    return [tree(all.slice(0, literals)), tree(all.slice(literals))];
  };
  for (let last = 0; !last;) {
    last = take(1);
    const kind = take(2);
    if (kind === 0) {
      bits = count = 0;
      const length = source[place] | source[place + 1] << 8;
      place += 4;
      for (let index = 0; index < length; index++) put(source[place++]);
      continue;
    }
    const [literal, distance] = kind === 1 ? fixed : dynamic();
    for (let symbol; (symbol = symbolOf(literal)) !== 256;) {
      if (symbol < 256) { put(symbol); continue; }
      let length = lengthBase[symbol - 257] + take(lengthBits[symbol - 257]);
      const code = symbolOf(distance), back = distanceBase[code] + take(distanceBits[code]);
      while (length--) put(out[size - back]);
    }
  }
  return out.subarray(0, size);
}

// --- The list of games -------------------------------------------------------------------------------------------

const list = {
  shown: [], sort: "number", descending: false, page: 0,
  columns: [["number", say("game"), ""], ["first", facts.sides[0], ""], ["second", facts.sides[1], ""], ["result", say("result"), ""],
    ["reason", say("ending"), ""], ["plies", say("plies"), "number"], ["opening", say("opening"), "wide-only"],
    ["pair", say("pair"), "number wide-only"]],

  prepare(header) {
    this.header = header;
    this.games = header.games;
    const head = make("tr");
    for (const [key, title, kind] of this.columns) {
      const button = make("button", { type: "button" }, title);
      button.addEventListener("click", () => this.sortBy(key));
      head.append(make("th", { scope: "col", class: kind, "data-key": key }, button));
    }
    element("game-list").tHead.append(head);
    for (const id of ["filter-player", "filter-opponent"]) header.players.forEach((name, index) => element(id).append(make("option", { value: index }, name)));
    header.reasons.forEach((reason, index) => element("filter-reason").append(make("option", { value: index }, facts.endings[reason])));
    for (const id of ["filter-player", "filter-opponent", "filter-result", "filter-reason"]) element(id).addEventListener("change", () => this.filter());
    const turns = { "page-first": () => 0, "page-back": () => this.page - 1, "page-on": () => this.page + 1, "page-last": () => Infinity };
    for (const [id, page] of Object.entries(turns)) element(id).addEventListener("click", () => { this.page = page(); this.fill(); });
    element("filter-number").addEventListener("input", () => this.filter());
    element("filter-number").addEventListener("keydown", (event) => { if (event.key === "Enter" && this.shown.length) replay.open(this.shown[0]); });
    this.filter();
  },

  resultChoices() {
    const select = element("filter-result"), before = select.value;
    const name = element("filter-player").value === "" ? null : this.header.players[element("filter-player").value];
    const choices = [["", say("any")], ["1-0", say("won", { name: facts.sides[0] })], ["1/2-1/2", say("drawn")], ["0-1", say("won", { name: facts.sides[1] })]];
    if (name !== null) choices.push(["won", say("won", { name })], ["lost", say("lost", { name })]);
    select.replaceChildren(...choices.map(([value, text]) => make("option", { value }, text)));
    select.value = choices.some(([value]) => value === before) ? before : "";
  },

  filter() {
    this.resultChoices();
    const [player, opponent, result, reason] = ["player", "opponent", "result", "reason"].map((name) => element("filter-" + name).value);
    const games = this.games, number = element("filter-number").value.trim();
    this.shown = games.number.map((_, game) => game).filter((game) => {
      const seats = [games.first[game], games.second[game]];
      if (number !== "" && String(games.number[game]) !== number) return false;
      if (player !== "" && !seats.includes(Number(player))) return false;
      if (opponent !== "" && !seats.includes(Number(opponent))) return false;
      if (player !== "" && player === opponent) return false;
      if (reason !== "" && games.reason[game] !== Number(reason)) return false;
      if (result === "won" || result === "lost") {
        const seat = seats.indexOf(Number(player)), wanted = (seat === 0) === (result === "won") ? "1-0" : "0-1";
        return games.result[game] === wanted;
      }
      return result === "" || games.result[game] === result;
    });
    this.order();
    this.page = 0;
    element("filter-count").textContent = say(this.shown.length === games.number.length ? "games" : "some_games", { shown: this.shown.length, games: games.number.length });
    this.fill();
  },

  value(game, key) {
    const value = this.games[key][game];
    if (key === "number") return game;
    if (key === "first" || key === "second") return this.header.players[value].toLowerCase();
    if (key === "reason") return facts.endings[this.header.reasons[value]];
    if (key === "opening") return this.header.openings[value];
    if (key === "result") return { "1-0": 0, "1/2-1/2": 1, "0-1": 2 }[value] ?? 3;
    return value;
  },

  sortBy(key) {
    this.descending = this.sort === key && !this.descending;
    this.sort = key;
    this.order();
    this.page = 0;
    this.fill();
  },

  order() {
    const values = new Map(this.shown.map((game) => [game, this.value(game, this.sort)])), turn = this.descending ? -1 : 1;
    this.shown.sort((one, other) => {
      const a = values.get(one), b = values.get(other);
      return (a < b ? -turn : a > b ? turn : 0) || one - other;
    });
  },

  fill() {
    const pages = Math.max(1, Math.ceil(this.shown.length / ROWS_PER_PAGE));
    this.page = Math.max(0, Math.min(this.page, pages - 1));
    for (const cell of element("game-list").tHead.querySelectorAll("th")) {
      if (cell.dataset.key === this.sort) cell.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    const start = this.page * ROWS_PER_PAGE;
    element("game-list").tBodies[0].replaceChildren(...this.shown.slice(start, start + ROWS_PER_PAGE).map((game) => this.row(game)));
    element("page-text").textContent = this.shown.length
      ? say("page", { from: start + 1, to: Math.min(start + ROWS_PER_PAGE, this.shown.length), shown: this.shown.length }) : say("no_game");
    for (const id of ["page-first", "page-back"]) element(id).disabled = this.page === 0;
    for (const id of ["page-on", "page-last"]) element(id).disabled = this.page >= pages - 1;
  },

  row(game) {
    const games = this.games, result = games.result[game], players = this.header.players;
    const link = make("a", { href: "#game=" + games.number[game] }, String(games.number[game]));
    const beyond = isBeyond(game);
    const row = make("tr", { ...(game === replay.game ? { "aria-current": "true" } : {}), ...(beyond ? { class: "beyond" } : {}) },
      make("td", {}, link),
      make("td", { class: result === "1-0" ? "won" : "" }, ...breakable(players[games.first[game]])),
      make("td", { class: result === "0-1" ? "won" : "" }, ...breakable(players[games.second[game]])),
      make("td", {}, beyond ? say("not_counted", { result: resultText(result) }) : resultText(result)),
      make("td", {}, facts.endings[this.header.reasons[games.reason[game]]]),
      make("td", { class: "number" }, String(games.plies[game])),
      make("td", { class: "wide-only" }, openingName(game) || "–"),
      make("td", { class: "number wide-only" }, String(games.pair[game])));
    row.addEventListener("click", (event) => { if (event.target.tagName !== "A") location.hash = "game=" + games.number[game]; });
    return row;
  },

  show(game) {
    const place = this.shown.indexOf(game);
    if (place >= 0) this.page = Math.floor(place / ROWS_PER_PAGE);
    this.fill();
  },

  neighbour(game, step) {
    const place = this.shown.indexOf(game);
    return place < 0 ? this.shown[0] : this.shown[place + step];
  },
};

// Whether a game ended after a sequential test was decided.
function isBeyond(game) { return facts.counted !== null && games.header.games.number[game] >= facts.counted; }

function openingName(game) { return games.header.openings[games.header.games.opening[game]]; }

function resultText(result) {
  return { "1-0": "1–0", "0-1": "0–1", "1/2-1/2": "½–½" }[result] || result;
}

// --- The replay --------------------------------------------------------------------------------------------------

// The sides' dots beside names and moves have the colours of their pieces.
[0, 1].forEach((side) => {
  const drawer = BOARDS[facts.game], { style } = document.documentElement;
  if (drawer) [["", drawer.colours[side][0]], ["-edge", drawer.edges[side]]].forEach(([part, colour]) => style.setProperty(`--side${side}${part}`, colour));
});

const replay = {
  // The displayed game, and the game requested last.
  game: null, asked: null, ply: 0, flipped: false, letters: glyphsMissing, timer: null,
  // Moves of the principal variation that the board shows; 0 is the game itself.
  ahead: 0,
  notation: notationChosen(),

  // Show a game, once it is there if it has to be loaded, unless another one is asked for in the meantime.
  open(game, ply) {
    this.stop();
    this.asked = game;
    const found = games.load(game);
    if (!(found instanceof Promise)) { this.show(game, found, ply); return found; }
    element("replay").setAttribute("aria-busy", "true");
    const loaded = () => this.asked === game && element("replay").removeAttribute("aria-busy");
    return found.finally(loaded).then((arrived) => { if (this.asked === game) this.show(game, arrived, ply); });
  },

  show(game, found, ply) {
    const { header } = games, columns = header.games;
    const drawer = BOARDS[facts.game];
    this.game = game;
    this.found = found;
    this.entries = [...found.before.map((move) => ({ move, book: true, score: null, depth: null, nodes: null, time: null, line: [] })), ...found.entries];
    this.position = found.position;
    this.players = [header.players[columns.first[game]], header.players[columns.second[game]]];
    this.result = columns.result[game];
    this.states = drawer ? [drawer.parse(this.position)] : [];
    this.start = drawer ? this.states[0].side : 0;
    if (drawer) for (const entry of this.entries) this.states.push(drawer.play(this.states[this.states.length - 1], entry.move));
    element("variation").hidden = !drawer || this.entries.every((entry) => !entry.line.length);
    const reason = header.reasons[columns.reason[game]];
    element("replay-title").textContent = say("title", { number: columns.number[game], first: this.players[0], second: this.players[1], result: resultText(this.result) });
    const beyond = isBeyond(game) ? " " + say("beyond") : "";
    const detail = beyond + (found.detail ? ` ${found.detail}` : "");
    element("replay-text").textContent = say("text", {
      ending: capital(facts.endings[reason]), plies: columns.plies[game], explanation: facts.explanations[reason],
      opening: openingName(game) || columns.opening[game], pair: columns.pair[game], key: found.key,
    }) + detail;
    const { fault } = found;
    element("fault").hidden = !fault;
    element("fault-text").textContent = fault ? fault.text : "";
    element("fault-dialogue").textContent = fault ? fault.dialogue : "";
    element("fault-heard").hidden = !fault || !fault.dialogue;
    this.fillMoves();
    this.drawGraph();
    this.go(ply ?? this.firstPly());
    list.show(game);
  },

  firstPly() {
    const book = this.entries.findIndex((entry) => !entry.book);
    return book < 0 ? this.entries.length : book;
  },

  side(index) { return (this.start + index) % 2; },

  view(index) {
    const { score } = this.entries[index];
    return score === null ? null : this.side(index) ? -score : score;
  },

  // The name of the move at an index.
  name(index) {
    const drawer = BOARDS[facts.game], { move } = this.entries[index];
    return drawer ? called(drawer, this.states[index], move, this.notation) : move;
  },

  // The principal variation of a move: names, and the states after them, up to the first that is not legal.
  variation(index) {
    const drawer = BOARDS[facts.game], found = { names: [], moves: [], states: [this.states[index]] };
    for (const move of drawer ? this.entries[index].line : []) {
      const state = found.states[found.states.length - 1];
      if (!drawer.legal(state, move)) return found;
      found.names.push(called(drawer, state, move, this.notation));
      found.moves.push(move);
      found.states.push(drawer.play(state, move));
    }
    return found;
  },

  fillMoves() {
    const rows = this.entries.map((entry, index) => {
      const score = this.view(index);
      const cells = [String(index + 1), null, entry.book ? say("book") : score === null ? "–" : scoreText(score), entry.depth ?? "–", entry.nodes === null ? "–" : entry.nodes.toLocaleString("en").replace(/,/g, "\u202f"), entry.time === null ? "–" : timeText(entry.time)];
      const row = make("tr", { "data-ply": index + 1 }, ...cells.map((text, column) => column === 1
        ? make("td", {}, make("span", { class: "dot dot" + this.side(index), role: "img", "aria-label": facts.sides[this.side(index)] }), this.name(index))
        : make("td", { class: "number" + (entry.book ? " book" : "") }, entry.book && column > 2 ? "" : String(text))));
      row.addEventListener("click", () => this.go(index + 1));
      return row;
    });
    element("move-list").tBodies[0].replaceChildren(...rows);
  },

  go(ply) {
    this.ply = Math.max(0, Math.min(ply, this.entries.length));
    this.ahead = 0;
    this.repaint();
    this.seats();
    this.mark();
    if (games) history.replaceState(null, "", `#game=${games.header.games.number[this.game]}&ply=${this.ply}`);
  },

  repaint() {
    if (BOARDS[facts.game]) this.paint();
    else element("board").textContent = say("no_drawing", { game: facts.game });
  },

  // Draw the board and its caption: a position of the game or of a principal variation.
  paint() {
    const drawer = BOARDS[facts.game], line = this.ply ? this.variation(this.ply - 1) : null;
    const state = this.ahead ? line.states[this.ahead] : this.states[this.ply], { ply, ahead } = this, last = this.entries.length;
    const label = ahead ? say("position_ahead", { ply, ahead, move: line.names[ahead - 1] })
      : ply ? say("position_after", { ply, move: this.name(ply - 1), side: facts.sides[this.side(ply - 1)] }) : say("position_before");
    const board = paintBoard(drawer, state, { flipped: this.flipped, letters: this.letters, label });
    element("board").replaceChildren(board);
    element("board").classList.toggle("ahead", ahead > 0);
    element("position-label").textContent = ahead ? say("to_move_ahead", { ply, ahead, side: facts.sides[state.side] }) : say("to_move", { ply, last, side: facts.sides[state.side] });
    element("position").textContent = drawer.text(state);
    this.showVariation(line);
  },

  showVariation(line) {
    const place = element("variation");
    if (place.hidden) return;
    if (!line || !line.moves.length) { place.replaceChildren(say("no_variation")); return; }
    const moves = line.names.map((name, index) => {
      const button = make("button", { type: "button", ...(index + 1 === this.ahead ? { "aria-current": "true" } : {}) }, name);
      button.addEventListener("click", () => this.look(index + 1 === this.ahead ? 0 : index + 1));
      return button;
    });
    const side = this.side(this.ply - 1);
    place.replaceChildren(say("variation", { player: this.players[side], side: facts.sides[side] }), ...moves.flatMap((button) => [" ", button]));
  },

  // Show the position some moves into the principal variation of the last move.
  look(ahead) {
    if (!this.ply || !BOARDS[facts.game]) return;
    this.stop();
    const { moves } = this.variation(this.ply - 1);
    this.ahead = Math.max(0, Math.min(ahead, moves.length));
    const focused = element("variation").contains(document.activeElement);
    this.paint();
    if (focused) (element("variation").querySelector("[aria-current]") || element("replay")).focus({ preventScroll: true });
  },

  choose(notation) {
    this.notation = notation;
    element("notation").value = notation;
    remember("notation", notation);
    if (this.game === null) return;
    this.fillMoves();
    this.paint();
    this.mark();
  },

  // The next notation.
  turn() {
    const { notations } = BOARDS[facts.game] || { notations: [] };
    if (notations.length) this.choose(notations[(notations.indexOf(this.notation) + 1) % notations.length]);
  },

  seats() {
    const outcome = { "1-0": ["seat_won", "seat_lost"], "0-1": ["seat_lost", "seat_won"], "1/2-1/2": ["seat_drew", "seat_drew"] }[this.result];
    const fill = (id, side) => element(id).replaceChildren(make("span", { class: "side side" + side }), say("seat", { player: this.players[side], side: facts.sides[side] }), make("span", { class: "outcome" }, outcome ? say(outcome[side]) : ""));
    fill("seat-far", this.flipped ? 0 : 1);
    fill("seat-near", this.flipped ? 1 : 0);
  },

  mark() {
    const body = element("move-list").tBodies[0], box = element("move-scroll");
    for (const row of body.querySelectorAll("tr[aria-current]")) row.removeAttribute("aria-current");
    const row = this.ply ? body.rows[this.ply - 1] : null;
    if (row) {
      row.setAttribute("aria-current", "true");
      const head = element("move-list").tHead.offsetHeight;
      if (row.offsetTop - head < box.scrollTop) box.scrollTop = row.offsetTop - head;
      else if (row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = row.offsetTop + row.offsetHeight - box.clientHeight;
    } else box.scrollTop = 0;
    const cursor = element("graph").querySelector(".cursor");
    if (cursor) { const x = graph.x(this.ply, this.entries.length); cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); }
  },

  drawGraph() {
    const picture = graph.paint(this);
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      this.go(graph.ply((event.clientX - box.left) / box.width * graph.width, this.entries.length));
      element("replay").focus({ preventScroll: true });
    });
    // Names stand beside the picture, where they can run over several lines, and are never cut.
    const curves = [0, 1].map((side) => make("span", {}, graph.key(side), say("curve", { side: facts.sides[side], player: this.players[side] })));
    element("graph").replaceChildren(make("p", { class: "curves" }, ...curves), picture);
  },

  act(name) {
    if (this.game === null) return;
    const step = { previous: -1, next: 1 }[name];
    if (step) {
      const game = list.neighbour(this.asked, step);
      if (game !== undefined) this.open(game);
    } else if (name === "flip") { this.flipped = !this.flipped; this.seats(); this.repaint(); }
    else if (name === "letters") { this.letters = !this.letters; this.pressed(); this.repaint(); }
    else if (name === "play") this.timer ? this.stop() : this.run();
    else if (name === "ahead") this.look(this.ahead + 1);
    else if (name === "return") this.look(this.ahead - 1);
    else if (name === "game") this.look(0);
    else if (name === "notation") this.turn();
    else if (name in copies) copy(copies[name]());
    else { this.stop(); this.go({ start: 0, back: this.ply - 1, on: this.ply + 1, end: this.entries.length }[name]); }
  },

  pressed() { element("letters")?.setAttribute("aria-pressed", String(this.letters)); },

  run() {
    if (this.ply >= this.entries.length) this.go(0);
    element("play").textContent = say("pause");
    this.timer = setInterval(() => { this.go(this.ply + 1); if (this.ply >= this.entries.length) this.stop(); }, 700);
  },

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    element("play").textContent = say("play");
  },
};

function capital(text) { return text[0].toUpperCase() + text.slice(1); }

function scoreText(score) {
  const sign = score > 0 ? "+" : score < 0 ? "−" : "", size = Math.abs(score);
  if (size >= MATE_FROM) return say("mate", { sign, moves: Math.ceil((MATE - size) / 2) });
  if (size >= REPETITION_FROM) return say("repetition", { sign });
  return sign + (size / 100).toFixed(2);
}

function timeText(time) {
  return time >= 100 ? Math.round(time).toLocaleString("en").replace(/,/g, "\u202f") : time >= 10 ? time.toFixed(1) : time.toFixed(2);
}

const graph = {
  width: 560, height: 190, left: 34, right: 10, top: 10, bottom: 24,

  x(ply, plies) { return this.left + (this.width - this.left - this.right) * ply / Math.max(1, plies); },
  ply(x, plies) { return Math.round((x - this.left) / (this.width - this.left - this.right) * plies); },
  // A side's curve in the legend: a line, or a disc on the board's background.
  key(side) {
    const { lines, ground } = this.chart, picture = draw("svg", { viewBox: "0 0 18 18", width: 18, height: 18, "aria-hidden": "true" });
    if (ground === "none") picture.append(draw("line", { x1: 0, x2: 18, y1: 9, y2: 9, stroke: lines[side], "stroke-width": 2.4 }));
    else picture.append(draw("rect", { width: 18, height: 18, rx: 2, fill: ground }), draw("circle", { cx: 9, cy: 9, r: 6.5, fill: lines[side] }));
    return picture;
  },
  get chart() { return { ground: "none", grid: "var(--line)", axis: "var(--muted)", cursor: "var(--win)", ...(BOARDS[facts.game]?.chart || PAWNS) }; },
  y(score) {
    const middle = (this.top + this.height - this.bottom) / 2, share = this.chart.height(score / 100);
    return middle - (middle - this.top) * Math.max(-1, Math.min(1, share));
  },

  paint(game) {
    this.width = Math.max(320, element("graph").clientWidth || 560);
    const plies = game.entries.length, end = this.width - this.right;
    const picture = draw("svg", { viewBox: `0 0 ${this.width} ${this.height}`, role: "img", "aria-label": say("graph", { plies, first: facts.sides[0] }) });
    const { chart } = this;
    picture.append(draw("rect", { x: this.left, y: this.top, width: end - this.left, height: this.height - this.bottom - this.top, fill: chart.ground }));
    for (const tick of chart.ticks) {
      const y = this.y(100 * tick);
      picture.append(draw("line", { x1: this.left, x2: end, y1: y, y2: y, stroke: tick ? chart.grid : chart.axis, "stroke-width": 1 }),
        draw("text", { x: this.left - 5, y: y + 4, "text-anchor": "end", "font-size": 11.5, fill: "var(--muted)" }, (tick > 0 ? "+" : tick < 0 ? "−" : "") + Math.abs(tick)));
    }
    const step = [10, 20, 50, 100, 200].find((size) => plies / size <= this.width / 55) || 500;
    for (let ply = 0; ply <= plies; ply += step) picture.append(draw("text", { x: this.x(ply, plies), y: this.height - 7, "text-anchor": "middle", "font-size": 11.5, fill: "var(--muted)" }, String(ply)));
    for (const side of [1, 0]) picture.append(this.curve(game, side));
    picture.append(draw("line", { class: "cursor", x1: this.left, x2: this.left, y1: this.top, y2: this.height - this.bottom, stroke: chart.cursor, "stroke-width": 1.5 }));
    return picture;
  },

  curve(game, side) {
    let path = "";
    for (let index = 0; index < game.entries.length; index++) {
      if (game.side(index) !== side) continue;
      const score = game.view(index);
      if (score !== null) path += `${path ? "L" : "M"}${this.x(index + 1, game.entries.length).toFixed(1)} ${this.y(score).toFixed(1)}`;
    }
    return draw("path", { d: path, fill: "none", stroke: this.chart.lines[side], "stroke-width": 1.8, "stroke-linejoin": "round" });
  },
};

// --- Notations and copies ----------------------------------------------------------------------------------------

// A browser may forbid a page to keep anything, above all one opened from a file.
function remember(name, value) {
  try { localStorage.setItem("elolab-" + name, value); } catch { /* it is asked again next time */ }
}

function remembered(name) {
  try { return localStorage.getItem("elolab-" + name); } catch { return null; }
}

function notationChosen() {
  const { notations } = BOARDS[facts.game] || { notations: [] }, kept = remembered("notation");
  if (notations.includes(kept)) return kept;
  return notations.includes("chinese") && document.documentElement.lang.startsWith("zh") ? "chinese" : notations[0] || "";
}

// A damaged record may contain moves without a name.
function called(drawer, state, move, notation) {
  return drawer.notations.length && drawer.legal(state, move) ? drawer.name(state, move, notation) : move;
}

const PGN_WIDTH = 80, MAX_UNBROKEN_COMMENT = 40;

const copies = {
  fen: () => element("position").textContent,
  link: () => location.href,
  pgn: () => portable(replay),
};

// The game as PGN, in the notation that is chosen; as arena/notation/pgn.py writes it, but without time of day,
// duration, times left and latencies, which the page does not have.
function portable(shown) {
  const { header } = games, columns = header.games, { pgn } = facts, drawer = BOARDS[facts.game], index = shown.game;
  const tags = [...Object.entries(pgn.tags), ["Event", pgn.event], ["Site", "elolab"], ["Date", shown.found.date], ["Round", shown.found.round],
    [pgn.sides[0], shown.players[0]], [pgn.sides[1], shown.players[1]], ["Result", shown.result], ...(drawer?.pgnTags?.(shown.states[0]) || [])];
  if (shown.position !== pgn.start) tags.push(["SetUp", "1"], ["FEN", shown.position]);
  const opening = openingName(index);
  if (opening) tags.push(["Opening", opening]);
  tags.push(...sideTags(pgn, shown.players));
  if (isBeyond(index)) tags.push(["Counted", "no"]);
  const notation = drawer?.pgnNotation || shown.notation;
  if (drawer?.pgnFormats) tags.push(["Format", drawer.pgnFormats[notation]]);
  const reason = header.reasons[columns.reason[index]];
  tags.push(["PlyCount", String(shown.entries.length)], ["Termination", pgn.terminations[reason]], ["Reason", reason]);
  const words = [], first = shown.start + 2 * (Number(shown.position.split(" ")[5] || 1) - 1);
  shown.entries.forEach((entry, place) => {
    const ply = first + place;
    if (ply % 2 === 0) words.push(`${ply / 2 + 1}.`);
    else if (place === 0) words.push(`${(ply + 1) / 2}...`);
    const name = drawer ? called(drawer, shown.states[place], entry.move, notation) : entry.move;
    words.push(drawer?.pgnName ? drawer.pgnName(name, notation) : name);
    words.push(...commentWords(entry.book ? "" : figures(entry)));
  });
  words.push(...commentWords(shown.found.fault ? shown.found.fault.text : endingComment(pgn, shown.result, reason)));
  const text = tags.map(([name, value]) => `[${name} "${String(value).split(/\s+/).join(" ").replace(/[\\"]/g, "\\$&")}"]\n`).join("");
  return `${text}\n${folded([...words, shown.result])}\n`;
}

// Conditions of both players: once where they are the same, else with the side's name before.
function sideTags({ sides, players, shared, own }, names) {
  const [one, other] = names.map((name) => players[name] || {}), tags = [];
  for (const name of shared) {
    if (one[name] === other[name]) tags.push([name, one[name]]);
    else tags.push([sides[0] + name, one[name]], [sides[1] + name, other[name]]);
  }
  [one, other].forEach((tagsOfSide, side) => own.forEach((name) => tags.push([sides[side] + name, tagsOfSide[name]])));
  return tags.filter(([, value]) => value);
}

function endingComment({ sides, names }, result, reason) {
  const winner = { "1-0": `${sides[0]} wins: `, "0-1": `${sides[1]} wins: `, "1/2-1/2": "draw: " }[result] || "";
  return winner + names[reason];
}

function commentWords(text) {
  const comment = text.replace(/\{/g, "(").replace(/\}/g, ")").split(/\s+/).filter(Boolean).join(" ");
  if (!comment) return [];
  return comment.length > MAX_UNBROKEN_COMMENT ? `{${comment}}`.split(" ") : [`{${comment}}`];
}

// The mover's score in pawns, depth, seconds and nodes, and its principal variation.
function figures({ score, depth, nodes, time, line }) {
  const size = Math.abs(score), sign = score < 0 ? "-" : "+";
  const worth = score === null ? "" : size >= MATE_FROM ? `${sign}M${Math.ceil((MATE - size) / 2)}` : size >= REPETITION_FROM ? `${sign}R` : sign + (size / 100).toFixed(2);
  const beginning = worth + (depth === null ? "" : `/${depth}`);
  return `${beginning}${beginning && " "}${(time / 1000).toFixed(3)}s${nodes === null ? "" : ` ${nodes}n`}${line.length ? `, pv="${line.join(" ")}"` : ""}`;
}

function folded(words) {
  const lines = [];
  let line = "";
  const width = (text) => [...text].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 2 : 1), 0);
  for (const word of words) {
    if (line && width(line) + 1 + width(word) > PGN_WIDTH) { lines.push(line); line = word; }
    else line += (line && " ") + word;
  }
  return [...lines, line].join("\n");
}

async function copy(text) {
  const isCopied = await written(text), box = element("copy-text");
  box.hidden = isCopied;
  element("copied").textContent = say(isCopied ? "copied" : "not_copied");
  if (!isCopied) { box.value = text; box.focus(); box.select(); }
  clearTimeout(copy.timer);
  if (isCopied) copy.timer = setTimeout(() => { element("copied").textContent = ""; }, COPIED_MS);
}

// By the clipboard's interface, or, where a browser keeps that from pages opened from a file, by a command of old.
async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = make("textarea", { class: "visually-hidden", readonly: "" }), before = document.activeElement;
    box.value = text;
    document.body.append(box);
    box.select();
    let isCopied = false;
    try { isCopied = document.execCommand("copy"); } catch { /* not allowed either */ }
    box.remove();
    if (before) before.focus({ preventScroll: true });
    return isCopied;
  }
}

// --- Wiring ------------------------------------------------------------------------------------------------------

// What a source of games, such as gamesOfReport, promises: { header: columns of all games for the list; load: from a
// game's place in them to the game, as unpackedChunk gives it, or to a promise of it }.
let games = null;

const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "start", End: "end", ArrowUp: "previous", ArrowDown: "next", " ": "play", f: "flip", F: "flip", l: "letters", L: "letters", n: "notation", N: "notation", v: "ahead", V: "return", Escape: "game" };

function openFromAddress(scroll) {
  const match = /game=([\w-]+)(?:&ply=(\d+))?/.exec(location.hash);
  if (!match) return false;
  const game = games.header.games.number.findIndex((number) => String(number) === match[1]);
  if (game < 0) return false;
  replay.open(game, match[2] === undefined ? undefined : Number(match[2]));
  if (scroll) {
    element("replay").scrollIntoView({ block: "start" });
    element("replay").focus({ preventScroll: true });
  }
  return true;
}

// The games of a report: an index, and chunks of games, all of them on the page or each in a script beside it, which hands
// it to receiveChunk. Scripts, because a page opened from a file may read no other kind of file.
async function gamesOfReport() {
  const header = await unpackedIndex(element("index").textContent), starts = [];
  header.games.number.length && header.chunks.reduce((start, { games }) => { starts.push(start); return start + games; }, 0);
  const placeOf = (game) => {
    let low = 0, high = starts.length - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (starts[middle] <= game) low = middle; else high = middle - 1; }
    return low;
  };
  const embedded = await Promise.all([...document.querySelectorAll(".chunk")].map((chunk) => unpackedChunk(chunk.textContent)));
  const kept = new Map(embedded.entries());
  const load = (game) => {
    const place = placeOf(game), chunk = kept.get(place), inside = game - starts[place];
    if (chunk) return chunk(inside);
    return loadedChunk(header.folder, header.chunks[place].name).then(unpackedChunk).then((arrived) => {
      if (kept.size >= CHUNKS_KEPT) kept.delete(kept.keys().next().value);
      kept.set(place, arrived);
      return arrived(inside);
    });
  };
  return { header, load };
}

const awaited = new Map();

function receiveChunk(name, text) { awaited.get(name)?.(text); }

function loadedChunk(folder, name) {
  const src = `${folder}/${name}.js`, script = make("script", { src });
  return new Promise((resolve, reject) => {
    awaited.set(name, resolve);
    script.addEventListener("error", () => reject(new Error(say("chunk_missing", { file: src }))));
    document.head.append(script);
  }).finally(() => { awaited.delete(name); script.remove(); });
}

// What keys, clicks and the size of the window do to the board.
function listen() {
  replay.pressed();
  const chooser = element("notation");
  if (chooser) {
    chooser.value = replay.notation;
    chooser.addEventListener("change", () => replay.choose(chooser.value));
  }
  element("replay").addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || ["SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    replay.act(act);
  });
  element("replay").addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (button) replay.act(button.dataset.act);
    else if (event.target.closest("#board")) element("replay").focus({ preventScroll: true });
  });
  window.addEventListener("resize", () => { if (replay.game !== null) { replay.drawGraph(); replay.mark(); } });
}

async function begin(source) {
  games = await source();
  list.prepare(games.header);
  if (!games.header.games.number.length) { element("replay").hidden = true; return; }
  listen();
  window.addEventListener("hashchange", () => openFromAddress(true));
  if (!openFromAddress(true)) {
    await replay.open(0);
    history.replaceState(null, "", location.pathname + location.search);
  }
}

// A page that gets its games from elsewhere has no index, and begins by itself.
if (element("index")) begin(gamesOfReport).catch(fail);
