"use strict";
// The report's list of games and replay. Data: #facts (JSON) and #packed (see arena/reports/games.py for the layout).

const facts = JSON.parse(document.getElementById("facts").textContent);
// A message of the page's language, its fields filled in.
const say = (name, fields = {}) => facts.messages[name].replace(/\{(\w+)\}/g, (_, field) => fields[field]);
const element = (id) => document.getElementById(id);
const NO_SCORE = -32768, NO_DEPTH = 255, NO_NODES = 4294967295, MATE = 30000, MATE_FROM = 29872, REPETITION_FROM = 28872;
const ROWS_PER_PAGE = 15;
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

function draw(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// --- Unpacking ---------------------------------------------------------------------------------------------------

async function unpack() {
  const text = atob(element("packed").textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  const data = await decompress(bytes);
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  const starts = [0];
  for (const plies of header.games.plies) starts.push(starts[starts.length - 1] + plies);
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
  const move = column(2), score = column(2), depth = column(1), nodes = column(4), time = column(2);
  const entry = (index) => {
    const raw = (score(index) << 16) >> 16, packed = time(index), counted = nodes(index), plies = depth(index);
    return {
      move: header.vocabulary[move(index)],
      score: raw === NO_SCORE ? null : raw,
      depth: plies === NO_DEPTH ? null : plies,
      nodes: counted === NO_NODES ? null : counted,
      time: (packed & 1023) * Math.pow(10, (packed >> 10) - 3),
    };
  };
  return { header, entries: (game) => Array.from({ length: header.games.plies[game] }, (_, ply) => entry(starts[game] + ply)) };
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

// --- Boards: one entry a game ------------------------------------------------------------------------------------
// parse(text) -> {cells, side}; side 0 is the first mover's colour. play(state, move) -> new state.
// squares(move) -> the squares to mark. text(state) -> what is shown below. paint(state, options) -> SVG element.

const BOARDS = {
  xiangqi: {
    characters: { K: "帥", A: "仕", B: "相", N: "傌", R: "俥", C: "炮", P: "兵", k: "將", a: "士", b: "象", n: "馬", r: "車", c: "砲", p: "卒" },

    parse(text) {
      const [placement, side] = text.split(/\s+/);
      const cells = new Map();
      placement.split("/").forEach((row, index) => {
        let file = 0;
        for (const sign of row) {
          if (/\d/.test(sign)) { file += Number(sign); continue; }
          const piece = { H: "N", E: "B", h: "n", e: "b" }[sign] || sign;
          cells.set("abcdefghi"[file++] + (9 - index), piece);
        }
      });
      return { cells, side: side === "b" ? 1 : 0 };
    },

    squares(move) { return [move.slice(0, 2), move.slice(2, 4)]; },

    play(state, move) {
      const [from, to] = this.squares(move), cells = new Map(state.cells);
      cells.set(to, cells.get(from));
      cells.delete(from);
      return { cells, side: 1 - state.side };
    },

    text(state) {
      const rows = [];
      for (let rank = 9; rank >= 0; rank--) {
        let row = "", empty = 0;
        for (const file of "abcdefghi") {
          const piece = state.cells.get(file + rank);
          if (!piece) { empty++; continue; }
          row += (empty || "") + piece;
          empty = 0;
        }
        rows.push(row + (empty || ""));
      }
      return rows.join("/") + (state.side ? " b" : " w");
    },

    paint(state, { flipped, letters, marks, label }) {
      const step = 60, margin = 48;
      const x = (file) => margin + step * (flipped ? 8 - file : file);
      const y = (rank) => margin + step * (flipped ? rank : 9 - rank);
      const place = (square) => [x(square.charCodeAt(0) - 97), y(Number(square[1]))];
      const board = draw("svg", { viewBox: "0 0 576 636", role: "img", "aria-label": label });
      board.append(draw("rect", { width: 576, height: 636, rx: 6, fill: "var(--wood)" }));
      board.append(this.lines(x, y), this.labels(x, y, flipped));
      for (const square of marks) {
        const [cx, cy] = place(square);
        board.append(draw("circle", { cx, cy, r: state.cells.has(square) ? 29.5 : 9, fill: state.cells.has(square) ? "none" : "var(--mark)", "fill-opacity": .55, stroke: "var(--mark)", "stroke-width": 4 }));
      }
      for (const [square, piece] of state.cells) board.append(this.piece(piece, ...place(square), letters));
      return board;
    },

    lines(x, y) {
      const parts = [];
      const line = (a, b, c, d) => parts.push(`M${x(a)} ${y(b)}L${x(c)} ${y(d)}`);
      for (let rank = 0; rank < 10; rank++) line(0, rank, 8, rank);
      for (let file = 0; file < 9; file++) {
        if (file === 0 || file === 8) { line(file, 0, file, 9); continue; }
        line(file, 0, file, 4);
        line(file, 5, file, 9);
      }
      for (const low of [0, 7]) { line(3, low, 5, low + 2); line(5, low, 3, low + 2); }
      const points = [[1, 2], [7, 2], [1, 7], [7, 7], ...[0, 2, 4, 6, 8].flatMap((file) => [[file, 3], [file, 6]])];
      for (const [file, rank] of points) {
        for (const [across, up] of [[-1, -1], [-1, 1], [1, -1], [1, 1]]) {
          if (file + across < 0 || file + across > 8) continue;
          const sx = Math.sign(x(file + across) - x(file)), sy = Math.sign(y(rank + (rank + up > 9 || rank + up < 0 ? -up : up)) - y(rank));
          const px = x(file) + 5 * sx, py = y(rank) + 5 * sy;
          parts.push(`M${px + 9 * sx} ${py}H${px}V${py + 9 * sy}`);
        }
      }
      const left = Math.min(x(0), x(8)) - 5, top = Math.min(y(0), y(9)) - 5;
      return draw("g", { fill: "none", stroke: "var(--wood-line)", "stroke-width": 1.3, "stroke-linecap": "square" },
        draw("path", { d: parts.join("") }),
        draw("rect", { x: left, y: top, width: 490, height: 550, "stroke-width": 2.6 }));
    },

    labels(x, y, flipped) {
      const group = draw("g", { fill: "var(--wood-line)", "font-size": 15, "text-anchor": "middle", "font-family": "var(--sans)" });
      const river = Math.min(y(4), y(5)) + 30;
      for (let file = 0; file < 9; file++) group.append(draw("text", { x: x(file), y: 629 }, "abcdefghi"[file]));
      for (let rank = 0; rank < 10; rank++) group.append(draw("text", { x: 10, y: y(rank) + 5 }, String(rank)));
      if (!glyphsMissing) {
        const [left, right] = flipped ? ["漢界", "楚河"] : ["楚河", "漢界"];
        for (const [text, at] of [[left, 168], [right, 408]]) {
          group.append(draw("text", { x: at, y: river + 9, "font-size": 26, "letter-spacing": 16, opacity: .55, "font-family": CHINESE, lang: "zh-Hant" }, text));
        }
      }
      return group;
    },

    piece(piece, cx, cy, letters) {
      const red = piece === piece.toUpperCase();
      const ink = red ? "var(--red)" : "#f6efdf", ground = red ? "var(--disc)" : "var(--dark-disc)";
      const text = letters ? piece.toUpperCase() : this.characters[piece];
      const face = letters ? { "font-size": 29, "font-weight": 700, "font-family": "var(--sans)" } : { "font-size": 33, "font-weight": 600, "font-family": CHINESE, lang: "zh-Hant" };
      return draw("g", {},
        draw("circle", { cx, cy, r: 26, fill: ground, stroke: red ? "var(--red)" : "#15181c", "stroke-width": 2 }),
        draw("circle", { cx, cy, r: 22.3, fill: "none", stroke: ink, "stroke-width": 1, opacity: .6 }),
        draw("text", { x: cx, y: cy, dy: letters ? "0.355em" : "0.36em", "text-anchor": "middle", fill: ink, ...face }, text),
        draw("title", {}, say("piece", { side: facts.sides[red ? 0 : 1], piece: facts.pieces[piece] || piece })));
    },
  },

  othello: {
    parse(text) {
      const [board, side] = text.split(/\s+/);
      return { cells: [...board], side: side === "O" ? 1 : 0 };
    },

    squares(move) { return move === "pass" ? [] : [move]; },

    index(square) { return square.charCodeAt(0) - 97 + 8 * (Number(square[1]) - 1); },

    play(state, move) {
      const cells = [...state.cells], own = "XO"[state.side];
      if (move !== "pass") {
        const at = this.index(move);
        for (const [across, down] of [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]]) {
          const line = [];
          for (let file = at % 8 + across, rank = Math.floor(at / 8) + down; file >= 0 && file < 8 && rank >= 0 && rank < 8; file += across, rank += down) {
            const disc = cells[8 * rank + file];
            if (disc === "-") break;
            if (disc === own) { for (const place of line) cells[place] = own; break; }
            line.push(8 * rank + file);
          }
        }
        cells[at] = own;
      }
      return { cells, side: 1 - state.side };
    },

    text(state) { return state.cells.join("") + " " + "XO"[state.side]; },

    paint(state, { flipped, marks, label }) {
      const step = 66, margin = 30, place = (number) => margin + step * (flipped ? 7 - number : number);
      const board = draw("svg", { viewBox: "0 0 588 588", role: "img", "aria-label": label });
      board.append(draw("rect", { width: 588, height: 588, rx: 6, fill: "#1f6b4a" }));
      for (let line = 0; line <= 8; line++) {
        const at = margin + step * line, end = margin + 8 * step;
        board.append(draw("path", { d: `M${at} ${margin}V${end}M${margin} ${at}H${end}`, stroke: "#0f3d2a", "stroke-width": 1.4 }));
      }
      for (let number = 0; number < 8; number++) {
        const middle = place(number) + step / 2, words = { fill: "#e7efe9", "font-size": 15, "text-anchor": "middle", "font-family": "var(--sans)" };
        board.append(draw("text", { x: middle, y: 21, ...words }, "abcdefgh"[number]), draw("text", { x: 15, y: middle + 5, ...words }, String(number + 1)));
      }
      state.cells.forEach((disc, index) => {
        if (disc === "-") return;
        const square = "abcdefgh"[index % 8] + (Math.floor(index / 8) + 1);
        const cx = place(index % 8) + step / 2, cy = place(Math.floor(index / 8)) + step / 2;
        board.append(draw("g", {},
          draw("circle", { cx, cy, r: 27, fill: disc === "X" ? "#15181c" : "#f4f1e8", stroke: disc === "X" ? "#000" : "#b9b4a4", "stroke-width": 1.5 }),
          draw("title", {}, say("piece", { side: facts.sides[disc === "X" ? 0 : 1], piece: square }))));
        if (marks.includes(square)) board.append(draw("circle", { cx, cy, r: 7, fill: "var(--mark)" }));
      });
      return board;
    },
  },
};

const CHINESE = "'Noto Serif CJK TC','Noto Serif TC','Songti TC','Songti SC','Kaiti TC',PMingLiU,SimSun,'Noto Sans CJK TC','Noto Sans CJK SC','PingFang TC','Microsoft JhengHei','Microsoft YaHei',serif";

// Without a Chinese font every character is drawn as the same box (or, in some browsers, as a narrow one with digits).
function missingGlyphs() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 48;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return false;
  context.font = "32px " + CHINESE;
  const pictures = ["帥", "馬", "車"].map((sign) => {
    context.clearRect(0, 0, 48, 48);
    context.fillText(sign, 4, 38);
    return context.getImageData(0, 0, 48, 48).data.join();
  });
  const width = context.measureText("帥").width;
  return pictures[0] === pictures[1] || pictures[1] === pictures[2] || width < 26;
}

let glyphsMissing = missingGlyphs();

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
    element("page-back").addEventListener("click", () => { this.page--; this.fill(); });
    element("page-on").addEventListener("click", () => { this.page++; this.fill(); });
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
    const games = this.games;
    this.shown = games.number.map((_, game) => game).filter((game) => {
      const seats = [games.first[game], games.second[game]];
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
    if (key === "first" || key === "second") return this.header.players[value].toLowerCase();
    if (key === "reason") return facts.endings[this.header.reasons[value]];
    if (key === "opening") return this.header.openings[value][2];
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
    element("page-back").disabled = this.page === 0;
    element("page-on").disabled = this.page >= pages - 1;
  },

  row(game) {
    const games = this.games, result = games.result[game], players = this.header.players;
    const link = make("a", { href: "#game=" + games.number[game] }, String(games.number[game]));
    const beyond = games.number[game] >= facts.counted;
    const row = make("tr", { ...(game === replay.game ? { "aria-current": "true" } : {}), ...(beyond ? { class: "beyond" } : {}) },
      make("td", {}, link),
      make("td", { class: result === "1-0" ? "won" : "" }, players[games.first[game]]),
      make("td", { class: result === "0-1" ? "won" : "" }, players[games.second[game]]),
      make("td", {}, beyond ? say("not_counted", { result: resultText(result) }) : resultText(result)),
      make("td", {}, facts.endings[this.header.reasons[games.reason[game]]]),
      make("td", { class: "number" }, String(games.plies[game])),
      make("td", { class: "wide-only" }, this.header.openings[games.opening[game]][2] || "–"),
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

function resultText(result) {
  return { "1-0": "1–0", "0-1": "0–1", "1/2-1/2": "½–½" }[result] || result;
}

// --- The replay --------------------------------------------------------------------------------------------------

const replay = {
  game: null, ply: 0, flipped: false, letters: glyphsMissing, timer: null,

  open(game, ply) {
    this.stop();
    const { header } = games, columns = header.games;
    const [position, before, name] = header.openings[columns.opening[game]];
    const drawer = BOARDS[facts.game];
    this.game = game;
    this.entries = [...before.split(" ").filter(Boolean).map((move) => ({ move, book: true, score: null, depth: null, nodes: null, time: null })), ...games.entries(game)];
    this.players = [header.players[columns.first[game]], header.players[columns.second[game]]];
    this.result = columns.result[game];
    this.states = drawer ? [drawer.parse(position)] : [];
    this.start = drawer ? this.states[0].side : 0;
    if (drawer) for (const entry of this.entries) this.states.push(drawer.play(this.states[this.states.length - 1], entry.move));
    const reason = header.reasons[columns.reason[game]];
    element("replay-title").textContent = say("title", { number: columns.number[game], first: this.players[0], second: this.players[1], result: resultText(this.result) });
    const beyond = columns.number[game] >= facts.counted ? " " + say("beyond") : "";
    const detail = beyond + (header.details[game] ? ` ${header.details[game]}` : "");
    element("replay-text").textContent = say("text", {
      ending: capital(facts.endings[reason]), plies: columns.plies[game], explanation: facts.explanations[reason],
      opening: name || columns.opening[game], pair: columns.pair[game], key: columns.key[game],
    }) + detail;
    const fault = header.faults[game];
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

  fillMoves() {
    const rows = this.entries.map((entry, index) => {
      const score = this.view(index);
      const cells = [String(index + 1), null, entry.book ? say("book") : score === null ? "–" : scoreText(score), entry.depth ?? "–", entry.nodes === null ? "–" : entry.nodes.toLocaleString("en").replace(/,/g, "\u202f"), entry.time === null ? "–" : timeText(entry.time)];
      const row = make("tr", { "data-ply": index + 1 }, ...cells.map((text, column) => column === 1
        ? make("td", {}, make("span", { class: "dot dot" + this.side(index), role: "img", "aria-label": facts.sides[this.side(index)] }), entry.move)
        : make("td", { class: "number" + (entry.book ? " book" : "") }, entry.book && column > 2 ? "" : String(text))));
      row.addEventListener("click", () => this.go(index + 1));
      return row;
    });
    element("move-list").tBodies[0].replaceChildren(...rows);
  },

  go(ply) {
    const last = this.entries.length;
    this.ply = Math.max(0, Math.min(ply, last));
    const drawer = BOARDS[facts.game];
    if (drawer) {
      const state = this.states[this.ply];
      const marks = this.ply ? drawer.squares(this.entries[this.ply - 1].move) : [];
      const label = this.ply
        ? say("position_after", { ply: this.ply, move: this.entries[this.ply - 1].move, side: facts.sides[this.side(this.ply - 1)] })
        : say("position_before");
      element("board").replaceChildren(drawer.paint(state, { flipped: this.flipped, letters: this.letters, marks, label }));
      element("position-label").textContent = say("to_move", { ply: this.ply, last, side: facts.sides[state.side] });
      element("position").textContent = drawer.text(state);
    } else {
      element("board").textContent = say("no_drawing", { game: facts.game });
    }
    this.seats();
    this.mark();
    if (games) history.replaceState(null, "", `#game=${games.header.games.number[this.game]}&ply=${this.ply}`);
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
    element("graph").replaceChildren(picture);
  },

  act(name) {
    if (this.game === null) return;
    const step = { previous: -1, next: 1 }[name];
    if (step) {
      const game = list.neighbour(this.game, step);
      if (game !== undefined) this.open(game);
    } else if (name === "flip") { this.flipped = !this.flipped; this.go(this.ply); }
    else if (name === "letters") { this.letters = !this.letters; this.pressed(); this.go(this.ply); }
    else if (name === "play") this.timer ? this.stop() : this.run();
    else { this.stop(); this.go({ start: 0, back: this.ply - 1, on: this.ply + 1, end: this.entries.length }[name]); }
  },

  pressed() { element("letters").setAttribute("aria-pressed", String(this.letters)); },

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
  width: 560, height: 214, left: 34, right: 10, top: 34, bottom: 24,

  x(ply, plies) { return this.left + (this.width - this.left - this.right) * ply / Math.max(1, plies); },
  ply(x, plies) { return Math.round((x - this.left) / (this.width - this.left - this.right) * plies); },
  // Compressed far from zero: a pawn matters most when the game is even.
  y(score) { const middle = (this.top + this.height - this.bottom) / 2; return middle - (middle - this.top) * Math.tanh(score / 500) / Math.tanh(4); },

  paint(game) {
    this.width = Math.max(320, element("graph").clientWidth || 560);
    const plies = game.entries.length, end = this.width - this.right;
    const picture = draw("svg", { viewBox: `0 0 ${this.width} ${this.height}`, role: "img", "aria-label": say("graph", { plies, first: facts.sides[0] }) });
    for (const pawns of [10, 3, 1, 0, -1, -3, -10]) {
      const y = this.y(100 * pawns);
      picture.append(draw("line", { x1: this.left, x2: end, y1: y, y2: y, stroke: pawns ? "var(--line)" : "var(--muted)", "stroke-width": 1 }),
        draw("text", { x: this.left - 5, y: y + 4, "text-anchor": "end", "font-size": 11.5, fill: "var(--muted)" }, (pawns > 0 ? "+" : pawns < 0 ? "−" : "") + Math.abs(pawns)));
    }
    const step = [10, 20, 50, 100, 200].find((size) => plies / size <= this.width / 55) || 500;
    for (let ply = 0; ply <= plies; ply += step) picture.append(draw("text", { x: this.x(ply, plies), y: this.height - 7, "text-anchor": "middle", "font-size": 11.5, fill: "var(--muted)" }, String(ply)));
    for (const side of [1, 0]) picture.append(this.curve(game, side));
    for (const side of [0, 1]) {
      const color = side ? "var(--ink)" : "var(--accent)", x = this.left + side * (end - this.left) / 2;
      picture.append(draw("line", { x1: x, x2: x + 18, y1: 12, y2: 12, stroke: color, "stroke-width": 2.4 }),
        draw("text", { x: x + 24, y: 16, "font-size": 12.5, fill: color }, say("curve", { side: facts.sides[side], player: shortened(game.players[side]) })));
    }
    picture.append(draw("line", { class: "cursor", x1: this.left, x2: this.left, y1: this.top, y2: this.height - this.bottom, stroke: "var(--win)", "stroke-width": 1.5 }));
    return picture;
  },

  curve(game, side) {
    let path = "";
    for (let index = 0; index < game.entries.length; index++) {
      if (game.side(index) !== side) continue;
      const score = game.view(index);
      if (score !== null) path += `${path ? "L" : "M"}${this.x(index + 1, game.entries.length).toFixed(1)} ${this.y(score).toFixed(1)}`;
    }
    return draw("path", { d: path, fill: "none", stroke: side ? "var(--ink)" : "var(--accent)", "stroke-width": 1.8, "stroke-linejoin": "round" });
  },
};

function shortened(name) { return name.length > 18 ? name.slice(0, 17) + "…" : name; }

// --- Wiring ------------------------------------------------------------------------------------------------------

let games = null;

const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "start", End: "end", ArrowUp: "previous", ArrowDown: "next", " ": "play", f: "flip", F: "flip", l: "letters", L: "letters" };

function openFromAddress(scroll) {
  const match = /game=(\d+)(?:&ply=(\d+))?/.exec(location.hash);
  if (!match) return false;
  const game = games.header.games.number.indexOf(Number(match[1]));
  if (game < 0) return false;
  replay.open(game, match[2] === undefined ? undefined : Number(match[2]));
  if (scroll) {
    element("replay").scrollIntoView({ block: "start" });
    element("replay").focus({ preventScroll: true });
  }
  return true;
}

async function begin() {
  games = await unpack();
  list.prepare(games.header);
  replay.pressed();
  if (!games.header.games.number.length) { element("replay").hidden = true; return; }
  element("replay").addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    replay.act(act);
  });
  element("replay").addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (button) replay.act(button.dataset.act);
    else if (event.target.closest("#board")) element("replay").focus({ preventScroll: true });
  });
  window.addEventListener("resize", () => { replay.drawGraph(); replay.mark(); });
  window.addEventListener("hashchange", () => openFromAddress(true));
  if (!openFromAddress(true)) {
    replay.open(0);
    history.replaceState(null, "", location.pathname + location.search);
  }
}

begin().catch(fail);
