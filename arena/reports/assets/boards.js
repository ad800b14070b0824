"use strict";
// Draws boards; report.js, which follows, says what is done with them. Each game's board.js adds an entry to BOARDS.

// --- Boards: one entry a game, from board.js in the game's folder ------------------------------------------------
// parse(text) -> state: cells (a map from squares to pieces), side (0: the first mover's colour), marks (squares).
// play(state, move) -> new state, which marks the move. legal(state, move): whether a player's word of a move can be
// played. text(state) -> the position's text, as the engine writes it. sideOf(piece) -> 0 or 1. checked(state), if the
// game has checks -> the square of the king in check, or undefined.
// notations: what moves can be called; name(state, move, notation). Of games copied as PGN: pgnNotation, if not the one
// that is shown; pgnTags(state), tags of a game that begins there; pgnFormats, values of the tag Format; pgnName(name, notation), if moves are written otherwise.
// chart: how the graph is scaled and coloured.
// How it looks: files and ranks (names from the left, from the top); step and margin (distance of neighbours, and of the
// first from the edge, in units of the picture); ground (its colour); labels (colour of the names, and where they
// stand); colours of the sides' pieces, [fill, edge, ink]
// each, and edges of their dots elsewhere; lines(x, y, flipped), where x and y take columns from the left and
// rows from the top; mark(isOccupied), under the pieces or, with marksOnTop, on them; piece(piece, side). The last two
// are drawn around the origin.
const BOARDS = {};

// A graph of pawns, compressed far from zero: a pawn matters most when the game is even.
const PAWNS = { ticks: [10, 3, 1, 0, -1, -3, -10], height: (pawns) => Math.tanh(pawns / 5) / Math.tanh(4), lines: ["var(--accent)", "var(--ink)"] };

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

// The pieces of the board in a FEN, by square.
function cellsOf(placement, { files, ranks }) {
  const cells = new Map();
  placement.split("/").forEach((row, index) => {
    let file = 0;
    for (const sign of row) {
      if (/\d/.test(sign)) file += Number(sign);
      else cells.set(files[file++] + ranks[index], sign);
    }
  });
  return cells;
}

function placementOf(cells, { files, ranks }) {
  const rows = [...ranks].map((rank) => [...files].map((file) => cells.get(file + rank) || "1").join(""));
  return rows.map((row) => row.replace(/1+/g, (empty) => empty.length)).join("/");
}

// A board as an SVG element. letters: pieces are letters on discs; label: words for screen readers.
function paintBoard(drawer, state, { flipped, letters, label }) {
  const { files, ranks, step, margin, ground, labels } = drawer;
  const at = (index, { length }) => margin + step * (flipped ? length - 1 - index : index);
  const x = (column) => at(column, files), y = (row) => at(row, ranks);
  const size = ({ length }) => 2 * margin + step * (length - 1), width = size(files), height = size(ranks);
  const board = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  board.append(draw("rect", { width, height, rx: 6, fill: ground }), drawer.lines(x, y, flipped));
  const words = { fill: labels.fill, "font-size": 15, "text-anchor": "middle", "font-family": "var(--sans)" };
  [...files].forEach((name, column) => board.append(draw("text", { x: x(column), y: labels.y, ...words }, name)));
  [...ranks].forEach((name, row) => board.append(draw("text", { x: labels.x, y: y(row) + 5, ...words }, name)));
  const place = (square, ...children) => draw("g", { transform: `translate(${x(files.indexOf(square[0]))} ${y(ranks.indexOf(square[1]))})` }, ...children);
  const marks = state.marks.map((square) => place(square, drawer.mark(state.cells.has(square))));
  const checked = drawer.checked?.(state);
  if (checked) marks.push(place(checked, draw("circle", { r: .5 * step, fill: "var(--accent)", "fill-opacity": .6, class: "check" })));
  const pieces = [...state.cells].map(([square, piece]) => {
    const side = drawer.sideOf(piece), title = say("piece", { side: facts.sides[side], piece: facts.pieces[piece] || square });
    return place(square, letters && facts.pieces[piece] ? lettered(piece, drawer.colours[side]) : drawer.piece(piece, side), draw("title", {}, title));
  });
  board.append(...(drawer.marksOnTop ? [...pieces, ...marks] : [...marks, ...pieces]));
  return board;
}

function lettered(piece, [fill, edge, ink = edge]) {
  return draw("g", {}, draw("circle", { r: 26, fill, stroke: edge, "stroke-width": 2 }), draw("circle", { r: 22.3, fill: "none", stroke: ink, opacity: .6 }),
    draw("text", { dy: "0.355em", "text-anchor": "middle", fill: ink, "font-size": 29, "font-weight": 700, "font-family": "var(--sans)" }, piece.toUpperCase()));
}
