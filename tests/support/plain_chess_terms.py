"""The terms of chess's evaluation counted by python-chess, square by square, from their definitions."""

from __future__ import annotations

from collections import Counter

import chess

MINORS = (chess.KNIGHT, chess.BISHOP)
MEN = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
PIECES = (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
NAMES = {chess.PAWN: "pawn", chess.KNIGHT: "knight", chess.BISHOP: "bishop", chess.ROOK: "rook", chess.QUEEN: "queen"}


def counted_terms(board: chess.Board) -> Counter[str]:
    """White's counts minus Black's, by term."""
    white, black = (_Side(board, side).terms() for side in (chess.WHITE, chess.BLACK))
    white.subtract(black)
    return white


class _Side:
    """One side of a position; ranks count from its own first, 1 to 8."""

    def __init__(self, board: chess.Board, side: chess.Color) -> None:
        self.board, self.side, self.other = board, side, not side
        self.up = 8 if side else -8
        self.own_pawns = set(board.pieces(chess.PAWN, side))
        self.their_pawns = set(board.pieces(chess.PAWN, not side))
        self.found: Counter[str] = Counter()
        self.attackers = {colour: self.counted_attackers(colour) for colour in chess.COLORS}

    def terms(self) -> Counter[str]:
        self.count_material()
        self.count_pawns()
        self.count_shelter()
        danger = self.count_pieces()
        self.count_danger(danger)
        self.count_checks()
        self.count_pins()
        self.count_threats()
        for pawn in self.passed():
            self.count_passed(pawn)
        return self.found

    def rank(self, square: int) -> int:
        rank = chess.square_rank(square)
        return rank + 1 if self.side else 8 - rank

    def ahead(self, square: int) -> set[int]:
        """Squares ahead on the file."""
        return {s for s in chess.SQUARES if s % 8 == square % 8 and self.rank(s) > self.rank(square)}

    def beside(self, square: int) -> set[int]:
        """The squares on the left and the right."""
        return {s for s in (square - 1, square + 1) if 0 <= s < 64 and s // 8 == square // 8}

    def attacked(self, side: chess.Color, kinds: tuple[int, ...], see_through: bool = False) -> set[int]:
        """Squares that a side's pieces of some types attack."""
        return {s for kind in kinds for piece in self.board.pieces(kind, side) for s in self.reach(piece, see_through)}

    def reach(self, square: int, see_through: bool = True) -> set[int]:
        """Squares that a piece attacks; bishops and rooks see through own queens, rooks also through own rooks."""
        piece = self.board.piece_at(square)
        assert piece is not None
        if not see_through or piece.piece_type not in (chess.BISHOP, chess.ROOK):
            return set(self.board.attacks(square))
        thinned = self.board.copy(stack=False)
        for kind in (chess.QUEEN, chess.ROOK) if piece.piece_type == chess.ROOK else (chess.QUEEN,):
            for other in self.board.pieces(kind, piece.color):
                if other != square:
                    thinned.remove_piece_at(other)
        return set(thinned.attacks(square))

    def attacked_by_all(self, side: chess.Color) -> set[int]:
        kinds = (chess.PAWN, *PIECES, chess.KING)
        return self.attacked(side, kinds, see_through=True)

    def counted_attackers(self, side: chess.Color) -> Counter[int]:
        """Number of a side's pieces that attack each square."""
        kinds = (*MEN, chess.KING)
        return Counter(s for kind in kinds for piece in self.board.pieces(kind, side) for s in self.reach(piece))

    def held(self, side: chess.Color) -> set[int]:
        """Squares that a side's pawn defends, or two of its pieces, unless the other side attacks them twice."""
        own, others = self.attackers[side], self.attackers[not side]
        return self.attacked(side, (chess.PAWN,)) | {s for s in own if own[s] > 1 and others[s] < 2}

    def never_attacked_by_pawns(self, square: int) -> bool:
        return not any(abs(p % 8 - square % 8) == 1 and self.rank(p) > self.rank(square) for p in self.their_pawns)

    def count_material(self) -> None:
        for number, kind in enumerate(MEN[1:], 1):
            own = len(self.board.pieces(kind, self.side))
            for other in MEN[:number]:
                self.found[f"{NAMES[kind]}_with_{NAMES[other]}"] += own * len(self.board.pieces(other, self.side))
                self.found[f"{NAMES[kind]}_against_{NAMES[other]}"] += own * len(self.board.pieces(other, self.other))
            self.found[f"{NAMES[kind]}_with_{NAMES[kind]}"] += own * (own - 1) // 2

    def passed(self) -> list[int]:
        free = []
        for pawn in self.own_pawns:
            files = {pawn % 8 - 1, pawn % 8, pawn % 8 + 1}
            stopped = any(p % 8 in files and self.rank(p) > self.rank(pawn) for p in self.their_pawns)
            if not stopped and not self.ahead(pawn) & self.own_pawns:
                free.append(pawn)
        return free

    def count_pawns(self) -> None:
        for pawn in self.own_pawns:
            neighbours = {p for p in self.own_pawns if abs(p % 8 - pawn % 8) == 1}
            is_open = not self.ahead(pawn) & (self.own_pawns | self.their_pawns)
            if not neighbours:
                self.found["isolated"] += 1
                self.found["isolated_open"] += is_open
            is_stopped = pawn + self.up in self.attacked(self.other, (chess.PAWN,))
            if neighbours and is_stopped and all(self.rank(p) > self.rank(pawn) for p in neighbours):
                self.found["backward"] += 1
                self.found["backward_open"] += is_open
            self.found["doubled"] += bool(self.ahead(pawn) & self.own_pawns)
            phalanx = bool(self.beside(pawn) & self.own_pawns)
            self.found["phalanx"] += phalanx
            if phalanx or pawn in self.attacked(self.side, (chess.PAWN,)):
                self.found[f"connected_{self.rank(pawn)}"] += 1
                self.found["connected_opposed"] += bool(self.ahead(pawn) & self.their_pawns)
            self.found["supported_twice"] += len(self.board.attackers(self.side, pawn) & self.board.pawns) == 2
            self.found["doubled_isolated"] += not neighbours and bool(self.ahead(pawn) & self.own_pawns)
            self.found["unopposed"] += is_open and pawn not in self.passed()
        for pawn in self.passed():
            self.found[f"passed_{self.rank(pawn)}"] += 1

    def king_of(self, side: chess.Color) -> int:
        king = self.board.king(side)
        assert king is not None
        return king

    def count_shelter(self) -> None:
        king = self.king_of(self.side)
        middle = min(max(king % 8, 1), 6)
        for file in (middle - 1, middle, middle + 1):
            word = "shelter_file" if file == king % 8 else "shelter"

            def of_file(pawns: set[int], file: int = file) -> list[int]:
                return sorted(self.rank(p) for p in pawns if p % 8 == file and self.rank(p) >= self.rank(king))

            ranks = of_file(self.own_pawns)
            self.found[f"{word}_{ranks[0] if ranks and ranks[0] <= 4 else 'none'}"] += 1
            mine = [p for p in self.own_pawns if p % 8 == file]
            enemies = [self.rank(p) for p in self.their_pawns if p % 8 == file]
            self.found["king_half_open_file"] += not mine
            self.found["king_open_file"] += not mine and not enemies
            self.found["storm_advance"] += max(0, 5 - min(enemies, default=8))
            theirs = of_file(self.their_pawns)
            if theirs and theirs[0] <= 5:
                is_blocked = theirs[0] - 1 in [self.rank(p) for p in self.own_pawns if p % 8 == file]
                self.found["storm_blocked" if is_blocked else f"storm_{theirs[0]}"] += 1

        distances = [chess.square_distance(king, pawn) for pawn in self.own_pawns]
        self.found["king_pawn_distance"] += min(distances, default=0)

    def zone(self) -> set[int]:
        """Nine squares around the enemy's king."""
        king = self.king_of(self.other)
        file, rank = min(max(king % 8, 1), 6), min(max(king // 8, 1), 6)
        return {8 * (rank + up) + file + across for up in (-1, 0, 1) for across in (-1, 0, 1)}

    def is_dark(self, square: int) -> bool:
        return bool(chess.BB_SQUARES[square] & chess.BB_DARK_SQUARES)

    def count_pieces(self) -> int:
        found, board = self.found, self.board
        zone, danger = self.zone(), 0
        free = set(chess.SQUARES) - self.own_pawns - {self.king_of(self.side)}
        free -= self.attacked(self.other, (chess.PAWN,))
        guarded = self.attacked(self.side, (chess.PAWN,))
        for kind, weight in zip(PIECES, (3, 3, 4, 5), strict=True):
            for piece in board.pieces(kind, self.side):
                reach = self.reach(piece)
                found[f"{NAMES[kind]}_mobility_{len(reach & free)}"] += 1
                danger += weight if reach & zone else 0
                if kind in MINORS:
                    if 4 <= self.rank(piece) <= 6 and self.never_attacked_by_pawns(piece):
                        found[f"{NAMES[kind]}_outpost" if piece in guarded else "minor_in_hole"] += 1
                    distance = chess.square_distance(self.king_of(self.side), piece)
                    found[f"{NAMES[kind]}_king_distance"] += distance
                    found["minor_behind_pawn"] += piece + self.up in self.own_pawns
        bishops = board.pieces(chess.BISHOP, self.side)
        rooks = board.pieces(chess.ROOK, self.side)
        is_pair = len({self.is_dark(bishop) for bishop in bishops}) == 2
        found["bishop_pair"] += is_pair
        found["bishop_pair_pawns"] += is_pair * len(self.own_pawns | self.their_pawns)
        own = {s for s in chess.SQUARES if board.color_at(s) == self.side}
        for square in self.attacked(self.side, (chess.KNIGHT,)) & guarded - own:
            found["outpost_in_reach"] += 4 <= self.rank(square) <= 6 and self.never_attacked_by_pawns(square)
        found["blocked_pawns"] += sum(board.piece_at(pawn + self.up) is not None for pawn in self.own_pawns)
        for bishop in bishops:
            only_pawns = board.copy(stack=False)
            for square in set(board.piece_map()) - self.own_pawns - self.their_pawns - {bishop}:
                only_pawns.remove_piece_at(square)
            centre = {chess.D4, chess.E4, chess.D5, chess.E5}
            found["long_diagonal"] += len(set(only_pawns.attacks(bishop)) & centre) > 1
            found["bishop_pawns"] += sum(self.is_dark(pawn) == self.is_dark(bishop) for pawn in self.own_pawns)
        for rook in rooks:
            if not any(pawn % 8 == rook % 8 for pawn in self.own_pawns):
                is_open = not any(pawn % 8 == rook % 8 for pawn in self.their_pawns)
                found["rook_open_file" if is_open else "rook_half_open_file"] += 1
            elif len(self.reach(rook) & free) <= 3:
                file = self.king_of(self.side) % 8
                found["trapped_rook"] += rook % 8 < file if file < 4 else rook % 8 > file
        return danger

    def count_danger(self, danger: int) -> None:
        king, zone = self.king_of(self.other), self.zone()
        every = self.attacked(self.side, (chess.PAWN, *PIECES), see_through=True)
        firmly = self.attacked(self.other, (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK), see_through=True)
        danger += len(zone & every) + 2 * len((zone & every) - firmly)
        safe = set(chess.SQUARES) - self.attacked_by_all(self.other)
        safe -= {s for s in chess.SQUARES if self.board.color_at(s) == self.side}
        for kind, weight in zip(PIECES, (6, 3, 7, 5), strict=True):
            checking = self.board.copy(stack=False)
            checking.set_piece_at(king, chess.Piece(kind, self.other))
            reach = self.attacked(self.side, (kind,), see_through=True)
            danger += weight if set(checking.attacks(king)) & reach & safe else 0
        danger -= 0 if self.board.pieces(chess.QUEEN, self.side) else 8
        index = min(danger // 2, 23)
        if index > 0:
            self.found[f"danger_{index}"] += 1

    def count_checks(self) -> None:
        board, found, king, zone = self.board, self.found, self.king_of(self.other), self.zone()
        mine, theirs = self.attackers[self.side], self.attackers[self.other]
        every = self.attacked(self.side, (chess.PAWN, *PIECES), see_through=True)
        firmly = self.attacked(self.other, (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK), see_through=True)
        unsafe = set()
        for kind in PIECES:
            checking = board.copy(stack=False)
            checking.set_piece_at(king, chess.Piece(kind, self.other))
            for square in set(checking.attacks(king)) & self.attacked(self.side, (kind,), see_through=True):
                loosely = square in every and square not in firmly and mine[square] > 1 and theirs[square] < 2
                if board.color_at(square) == self.side:
                    continue
                if not theirs[square] or loosely:
                    found[f"safe_check_{NAMES[kind]}"] += 1
                else:
                    unsafe.add(square)
        found["unsafe_check"] += len(unsafe)
        found["zone_twice"] += sum(mine[s] > 1 for s in zone)
        found["zone_twice_loose"] += sum(mine[s] > 1 and theirs[s] < 2 for s in zone)
        files = ("abc", "abcd", "abcd", "cdef", "cdef", "efgh", "efgh", "fgh")[king % 8]
        found["flank_defended"] += sum(
            chess.FILE_NAMES[s % 8] in files and self.rank(s) >= 4 and theirs[s] > 0 for s in chess.SQUARES
        )

    def count_pins(self) -> None:
        king = self.king_of(self.other)
        for kind in (chess.BISHOP, chess.ROOK, chess.QUEEN):
            for slider in self.board.pieces(kind, self.side):
                straight = slider % 8 == king % 8 or slider // 8 == king // 8
                between = chess.SquareSet(chess.between(slider, king))
                diagonal = abs(slider % 8 - king % 8) == abs(slider // 8 - king // 8)
                blockers = [s for s in between if self.board.piece_at(s)]
                sees = (kind != chess.BISHOP and straight) or (kind != chess.ROOK and diagonal)
                if len(blockers) != 1 or not sees:
                    continue
                self.found["king_blocker"] += 1
                blocker = self.board.piece_at(blockers[0])
                assert blocker is not None
                if blocker.color == self.other:
                    self.found["pinned_minor"] += blocker.piece_type in MINORS
                    self.found["pinned_rook"] += blocker.piece_type == chess.ROOK

    def count_threats(self) -> None:
        board, found = self.board, self.found
        squares = {kind: set(board.pieces(kind, self.other)) for kind in PIECES}
        minors = squares[chess.KNIGHT] | squares[chess.BISHOP]
        by = {kind: self.attacked(self.side, (kind,), see_through=True) for kind in (chess.PAWN, *PIECES, chess.KING)}
        guarded_by_pawns = self.attacked(self.other, (chess.PAWN,))
        guarded = self.attacked_by_all(self.other)
        found["pawn_on_minor"] += len(by[chess.PAWN] & minors)
        found["pawn_on_rook"] += len(by[chess.PAWN] & squares[chess.ROOK])
        found["pawn_on_queen"] += len(by[chess.PAWN] & squares[chess.QUEEN])
        found["minor_on_minor"] += len(by[chess.KNIGHT] & squares[chess.BISHOP])
        found["minor_on_minor"] += len(by[chess.BISHOP] & squares[chess.KNIGHT])
        by_minors = by[chess.KNIGHT] | by[chess.BISHOP]
        found["minor_on_rook"] += len(by_minors & squares[chess.ROOK])
        found["minor_on_queen"] += len(by_minors & squares[chess.QUEEN])
        found["rook_on_minor"] += len((by[chess.ROOK] & minors) - guarded_by_pawns)
        found["rook_on_queen"] += len(by[chess.ROOK] & squares[chess.QUEEN])
        loose = {s for s in chess.SQUARES if board.color_at(s) == self.other} - guarded - {self.king_of(self.other)}
        found["king_on_loose"] += len(by[chess.KING] & loose)
        mine = set().union(*by.values())
        found["hanging"] += len(mine & loose)
        attackers = self.attackers[self.side]
        weak = mine - self.held(self.other)
        found["minor_on_pawn"] += len(by_minors & self.their_pawns & weak)
        found["rook_on_pawn"] += len(by[chess.ROOK] & self.their_pawns & weak)
        pieces = set().union(*squares.values())
        found["hanging_twice"] += sum(attackers[s] > 1 for s in pieces & weak & guarded)
        found["restricted"] += len(guarded & weak)
        if len(squares[chess.QUEEN]) == 1:
            (queen,) = squares[chess.QUEEN]
            for kind in (chess.BISHOP, chess.ROOK):
                sliding = board.copy(stack=False)
                sliding.set_piece_at(queen, chess.Piece(kind, self.other))
                for square in set(sliding.attacks(queen)) & by[kind] - self.held(self.other):
                    found["slider_on_queen"] += attackers[square] > 1 and board.color_at(square) != self.side
        steps = set()
        for pawn in self.own_pawns:
            if board.piece_at(pawn + self.up) is None:
                steps.add(pawn + self.up)
                if self.rank(pawn) == 2 and board.piece_at(pawn + 2 * self.up) is None:
                    steps.add(pawn + 2 * self.up)
        steps = {s for s in steps if s not in guarded_by_pawns and (s in mine or s not in guarded)}
        pushed = {s for step in steps for s in self.beside(step + self.up)}
        found["pawn_push"] += len(pushed & (minors | squares[chess.ROOK] | squares[chess.QUEEN]))
        centre = {s for s in chess.SQUARES if 2 <= s % 8 <= 5 and 2 <= self.rank(s) <= 4}
        found["space"] += len(centre - self.own_pawns - guarded_by_pawns)

    def count_passed(self, pawn: int) -> None:
        rank, board, found = self.rank(pawn), self.board, self.found
        if rank < 4:
            return
        found[f"passed_free_{rank}"] += board.piece_at(pawn + self.up) is None
        found[f"passed_safe_{rank}"] += not self.ahead(pawn) & self.attacked_by_all(self.other)
        theirs = {s for s in chess.SQUARES if board.color_at(s) == self.other}
        clear = not self.ahead(pawn) & (self.attacked_by_all(self.other) | theirs)
        found["passed_clear"] += (rank - 3) * clear
        found["passed_defended"] += (rank - 3) * len(self.ahead(pawn) & self.attacked_by_all(self.side))
        for side, word in ((self.side, "passed_own_king"), (self.other, "passed_enemy_king")):
            found[word] += (rank - 3) * chess.square_distance(self.king_of(side), pawn + self.up)
        behind = [s for s in chess.SQUARES if s % 8 == pawn % 8 and self.rank(s) < rank]
        for square in sorted(behind, key=self.rank, reverse=True):
            piece = board.piece_at(square)
            if piece is not None:
                if piece.piece_type == chess.ROOK:
                    found["passed_rook_behind" if piece.color == self.side else "passed_enemy_rook_behind"] += 1
                break
