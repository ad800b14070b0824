// How pages draw Othello; arena/reports/assets/boards.js explains the entry.

BOARDS.othello = {
  // Fine near zero, up to all discs; black and white on the board's green.
  chart: {
    ticks: [64, 32, 16, 8, 0, -8, -16, -32, -64], height: (discs) => Math.asinh(discs / 8) / Math.asinh(8),
    lines: ["var(--black-disc)", "var(--white-disc)"], ground: "var(--felt)", grid: "var(--felt-line)", axis: "var(--felt-label)", cursor: "var(--felt-mark)",
  },
  files: "abcdefgh", ranks: "12345678", step: 66, margin: 63, ground: "var(--felt)", labels: { fill: "var(--felt-label)", x: 15, y: 21 },
  colours: [["var(--black-disc)", "#000"], ["var(--white-disc)", "#b9b4a4"]], edges: ["var(--felt)", "var(--felt)"],
  notations: [], marksOnTop: true,

  parse(text) {
    const [board, side] = text.split(/\s+/), cells = new Map();
    [...board].forEach((disc, index) => { if (disc !== "-") cells.set(this.files[index % 8] + this.ranks[Math.floor(index / 8)], disc); });
    return { cells, side: side === "O" ? 1 : 0, marks: [] };
  },

  sideOf(disc) { return "XO".indexOf(disc); },

  // The squares of the discs that a move turns.
  turned({ cells, side }, square) {
    const found = [], own = "XO"[side];
    for (const [across, down] of [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]]) {
      const line = [];
      for (let file = this.files.indexOf(square[0]) + across, rank = Number(square[1]) + down; ; file += across, rank += down) {
        const place = `${this.files[file]}${rank}`, disc = cells.get(place);
        if (disc === own) found.push(...line);
        if (disc === undefined || disc === own) break;
        line.push(place);
      }
    }
    return found;
  },

  legal(state, move) {
    const isLegal = (square) => !state.cells.has(square) && this.turned(state, square).length > 0;
    if (move === "pass") return ![...this.files].some((file) => [...this.ranks].some((rank) => isLegal(file + rank)));
    return /^[a-h][1-8]$/.test(move) && isLegal(move);
  },

  play(state, move) {
    const cells = new Map(state.cells), marks = move === "pass" ? [] : [move];
    for (const square of marks.flatMap((at) => [at, ...this.turned(state, at)])) cells.set(square, "XO"[state.side]);
    return { cells, side: 1 - state.side, marks };
  },

  text({ cells, side }) {
    return [...this.ranks].flatMap((rank) => [...this.files].map((file) => cells.get(file + rank) || "-")).join("") + " " + "XO"[side];
  },

  lines() {
    const lines = Array.from({ length: 9 }, (_, line) => { const at = 30 + 66 * line; return `M${at} 30V558M30 ${at}H558`; });
    return draw("path", { d: lines.join(""), stroke: "var(--felt-line)", "stroke-width": 1.4 });
  },

  mark() { return draw("circle", { r: 7, fill: "var(--felt-mark)", stroke: "var(--felt-line)", "stroke-width": 1.5 }); },

  piece(disc, side) { const [fill, stroke] = this.colours[side]; return draw("circle", { r: 27, fill, stroke, "stroke-width": 1.5 }); },
};
