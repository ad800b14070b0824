// How pages draw chess; arena/reports/assets/boards.js explains the entry. The pieces are drawn here, without a font.

BOARDS.chess = {
  chart: { ...PAWNS, lines: ["var(--white-disc)", "var(--black-disc)"], ground: "var(--wood-dark)", grid: "var(--wood-line)", axis: "var(--wood)", cursor: "var(--mark)" },
  files: "abcdefgh", ranks: "87654321", step: 66, margin: 57, ground: "var(--wood-line)", labels: { fill: "var(--wood)", x: 12, y: 569 },
  colours: [["#fffdf6", "#22262c", "#22262c"], ["#2b3038", "#0d0f12", "#f3ead6"]], edges: ["var(--muted)", "var(--muted)"],
  notations: ["san", "figurine", "lan", "uci"], pgnNotation: "san",
  figurines: { K: "♔", Q: "♕", R: "♖", B: "♗", N: "♘" },

  // A game that begins with castling as in Chess960 says so.
  pgnTags({ cells, rights }) {
    const isOther = rights.some((files, side) => files && (this.kingOf(cells, side)[0][0] !== "e" || /[^ah]/.test(files)));
    return isOther ? [["Variant", "Chess960"]] : [];
  },

  parse(text) {
    const [placement, side, castling = "-", passant = "-", quiet, number] = text.split(/\s+/), cells = cellsOf(placement, this), rights = ["", ""];
    for (const letter of castling.replace("-", "")) {
      const owner = this.sideOf(letter), file = letter.toLowerCase(), [king] = this.kingOf(cells, owner);
      // K and Q are the outermost rook of the king's side; a letter of a file is the rook there.
      const rooks = [...this.files].filter((at) => cells.get(at + king[1]) === "Rr"[owner]);
      rights[owner] += file === "k" ? rooks[rooks.length - 1] : file === "q" ? rooks[0] : file;
    }
    return { cells, side: side === "b" ? 1 : 0, rights, passant: passant === "-" ? "" : passant, quiet: Number(quiet || 0), number: Number(number || 1), marks: [] };
  },

  text({ cells, side, rights, passant, quiet, number }) {
    const named = rights.map((files, owner) => [...files].sort().reverse().map((file) => {
      const [king] = this.kingOf(cells, owner), isShort = file > king[0];
      const beyond = [...this.files].some((at) => (isShort ? at > file : at < file) && cells.get(at + king[1]) === "Rr"[owner]);
      const letter = beyond ? file : isShort ? "k" : "q";
      return owner ? letter : letter.toUpperCase();
    }).join("")).join("");
    return `${placementOf(cells, this)} ${"wb"[side]} ${named || "-"} ${passant || "-"} ${quiet} ${number}`;
  },

  sideOf(piece) { return piece === piece.toUpperCase() ? 0 : 1; },

  kingOf(cells, side) { return [...cells].find(([, piece]) => piece === "Kk"[side]) || [""]; },

  checked({ cells, side }) {
    const [square] = this.kingOf(cells, side);
    return square && this.attacked(cells, square, 1 - side) ? square : undefined;
  },

  attacked(cells, square, by) { return [...cells].some(([from, piece]) => this.sideOf(piece) === by && this.attacks(cells, from, square)); },

  // Whether the piece on a square attacks another, whoever stands there.
  attacks(cells, from, to) {
    const piece = cells.get(from), across = this.files.indexOf(to[0]) - this.files.indexOf(from[0]), up = Number(to[1]) - Number(from[1]);
    const size = Math.max(Math.abs(across), Math.abs(up)), isDiagonal = Math.abs(across) === Math.abs(up), isStraight = across === 0 || up === 0;
    const isOpen = () => {
      for (let step = 1; step < size; step++) if (cells.has(this.files[this.files.indexOf(from[0]) + step * across / size] + (Number(from[1]) + step * up / size))) return false;
      return true;
    };
    switch (piece.toUpperCase()) {
      case "P": return up === (this.sideOf(piece) ? -1 : 1) && Math.abs(across) === 1;
      case "N": return Math.abs(across * up) === 2;
      case "K": return size === 1;
      case "B": return size > 0 && isDiagonal && isOpen();
      case "R": return size > 0 && isStraight && isOpen();
      default: return size > 0 && (isDiagonal || isStraight) && isOpen();
    }
  },

  // What a castling move does, written as the king's move or as king takes rook; null for any other move.
  castling({ cells, side, rights }, move) {
    const [from, to] = [move.slice(0, 2), move.slice(2, 4)], rank = from[1];
    if (cells.get(from) !== "Kk"[side] || to[1] !== rank) return null;
    const isRook = cells.get(to) === "Rr"[side], isJump = Math.abs(this.files.indexOf(to[0]) - this.files.indexOf(from[0])) > 1;
    if (!isRook && !isJump) return null;
    const isShort = to[0] > from[0], file = [...rights[side]].find((at) => isRook ? at === to[0] : at > from[0] === isShort);
    return file ? { rook: file + rank, king: (isShort ? "g" : "c") + rank, rookTo: (isShort ? "f" : "d") + rank } : null;
  },

  // The squares of a rank from one to another, both included.
  between(one, other) {
    const ends = [one, other].map((square) => this.files.indexOf(square[0])).sort((a, b) => a - b);
    return [...this.files.slice(ends[0], ends[1] + 1)].map((file) => file + one[1]);
  },

  legal(state, move) {
    const { cells, side, passant } = state, [from, to] = [move.slice(0, 2), move.slice(2, 4)], piece = cells.get(from), target = cells.get(to);
    if (!/^[a-h][1-8][a-h][1-8][qrbn]?$/.test(move) || !piece || this.sideOf(piece) !== side) return false;
    const castling = this.castling(state, move), isPawn = /p/i.test(piece);
    if ((isPawn && /[18]/.test(to[1])) !== (move.length === 5)) return false;
    if (castling) {
      const { rook, king, rookTo } = castling, way = this.between(from, king), empty = new Map(cells);
      empty.delete(from);
      if ([...way, ...this.between(rook, rookTo)].some((square) => square !== from && square !== rook && cells.has(square))) return false;
      if (way.some((square) => this.attacked(empty, square, 1 - side))) return false;
    } else if (target && this.sideOf(target) === side) return false;
    else if (isPawn && from[0] === to[0]) {
      const up = (Number(to[1]) - Number(from[1])) * (side ? -1 : 1), isFirst = from[1] === "27"[side];
      if (up < 1 || up > (isFirst ? 2 : 1) || target || (up === 2 && cells.has(from[0] + "36"[side]))) return false;
    } else if (!this.attacks(cells, from, to) || (isPawn && !target && to !== passant)) return false;
    return this.checked({ ...this.moved(state, move), side }) === undefined;
  },

  // The state after a move; the square behind a pawn that made two steps counts whether or not it can be taken.
  moved({ cells: before, side, rights, passant, quiet, number }, move) {
    const [from, to] = [move.slice(0, 2), move.slice(2, 4)], piece = before.get(from), cells = new Map(before);
    const castling = this.castling({ cells: before, side, rights }, move), isPawn = /p/i.test(piece), isCapture = before.has(to) && !castling;
    cells.delete(from);
    if (castling) {
      cells.delete(castling.rook);
      cells.set(castling.king, piece).set(castling.rookTo, "Rr"[side]);
    } else {
      cells.set(to, move.length === 5 ? (side ? move[4] : move[4].toUpperCase()) : piece);
      if (isPawn && to === passant) cells.delete(to[0] + from[1]);
    }
    const lost = (owner, square) => square[1] === "18"[owner] ? square[0] : "", isKing = /k/i.test(piece);
    const kept = rights.map((files, owner) => owner === side && isKing ? "" : [...files].filter((file) => file !== lost(owner, from) && file !== lost(owner, to)).join(""));
    const isDouble = isPawn && Math.abs(Number(to[1]) - Number(from[1])) === 2;
    return {
      cells, side: 1 - side, rights: kept, passant: isDouble ? from[0] + "36"[side] : "", quiet: isPawn || isCapture ? 0 : quiet + 1,
      number: number + side, marks: [from, castling ? castling.king : to],
    };
  },

  play(state, move) {
    const after = this.moved(state, move), { passant } = after;
    const takers = passant ? [-1, 1].map((across) => this.files[this.files.indexOf(passant[0]) + across] + move[3]).filter((square) => after.cells.get(square) === "Pp"[after.side]) : [];
    return { ...after, passant: takers.some((from) => this.legal(after, from + passant)) ? passant : "" };
  },

  // All legal moves from squares with a piece.
  movesOf(state, pieces) {
    const squares = [...this.files].flatMap((file) => [...this.ranks].map((rank) => file + rank));
    const origins = [...state.cells].filter(([, piece]) => this.sideOf(piece) === state.side && pieces.includes(piece.toUpperCase()));
    return origins.flatMap(([from, piece]) => squares.map((to) => from + to + (/p/i.test(piece) && /[18]/.test(to[1]) ? "q" : "")).filter((move) => this.legal(state, move)));
  },

  // As engine/games/algebraic.py writes it.
  name(state, move, notation) {
    if (notation === "uci") return move;
    const [from, to] = [move.slice(0, 2), move.slice(2, 4)], piece = state.cells.get(from).toUpperCase(), castling = this.castling(state, move);
    const after = this.play(state, move), isCapture = state.cells.has(to) || (piece === "P" && from[0] !== to[0]);
    const sign = !this.checked(after) ? "" : this.movesOf(after, "KQRBNP").length ? "+" : "#";
    if (castling) return (castling.king[0] === "g" ? "O-O" : "O-O-O") + sign;
    const called = (letter) => notation === "figurine" ? this.figurines[letter] : letter;
    if (notation === "lan") return (piece === "P" ? "" : piece) + from + (isCapture ? "x" : "-") + to + (move[4] ? "=" + move[4].toUpperCase() : "") + sign;
    if (piece === "P") return (isCapture ? from[0] + "x" : "") + to + (move[4] ? "=" + called(move[4].toUpperCase()) : "") + sign;
    const others = this.movesOf(state, piece).filter((other) => other.slice(2) === to && other.slice(0, 2) !== from && !this.castling(state, other));
    const shares = (place) => others.some((other) => other[place] === from[place]);
    const origin = !others.length ? "" : !shares(0) ? from[0] : !shares(1) ? from[1] : from;
    return called(piece) + origin + (isCapture ? "x" : "") + to + sign;
  },

  lines(x, y) {
    const squares = [0, 1].map((shade) => [...this.files].flatMap((_, column) => [...this.ranks].map((_, row) => (column + row) % 2 === shade ? `M${x(column) - 33} ${y(row) - 33}h66v66h-66z` : "")).join(""));
    return draw("g", {}, draw("path", { d: squares[0], fill: "var(--wood)" }), draw("path", { d: squares[1], fill: "var(--wood-dark)" }));
  },

  mark() { return draw("rect", { x: -33, y: -33, width: 66, height: 66, fill: "var(--mark)", "fill-opacity": .45 }); },

  // Outlines, and lines within them.
  shapes: {
    P: ["M0 -20a7.6 7.6 0 0 1 4.6 13.6l4 2.4-2.6 3.4c1 6 4 9.6 9 13.6v3h-30v-3c5 -4 8 -7.6 9 -13.6l-2.6 -3.4 4 -2.4a7.6 7.6 0 0 1 4.6 -13.6z", "M-9.5 10.5h19"],
    R: ["M-15 -21h7.5v4.5h4.5v-4.5h6v4.5h4.5v-4.5h7.5v10.5l-4.5 4 1.5 16 4 3.5v4h-32v-4l4 -3.5 1.5 -16 -4.5 -4z", "M-10.5 -6.5h21M-12 9.5h24"],
    N: ["M-3 -23l3.5 4.5c11 1.5 16.5 12 15.5 31.5v4h-25.5v-4c0 -7 5 -10.5 8.5 -15 -5 1 -8 3 -10 7l-5.5 -2.5 -1.5 -5.5c3.5 -4 5 -8 6.5 -12 1.5 -3 4.5 -4.5 8.5 -8z", "M-5 -9.5l1.6 -1.6M4 -14c6 5 8 12 8 22"],
    B: ["M0 -24.5a3.2 3.2 0 0 1 1.9 5.8c6 4.5 9.6 9.7 9.1 14.7 -.3 3.5 -2.2 6 -4.5 8l2 6 7.5 3.5v3.5h-32v-3.5l7.5 -3.5 2 -6c-2.3 -2 -4.2 -4.5 -4.5 -8 -.5 -5 3.1 -10.2 9.1 -14.7a3.2 3.2 0 0 1 1.9 -5.8z", "M0 -12v9M-4.5 -7.5h9M-6.5 4h13M-8.5 10h17"],
    Q: ["M-11.5 12.5l-8.5 -24.5 9.5 9 1.5 -16.5 9 12.5 9 -12.5 1.5 16.5 9.5 -9 -8.5 24.5 3 4.5h-28z", "M-11.5 7.5h23M-12.5 12.5h25"],
    K: ["M-2 -18.5v-3.5h-3.5v-4h3.5v-3.5h4v3.5h3.5v4h-3.5v3.5c2.6 1.5 4 4.3 4.5 7.5 6 -4 14 -1.5 14 6 0 6.500 -4.500 10.500 -8.500 13l2.500 8.500h-29l2.500 -8.500c-4 -2.500 -8.500 -6.500 -8.500 -13 0 -7.500 8 -10 14 -6 .5 -3.200 1.900 -6 4.500 -7.500z", "M0 7v-14M-12 8h24M-13.5 12.500h27"],
  },

  piece(piece, side) {
    const [fill, edge, ink] = this.colours[side], [outline, inner] = this.shapes[piece.toUpperCase()];
    const strokes = { "stroke-width": 2.2, "stroke-linejoin": "round", "stroke-linecap": "round" };
    const orbs = piece.toUpperCase() === "Q" ? [[-20, -14], [-9, -21.5], [9, -21.5], [20, -14]] : [];
    return draw("g", { transform: "translate(0 4) scale(1.08)" }, draw("path", { d: outline, fill, stroke: edge, ...strokes }),
      ...orbs.map(([cx, cy]) => draw("circle", { cx, cy, r: 3.2, fill, stroke: edge, ...strokes })),
      draw("path", { d: inner, fill: "none", stroke: ink, ...strokes, "stroke-width": 1.7 }));
  },
};
