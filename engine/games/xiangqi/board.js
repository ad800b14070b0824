// How pages draw Xiangqi; arena/reports/assets/boards.js explains the entry.

BOARDS.xiangqi = {
  chart: PAWNS,
  files: "abcdefghi", ranks: "9876543210", step: 60, margin: 48, ground: "var(--wood)", labels: { fill: "var(--wood-line)", x: 10, y: 629 },
  colours: [["var(--disc)", "var(--red)", "var(--red)"], ["var(--dark-disc)", "#15181c", "#f6efdf"]], edges: ["var(--red)", "var(--muted)"],
  notations: ["iccs", "wxf", "chinese", "traditional"],
  pgnFormats: { iccs: "ICCS", wxf: "WXF", chinese: "Chinese", traditional: "Chinese" },
  names: {
    chinese: { pieces: ["帅仕相马车炮兵", "将士象马车炮卒"], ways: { "+": "进", "-": "退", "=": "平" }, order: "前中后" },
    traditional: { pieces: ["帥仕相馬車炮兵", "將士象馬車砲卒"], ways: { "+": "進", "-": "退", "=": "平" }, order: "前中後" },
  },
  characters: { K: "帥", A: "仕", B: "相", N: "傌", R: "俥", C: "炮", P: "兵", k: "將", a: "士", b: "象", n: "馬", r: "車", c: "砲", p: "卒" },

  parse(text) {
    const [placement, side, , , quiet, number] = text.split(/\s+/);
    const cells = cellsOf(placement.replace(/[EHeh]/g, (sign) => ({ H: "N", E: "B", h: "n", e: "b" })[sign]), this);
    return { cells, side: side === "b" ? 1 : 0, quiet: Number(quiet || 0), number: Number(number || 1), marks: [] };
  },

  squares(move) { return [move.slice(0, 2), move.slice(2, 4)]; },

  play(state, move) {
    const [from, to] = this.squares(move), cells = new Map(state.cells);
    const quiet = cells.has(to) ? 0 : state.quiet + 1;
    cells.set(to, cells.get(from));
    cells.delete(from);
    return { cells, side: 1 - state.side, quiet, number: state.number + state.side, marks: [from, to] };
  },

  sideOf(piece) { return piece === piece.toUpperCase() ? 0 : 1; },

  legal(state, move) {
    const [from, to] = this.squares(move), piece = state.cells.get(from), target = state.cells.get(to);
    if (!/^[a-i]\d[a-i]\d$/.test(move) || !piece || this.sideOf(piece) !== state.side) return false;
    if ((target && this.sideOf(target) === state.side) || !this.reaches(state.cells, from, to)) return false;
    return this.checked({ ...this.play(state, move), side: state.side }) === undefined;
  },

  checked({ cells, side }) {
    const [square] = [...cells].find(([, piece]) => piece === "Kk"[side]) || [""];
    return [...cells].some(([origin, piece]) => this.sideOf(piece) !== side && this.reaches(cells, origin, square)) ? square : undefined;
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

  // Coordinates as records of games have them; Chinese moves with full-width digits, so that every character is as wide.
  pgnName(name, notation) {
    if (notation === "iccs") return name.replace(/^([a-i]\d)([a-i]\d)$/, "$1-$2").toUpperCase();
    return notation === "wxf" ? name : name.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
  },

  text({ cells, side, quiet, number }) { return `${placementOf(cells, this)} ${"wb"[side]} - - ${quiet} ${number}`; },

  lines(x, row, flipped) {
    const y = (rank) => row(9 - rank);
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
    const lines = draw("g", { fill: "none", stroke: "var(--wood-line)", "stroke-width": 1.3, "stroke-linecap": "square" },
      draw("path", { d: parts.join("") }),
      draw("rect", { x: left, y: top, width: 490, height: 550, "stroke-width": 2.6 }));
    return draw("g", {}, lines, ...(glyphsMissing ? [] : this.river(Math.min(y(4), y(5)) + 30, flipped)));
  },

  river(y, flipped) {
    const words = { "font-size": 26, "letter-spacing": 16, opacity: .55, fill: "var(--wood-line)", "text-anchor": "middle", "font-family": CHINESE, lang: "zh-Hant" };
    return ["楚河", "漢界"].map((text, place) => draw("text", { x: [168, 408][flipped ? 1 - place : place], y: y + 9, ...words }, text));
  },

  mark(isOccupied) { return draw("circle", { r: isOccupied ? 29.5 : 9, fill: isOccupied ? "none" : "var(--mark)", "fill-opacity": .55, stroke: "var(--mark)", "stroke-width": 4 }); },

  piece(piece, side) {
    const [fill, edge, ink] = this.colours[side];
    return draw("g", {},
      draw("circle", { r: 26, fill, stroke: edge, "stroke-width": 2 }), draw("circle", { r: 22.3, fill: "none", stroke: ink, opacity: .6 }),
      draw("text", { dy: "0.36em", "text-anchor": "middle", fill: ink, "font-size": 33, "font-weight": 600, "font-family": CHINESE, lang: "zh-Hant" }, this.characters[piece]));
  },
};
