"use strict";
// What the replay knows of games; report.js, which follows, says what is done with it.

// --- Boards: one entry a game ------------------------------------------------------------------------------------
// parse(text) -> state with cells and side; side 0 is the first mover's colour. play(state, move) -> new state.
// legal(state, move): whether a player's word of a move can be played. squares(move) -> the squares to mark.
// text(state) -> the position's text, as the engine writes it. paint(state, options) -> SVG element.
// chart: how the graph is scaled and coloured. notations: what moves can be called; name(state, move, notation).

const BOARDS = {
  xiangqi: {
    // Compressed far from zero: a pawn matters most when the game is even.
    chart: { ticks: [10, 3, 1, 0, -1, -3, -10], height: (pawns) => Math.tanh(pawns / 5) / Math.tanh(4), lines: ["var(--accent)", "var(--ink)"] },
    notations: ["iccs", "wxf", "chinese", "traditional"],
    names: {
      chinese: { pieces: ["帅仕相马车炮兵", "将士象马车炮卒"], ways: { "+": "进", "-": "退", "=": "平" }, order: "前中后" },
      traditional: { pieces: ["帥仕相馬車炮兵", "將士象馬車砲卒"], ways: { "+": "進", "-": "退", "=": "平" }, order: "前中後" },
    },
    characters: { K: "帥", A: "仕", B: "相", N: "傌", R: "俥", C: "炮", P: "兵", k: "將", a: "士", b: "象", n: "馬", r: "車", c: "砲", p: "卒" },

    parse(text) {
      const [placement, side, , , quiet, number] = text.split(/\s+/);
      const cells = new Map();
      placement.split("/").forEach((row, index) => {
        let file = 0;
        for (const sign of row) {
          if (/\d/.test(sign)) { file += Number(sign); continue; }
          const piece = { H: "N", E: "B", h: "n", e: "b" }[sign] || sign;
          cells.set("abcdefghi"[file++] + (9 - index), piece);
        }
      });
      return { cells, side: side === "b" ? 1 : 0, quiet: Number(quiet || 0), number: Number(number || 1) };
    },

    squares(move) { return [move.slice(0, 2), move.slice(2, 4)]; },

    play(state, move) {
      const [from, to] = this.squares(move), cells = new Map(state.cells);
      const quiet = cells.has(to) ? 0 : state.quiet + 1;
      cells.set(to, cells.get(from));
      cells.delete(from);
      return { cells, side: 1 - state.side, quiet, number: state.number + state.side };
    },

    sideOf(piece) { return piece === piece.toUpperCase() ? 0 : 1; },

    legal(state, move) {
      const [from, to] = this.squares(move), piece = state.cells.get(from), target = state.cells.get(to);
      if (!/^[a-i]\d[a-i]\d$/.test(move) || !piece || this.sideOf(piece) !== state.side) return false;
      if ((target && this.sideOf(target) === state.side) || !this.reaches(state.cells, from, to)) return false;
      const { cells } = this.play(state, move), king = "Kk"[state.side];
      const [square] = [...cells].find(([, other]) => other === king) || [null];
      return square !== null && ![...cells].some(([origin, other]) => this.sideOf(other) !== state.side && this.reaches(cells, origin, square));
    },

    // Whether the piece on a square attacks or may go to another, whoever stands there. Generals attack along open files.
    reaches(cells, from, to) {
      const piece = cells.get(from), side = this.sideOf(piece), [x, y, u, v] = [from.charCodeAt(0), Number(from[1]), to.charCodeAt(0), Number(to[1])];
      const across = Math.abs(u - x), up = Math.abs(v - y), ahead = side ? y - v : v - y, home = side ? 9 - v : v;
      const at = (file, rank) => cells.get(String.fromCharCode(file) + rank);
      const between = () => {
        let count = 0;
        for (let step = 1; step < across + up; step++) if (at(x + step * Math.sign(u - x), y + step * Math.sign(v - y))) count++;
        return count;
      };
      const inPalace = u >= 100 && u <= 102 && home <= 2, straight = across + up > 0 && (across === 0 || up === 0);
      switch (piece.toUpperCase()) {
        case "K": return (inPalace && across + up === 1) || (across === 0 && /k/i.test(cells.get(to) || "") && between() === 0);
        case "A": return inPalace && across === 1 && up === 1;
        case "B": return home <= 4 && across === 2 && up === 2 && !at((x + u) / 2, (y + v) / 2);
        case "N": return across * up === 2 && !(across === 2 ? at((x + u) / 2, y) : at(x, (y + v) / 2));
        case "R": return straight && between() === 0;
        case "C": return straight && between() === (cells.has(to) ? 1 : 0);
        default: return (ahead === 1 && across === 0) || (ahead === 0 && across === 1 && (side ? y <= 4 : y >= 5));
      }
    },

    // As engine/games/xiangqi/move_names.py writes it, which explains what is written of several pieces on a file.
    name(state, move, notation) {
      if (notation === "iccs") return move;
      const [from, to] = this.squares(move), piece = state.cells.get(from), side = state.side;
      const kind = "KABNRCP".indexOf(piece.toUpperCase());
      const file = (square) => side ? square.charCodeAt(0) - 96 : 106 - square.charCodeAt(0);
      const advance = (square) => side ? 9 - Number(square[1]) : Number(square[1]);
      const own = [...state.cells].filter(([, other]) => other === piece).map(([square]) => square);
      const count = (square) => own.filter((other) => other[0] === square[0]).length;
      const same = own.filter((square) => square[0] === from[0]).sort((one, other) => advance(other) - advance(one));
      const tandemFiles = new Set(own.filter((square) => count(square) > 1).map((square) => square[0])).size;
      const rank = same.indexOf(from), byFile = same.length === 1 || kind === 1 || kind === 2;
      const forward = advance(to) - advance(from), number = forward && from[0] === to[0] ? Math.abs(forward) : file(to);
      const way = forward > 0 ? "+" : forward < 0 ? "-" : "=";
      if (notation === "wxf") {
        const letter = "KAEHRCP"[kind];
        return (byFile ? letter + file(from) : same.length > 2 || tandemFiles > 1 ? `${rank + 1}${file(from)}` : letter + "+-"[rank]) + way + number;
      }
      const { pieces, ways, order } = this.names[notation], numeral = (digit) => side ? String(digit) : "一二三四五六七八九"[digit - 1];
      const called = pieces[side][kind], end = rank === 0 ? 0 : rank === same.length - 1 ? 2 : 1;
      const origin = byFile ? called + numeral(file(from)) : same.length > 3 ? "一二三四五六七八九"[rank] + called : order[end] + (tandemFiles > 1 ? numeral(file(from)) : called);
      return origin + ways[way] + numeral(number);
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
      return `${rows.join("/")} ${"wb"[state.side]} - - ${state.quiet} ${state.number}`;
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
    // Fine near zero, up to all discs; black and white on the board's green.
    chart: {
      ticks: [64, 32, 16, 8, 0, -8, -16, -32, -64], height: (discs) => Math.asinh(discs / 8) / Math.asinh(8),
      lines: ["var(--black-disc)", "var(--white-disc)"], ground: "var(--felt)", grid: "var(--felt-line)", axis: "var(--felt-label)", cursor: "var(--felt-mark)",
    },
    notations: [],

    parse(text) {
      const [board, side] = text.split(/\s+/);
      return { cells: [...board], side: side === "O" ? 1 : 0 };
    },

    squares(move) { return move === "pass" ? [] : [move]; },

    index(square) { return square.charCodeAt(0) - 97 + 8 * (Number(square[1]) - 1); },

    // The discs that a move turns.
    turned({ cells, side }, at) {
      const found = [], own = "XO"[side];
      for (const [across, down] of [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]]) {
        const line = [];
        for (let file = at % 8 + across, rank = Math.floor(at / 8) + down; file >= 0 && file < 8 && rank >= 0 && rank < 8; file += across, rank += down) {
          const disc = cells[8 * rank + file];
          if (disc === "-") break;
          if (disc === own) { found.push(...line); break; }
          line.push(8 * rank + file);
        }
      }
      return found;
    },

    legal(state, move) {
      const isLegal = (at) => state.cells[at] === "-" && this.turned(state, at).length > 0;
      if (move === "pass") return !state.cells.some((_, at) => isLegal(at));
      return /^[a-h][1-8]$/.test(move) && isLegal(this.index(move));
    },

    play(state, move) {
      const cells = [...state.cells];
      if (move !== "pass") for (const place of [this.index(move), ...this.turned(state, this.index(move))]) cells[place] = "XO"[state.side];
      return { cells, side: 1 - state.side };
    },

    text(state) { return state.cells.join("") + " " + "XO"[state.side]; },

    paint(state, { flipped, marks, label }) {
      const step = 66, margin = 30, place = (number) => margin + step * (flipped ? 7 - number : number);
      const board = draw("svg", { viewBox: "0 0 588 588", role: "img", "aria-label": label });
      board.append(draw("rect", { width: 588, height: 588, rx: 6, fill: "var(--felt)" }));
      for (let line = 0; line <= 8; line++) {
        const at = margin + step * line, end = margin + 8 * step;
        board.append(draw("path", { d: `M${at} ${margin}V${end}M${margin} ${at}H${end}`, stroke: "var(--felt-line)", "stroke-width": 1.4 }));
      }
      for (let number = 0; number < 8; number++) {
        const middle = place(number) + step / 2, words = { fill: "var(--felt-label)", "font-size": 15, "text-anchor": "middle", "font-family": "var(--sans)" };
        board.append(draw("text", { x: middle, y: 21, ...words }, "abcdefgh"[number]), draw("text", { x: 15, y: middle + 5, ...words }, String(number + 1)));
      }
      state.cells.forEach((disc, index) => {
        if (disc === "-") return;
        const square = "abcdefgh"[index % 8] + (Math.floor(index / 8) + 1);
        const cx = place(index % 8) + step / 2, cy = place(Math.floor(index / 8)) + step / 2;
        board.append(draw("g", {},
          draw("circle", { cx, cy, r: 27, fill: disc === "X" ? "var(--black-disc)" : "var(--white-disc)", stroke: disc === "X" ? "#000" : "#b9b4a4", "stroke-width": 1.5 }),
          draw("title", {}, say("piece", { side: facts.sides[disc === "X" ? 0 : 1], piece: square }))));
        if (marks.includes(square)) board.append(draw("circle", { cx, cy, r: 7, fill: "var(--felt-mark)", stroke: "var(--felt-line)", "stroke-width": 1.5 }));
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
