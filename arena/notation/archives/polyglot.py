"""Chess opening books in Polyglot format (``.bin``), read as games: one game per line of the book.

A book is a list of entries of 16 bytes, big-endian, sorted by key: the key of a position, a move, the move's weight,
and 4 bytes for learning. The key is the exclusive or of constants for the pieces, the castling rights, the file of a
possible en passant capture, and White to move. Moves of weight 0 are skipped. The moves of a position are read in the
order of their weights, the greatest first. A position that several lines reach is continued only once.

Source: M. Van den Bergh, "PolyGlot book format", <http://hgm.nubati.net/book_format.html>, which lists the constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.arena.notation.archives.archive import ArchiveFile, ArchiveFormat, Entry, Reading
from elolab.arena.notation.pgn import PortableGame, PortableGameError, PortableMove

if TYPE_CHECKING:
    from elolab.engine.games.contract import Position

_ENTRY = np.dtype([("key", ">u8"), ("move", ">u2"), ("weight", ">u2"), ("learn", ">u4")])
_LEAST_ENTRIES = 2
"""Minimum number of entries of a book; with fewer entries, too many other files would look like books."""
_CASTLING, _EN_PASSANT, _WHITE = 768, 772, 780
"""Indices in ``_KEYS`` of the constants for castling rights, files of en passant captures, and White to move."""
_PAWN, _EMPTY, _CASTLES = 0, 6, 5


def recognises(data: bytes) -> bool:
    """Whether the content is a book, even a truncated one."""
    entries = np.frombuffer(data, _ENTRY, len(data) // _ENTRY.itemsize)
    if len(entries) < _LEAST_ENTRIES or b"\0" not in data[: 1 << 16]:
        return False
    keys = entries["key"]
    return bool((keys[1:] >= keys[:-1]).all() and keys[0] < keys[-1] and _are_moves(entries["move"].astype(np.int64)))


def _are_moves(codes: Any) -> bool:
    """Whether all codes can be moves: steps of a queen or a knight and, for a promotion, of a pawn."""
    promotions, origins, targets = codes >> 12, codes >> 6 & 63, codes & 63
    ranks, files = abs((targets >> 3) - (origins >> 3)), abs((targets & 7) - (origins & 7))
    reached = (ranks == 0) | (files == 0) | (ranks == files) | (ranks * files == 2)
    up, down = (origins >> 3 == 6) & (targets >> 3 == 7), (origins >> 3 == 1) & (targets >> 3 == 0)
    promoted = (promotions == 0) | (promotions <= 4) & (up | down) & (files <= 1)
    return bool((reached & (origins != targets) & promoted).all())


def read(source: ArchiveFile, reading: Reading) -> Iterator[Entry]:
    """Yield one game for each line of the book, up to the end of the line or ``reading.plies`` plies."""
    surplus = len(source.data) % _ENTRY.itemsize
    if surplus:
        raise PortableGameError(
            f"{source.where}: truncated: its last entry has {surplus} of {_ENTRY.itemsize} bytes", "get the whole book"
        )
    book = np.frombuffer(source.data, _ENTRY)
    start = reading.game.position()
    lines, seen = [(start, -1)], {key_of(start)}
    if not _moves(book, start, -1):
        raise PortableGameError(f"{source.where}: the book has no move for the start position of {reading.game.title}")
    ply = 0
    while lines and ply != reading.plies:
        longer = []
        for position, last in lines:
            moves = _moves(book, position, last)
            if not moves:
                yield _game(position)
            for code in moves:
                child = position.copy()
                child.push(reading.game.format_move(code))
                key = key_of(child, code)
                if key not in seen:
                    seen.add(key)
                    longer.append((child, code))
        lines, ply = longer, ply + 1
    yield from (_game(position) for position, _ in lines)


def _game(position: Position) -> PortableGame:
    return PortableGame((), position.start, tuple(map(PortableMove, position.moves)), end=position)


def _moves(book: Any, position: Position, last: int) -> list[int]:
    """The book's legal moves in a position as elolab's move codes, by descending weight.

    ``last`` is the code of the previous move, -1 if there is none.
    """
    key = np.uint64(key_of(position, last))
    first, end = np.searchsorted(book["key"], [key, key + np.uint64(1)])
    entries = sorted(book[first:end].tolist(), key=lambda entry: -entry[2])
    legal = {_packed(code): code for code in position.move_codes()}
    return [legal[move] for _, move, weight, _ in entries if weight and move in legal]


def _packed(code: int) -> int:
    """Convert elolab's move code to Polyglot's, in which castling is a move of the king to its own rook."""
    kind = code >> 14
    return code >> 7 & 63 | (code & 63) << 6 | (0 if kind == _CASTLES else kind) << 12


def key_of(position: Position, last: int = -1) -> int:
    """Polyglot key of a position.

    ``last`` is the code of the move that led to the position, which may allow an en passant capture; -1 if unknown.
    """
    state = position.state
    side, board = int(state.side), state.board.tolist()
    key = _KEYS[_WHITE] if side == 0 else 0
    for square, piece in enumerate(board):
        if piece != _EMPTY:
            key ^= _KEYS[128 * (piece & 7) + 64 * (piece < 8) + square]
    for right in range(4):
        if int(state.castling) >> right & 1:
            key ^= _KEYS[_CASTLING + right]
    passing = int(state.en_passant)  # 64 for none
    file = _en_passant_file(board, side, last) if last >= 0 else 8 if passing == 64 else passing & 7
    return key ^ _KEYS[_EN_PASSANT + file] if file < 8 else key


def _en_passant_file(board: list[int], side: int, last: int) -> int:
    """File of the pawn that has just advanced two squares to stand beside a pawn of ``side``; 8 if there is none.

    ``last`` is as for ``key_of``.
    """
    origin, target = last & 127, last >> 7 & 127
    if last >> 14 == 0 and board[target] & 7 == _PAWN and abs(target - origin) == 16:
        pawn = _PAWN + 8 * side
        if any(board[target + step] == pawn for step in (-1, 1) if 0 <= (target & 7) + step < 8):
            return target & 7
    return 8


FORMAT = ArchiveFormat("Polyglot", "chess", recognises, read)

_NUMBERS = """
9d39247e33776d41 2af7398005aaa5c7 44db015024623547 9c15f73e62a76ae2 75834465489c0c89 3290ac3a203001bf 0fbbad1f61042279
e83a908ff2fb60ca 0d7e765d58755c10 1a083822ceafe02d 9605d5f0e25ec3b0 d021ff5cd13a2ed5 40bdf15d4a672e32 011355146fd56395
5db4832046f3d9e5 239f8b2d7ff719cc 05d1a1ae85b49aa1 679f848f6e8fc971 7449bbff801fed0b 7d11cdb1c3b7adf0 82c7709e781eb7cc
f3218f1c9510786c 331478f3af51bbe6 4bb38de5e7219443 aa649c6ebcfd50fc 8dbd98a352afd40b 87d2074b81d79217 19f3c751d3e92ae1
b4ab30f062b19abf 7b0500ac42047ac4 c9452ca81a09d85d 24aa6c514da27500 4c9f34427501b447 14a68fd73c910841 a71b9b83461cbd93
03488b95b0f1850f 637b2b34ff93c040 09d1bc9a3dd90a94 3575668334a1dd3b 735e2b97a4c45a23 18727070f1bd400b 1fcbacd259bf02e7
d310a7c2ce9b6555 bf983fe0fe5d8244 9f74d14f7454a824 51ebdc4ab9ba3035 5c82c505db9ab0fa fcf7fe8a3430b241 3253a729b9ba3dde
8c74c368081b3075 b9bc6c87167c33e7 7ef48f2b83024e20 11d505d4c351bd7f 6568fca92c76a243 4de0b0f40f32a7b8 96d693460cc37e5d
42e240cb63689f2f 6d2bdcdae2919661 42880b0236e4d951 5f0f4a5898171bb6 39f890f579f92f88 93c5b5f47356388b 63dc359d8d231b78
ec16ca8aea98ad76 5355f900c2a82dc7 07fb9f855a997142 5093417aa8a7ed5e 7bcbc38da25a7f3c 19fc8a768cf4b6d4 637a7780decfc0d9
8249a47aee0e41f7 79ad695501e7d1e8 14acbaf4777d5776 f145b6beccdea195 dabf2ac8201752fc 24c3c94df9c8d3f6 bb6e2924f03912ea
0ce26c0b95c980d9 a49cd132bfbf7cc4 e99d662af4243939 27e6ad7891165c3f 8535f040b9744ff1 54b3f4fa5f40d873 72b12c32127fed2b
ee954d3c7b411f47 9a85ac909a24eaa1 70ac4cd9f04f21f5 f9b89d3e99a075c2 87b3e2b2b5c907b1 a366e5b8c54f48b8 ae4a9346cc3f7cf2
1920c04d47267bbd 87bf02c6b49e2ae9 092237ac237f3859 ff07f64ef8ed14d0 8de8dca9f03cc54e 9c1633264db49c89 b3f22c3d0b0b38ed
390e5fb44d01144b 5bfea5b4712768e9 1e1032911fa78984 9a74acb964e78cb3 4f80f7a035dafb04 6304d09a0b3738c4 2171e64683023a08
5b9b63eb9ceff80c 506aacf489889342 1881afc9a3a701d6 6503080440750644 dfd395339cdbf4a7 ef927dbcf00c20f2 7b32f7d1e03680ec
b9fd7620e7316243 05a7e8a57db91b77 b5889c6e15630a75 4a750a09ce9573f7 cf464cec899a2f8a f538639ce705b824 3c79a0ff5580ef7f
ede6c87f8477609d 799e81f05bc93f31 86536b8cf3428a8c 97d7374c60087b73 a246637cff328532 043fcae60cc0eba0 920e449535dd359e
70eb093b15b290cc 73a1921916591cbd 56436c9fe1a1aa8d efac4b70633b8f81 bb215798d45df7af 45f20042f24f1768 930f80f4e8eb7462
ff6712ffcfd75ea1 ae623fd67468aa70 dd2c5bc84bc8d8fc 7eed120d54cf2dd9 22fe545401165f1c c91800e98fb99929 808bd68e6ac10365
dec468145b7605f6 1bede3a3aef53302 43539603d6c55602 aa969b5c691ccb7a a87832d392efee56 65942c7b3c7e11ae ded2d633cad004f6
21f08570f420e565 b415938d7da94e3c 91b859e59ecb6350 10cff333e0ed804a 28aed140be0bb7dd c5cc1d89724fa456 5648f680f11a2741
2d255069f0b7dab3 9bc5a38ef729abd4 ef2f054308f6a2bc af2042f5cc5c2858 480412bab7f5be2a aef3af4a563dfe43 19afe59ae451497f
52593803dff1e840 f4f076e65f2ce6f0 11379625747d5af3 bce5d2248682c115 9da4243de836994f 066f70b33fe09017 4dc4de189b671a1c
51039ab7712457c3 c07a3f80c31fb4b4 b46ee9c5e64a6e7c b3819a42abe61c87 21a007933a522a20 2df16f761598aa4f 763c4a1371b368fd
f793c46702e086a0 d7288e012aeb8d31 de336a2a4bc1c44b 0bf692b38d079f23 2c604a7a177326b3 4850e73e03eb6064 cfc447f1e53c8e1b
b05ca3f564268d99 9ae182c8bc9474e8 a4fc4bd4fc5558ca e755178d58fc4e76 69b97db1a4c03dfe f9b5b7c4acc67c96 fc6a82d64b8655fb
9c684cb6c4d24417 8ec97d2917456ed0 6703df9d2924e97e c547f57e42a7444e 78e37644e7cad29e fe9a44e9362f05fa 08bd35cc38336615
9315e5eb3a129ace 94061b871e04df75 df1d9f9d784ba010 3bba57b68871b59d d2b7adeeded1f73f f7a255d83bc373f8 d7f4f2448c0ceb81
d95be88cd210ffa7 336f52f8ff4728e7 a74049dac312ac71 a2f61bb6e437fdb5 4f2a5cb07f6a35b3 87d380bda5bf7859 16b9f7e06c453a21
7ba2484c8a0fd54e f3a678cad9a2e38c 39b0bf7dde437ba2 fcaf55c1bf8a4424 18fcf680573fa594 4c0563b89f495ac3 40e087931a00930d
8cffa9412eb642c1 68ca39053261169f 7a1ee967d27579e2 9d1d60e5076f5b6f 3810e399b6f65ba2 32095b6d4ab5f9b1 35cab62109dd038a
a90b24499fcfafb1 77a225a07cc2c6bd 513e5e634c70e331 4361c0ca3f692f12 d941aca44b20a45b 528f7c8602c5807b 52ab92beb9613989
9d1dfa2efc557f73 722ff175f572c348 1d1260a51107fe97 7a249a57ec0c9ba2 04208fe9e8f7f2d6 5a110c6058b920a0 0cd9a497658a5698
56fd23c8f9715a4c 284c847b9d887aae 04feabfbbdb619cb 742e1e651c60ba83 9a9632e65904ad3c 881b82a13b51b9e2 506e6744cd974924
b0183db56ffc6a79 0ed9b915c66ed37e 5e11e86d5873d484 f678647e3519ac6e 1b85d488d0f20cc5 dab9fe6525d89021 0d151d86adb73615
a865a54edcc0f019 93c42566aef98ffb 99e7afeabe000731 48cbff086ddf285a 7f9b6af1ebf78baf 58627e1a149bba21 2cd16e2abd791e33
d363eff5f0977996 0ce2a38c344a6eed 1a804aadb9cfa741 907f30421d78c5de 501f65edb3034d07 37624ae5a48fa6e9 957baf61700cff4e
3a6c27934e31188a d49503536abca345 088e049589c432e0 f943aee7febf21b8 6c3b8e3e336139d3 364f6ffa464ee52e d60f6dcedc314222
56963b0dca418fc0 16f50edf91e513af ef1955914b609f93 565601c0364e3228 ecb53939887e8175 bac7a9a18531294b b344c470397bba52
65d34954daf3cebd b4b81b3fa97511e2 b422061193d6f6a7 071582401c38434d 7a13f18bbedc4ff5 bc4097b116c524d2 59b97885e2f2ea28
99170a5dc3115544 6f423357e7c6a9f9 325928ee6e6f8794 d0e4366228b03343 565c31f7de89ea27 30f5611484119414 d873db391292ed4f
7bd94e1d8e17debc c7d9f16864a76e94 947ae053ee56e63c c8c93882f9475f5f 3a9bf55ba91f81ca d9a11fbb3d9808e4 0fd22063edc29fca
b3f256d8aca0b0b9 b03031a8b4516e84 35dd37d5871448af e9f6082b05542e4e ebfafa33d7254b59 9255abb50d532280 b9ab4ce57f2d34f3
693501d628297551 c62c58f97dd949bf cd454f8f19c5126a bbe83f4ecc2bdecb dc842b7e2819e230 ba89142e007503b8 a3bc941d0a5061cb
e9f6760e32cd8021 09c7e552bc76492f 852f54934da55cc9 8107fccf064fcf56 098954d51fff6580 23b70edb1955c4bf c330de426430f69d
4715ed43e8a45c0a a8d7e4dab780a08d 0572b974f03ce0bb b57d2e985e1419c7 e8d9ecbe2cf3d73f 2fe4b17170e59750 11317ba87905e790
7fbf21ec8a1f45ec 1725cabfcb045b00 964e915cd5e2b207 3e2b8bcbf016d66d be7444e39328a0ac f85b2b4fbcde44b7 49353fea39ba63b1
1dd01aafcd53486a 1fca8a92fd719f85 fc7c95d827357afa 18a6a990c8b35ebd cccb7005c6b9c28d 3bdbb92c43b17f26 aa70b5b4f89695a2
e94c39a54a98307f b7a0b174cff6f36e d4dba84729af48ad 2e18bc1ad9704a68 2de0966daf2f8b1c b9c11d5b1e43a07e 64972d68dee33360
94628d38d0c20584 dbc0d2b6ab90a559 d2733c4335c6a72f 7e75d99d94a70f4d 6ced1983376fa72b 97fcaacbf030bc24 7b77497b32503b12
8547eddfb81ccb94 79999cdff70902cb cffe1939438e9b24 829626e3892d95d7 92fae24291f2b3f1 63e22c147b9c3403 c678b6d860284a1c
5873888850659ae7 0981dcd296a8736d 9f65789a6509a440 9ff38fed72e9052f e479ee5b9930578c e7f28ecd2d49eecd 56c074a581ea17fe
5544f7d774b14aef 7b3f0195fc6f290f 12153635b2c0cf57 7f5126dbba5e0ca7 7a76956c3eafb413 3d5774a11d31ab39 8a1b083821f40cb4
7b4a38e32537df62 950113646d1d6e03 4da8979a0041e8a9 3bc36e078f7515d7 5d0a12f27ad310d1 7f9d1a2e1ebe1327 da3a361b1c5157b1
dcdd7d20903d0c25 36833336d068f707 ce68341f79893389 ab9090168dd05f34 43954b3252dc25e5 b438c2b67f98e5e9 10dcd78e3851a492
dbc27ab5447822bf 9b3cdb65f82ca382 b67b7896167b4c84 bfced1b0048eac50 a9119b60369ffebd 1fff7ac80904bf45 ac12fb171817eee7
af08da9177dda93d 1b0cab936e65c744 b559eb1d04e5e932 c37b45b3f8d6f2ba c3a9dc228caac9e9 f3b8b6675a6507ff 9fc477de4ed681da
67378d8eccef96cb 6dd856d94d259236 a319ce15b0b4db31 073973751f12dd5e 8a8e849eb32781a5 e1925c71285279f5 74c04bf1790c0efe
4dda48153c94938a 9d266d6a1cc0542c 7440fb816508c4fe 13328503df48229f d6bf7baee43cac40 4838d65f6ef6748f 1e152328f3318dea
8f8419a348f296bf 72c8834a5957b511 d7a023a73260b45c 94ebc8abcfb56dae 9fc10d0f989993e0 de68a2355b93cae6 a44cfe79ae538bbe
9d1d84fcce371425 51d2b1ab2ddfb636 2fd7e4b9e72cd38c 65ca5b96b7552210 dd69a0d8ab3b546d 604d51b25fbf70e2 73aa8a564fb7ac9e
1a8c1e992b941148 aac40a2703d9bea0 764dbeae7fa4f3a6 1e99b96e70a9be8b 2c5e9deb57ef4743 3a938fee32d29981 26e6db8ffdf5adfe
469356c504ec9f9d c8763c5b08d1908c 3f6c6af859d80055 7f7cc39420a3a545 9bfb227ebdf4c5ce 89039d79d6fc5c5c 8fe88b57305e2ab6
a09e8c8c35ab96de fa7e393983325753 d6b6d0ecc617c699 dfea21ea9e7557e3 b67c1fa481680af8 ca1e3785a9e724e5 1cfc8bed0d681639
d18d8549d140caea 4ed0fe7e9dc91335 e4dbf0634473f5d2 1761f93a44d5aefe 53898e4c3910da55 734de8181f6ec39a 2680b122baa28d97
298af231c85bafab 7983eed3740847d5 66c1a2a1a60cd889 9e17e49642a3e4c1 edb454e7badc0805 50b704cab602c329 4cc317fb9cddd023
66b4835d9eafea22 219b97e26ffc81bd 261e4e4c0a333a9d 1fe2cca76517db90 d7504dfa8816edbb b9571fa04dc089c8 1ddc0325259b27de
cf3f4688801eb9aa f4f5d05c10cab243 38b6525c21a42b0e 36f60e2ba4fa6800 eb3593803173e0ce 9c4cd6257c5a3603 af0c317d32adaa8a
258e5a80c7204c4b 8b889d624d44885d f4d14597e660f855 d4347f66ec8941c3 e699ed85b0dfb40d 2472f6207c2d0484 c2a1e7b5b459aeb5
ab4f6451cc1d45ec 63767572ae3d6174 a59e0bd101731a28 116d0016cb948f09 2cf9c8ca052f6e9f 0b090a7560a968e3 abeeddb2dde06ff1
58efc10b06a2068d c6e57a78fbd986e0 2eab8ca63ce802d7 14a195640116f336 7c0828dd624ec390 d74bbe77e6116ac7 804456af10f5fb53
ebe9ea2adf4321c7 03219a39ee587a30 49787fef17af9924 a1e9300cd8520548 5b45e522e4b1b4ef b49c3b3995091a36 d4490ad526f14431
12a8f216af9418c2 001f837cc7350524 1877b51e57a764d5 a2853b80f17f58ee 993e1de72d36d310 b3598080ce64a656 252f59cf0d9f04bb
d23c8e176d113600 1bda0492e7e4586e 21e0bd5026c619bf 3b097adaf088f94e 8d14dedb30be846e f95cffa23af5f6f4 3871700761b3f743
ca672b91e9e4fa16 64c8e531bff53b55 241260ed4ad1e87d 106c09b972d2e822 7fba195410e5ca30 7884d9bc6cb569d8 0647dfedcd894a29
63573ff03e224774 4fc8e9560f91b123 1db956e450275779 b8d91274b9e9d4fb a2ebee47e2fbfce1 d9f1f30ccd97fb09 efed53d75fd64e6b
2e6d02c36017f67f a9aa4d20db084e9b b64be8d8b25396c1 70cb6af7c2d5bcf0 98f076a4f7a2322e bf84470805e69b5f 94c3251f06f90cf3
3e003e616a6591e9 b925a6cd0421aff3 61bdd1307c66e300 bf8d5108e27e0d48 240ab57a8b888b20 fc87614baf287e07 ef02cdd06ffdb432
a1082c0466df6c0a 8215e577001332c8 d39bb9c3a48db6cf 2738259634305c14 61cf4f94c97df93d 1b6baca2ae4e125b 758f450c88572e0b
959f587d507a8359 b063e962e045f54d 60e8ed72c0dff5d1 7b64978555326f9f fd080d236da814ba 8c90fd9b083f4558 106f72fe81e2c590
7976033a39f7d952 a4ec0132764ca04b 733ea705fae4fa77 b4d8f77bc3e56167 9e21f4f903b33fd9 9d765e419fb69f6d d30c088ba61ea5ef
5d94337fbfaf7f5b 1a4e4822eb4d7a59 6ffe73e81b637fb3 ddf957bc36d8b9ca 64d0e29eea8838b3 08dd9bdfd96b9f63 087e79e5a57d1d13
e328e230e3e2b3fb 1c2559e30f0946be 720bf5f26f4d2eaa b0774d261cc609db 443f64ec5a371195 4112cf68649a260e d813f2fab7f5c5ca
660d3257380841ee 59ac2c7873f910a3 e846963877671a17 93b633abfa3469f8 c0c0f5a60ef4cdcf caf21ecd4377b28c 57277707199b8175
506c11b9d90e8b1d d83cc2687a19255f 4a29c6465a314cd1 ed2df21216235097 b5635c95ff7296e2 22af003ab672e811 52e762596bf68235
9aeba33ac6ecc6b0 944f6de09134dfb6 6c47bec883a7de39 6ad047c430a12104 a5b1cfdba0ab4067 7c45d833aff07862 5092ef950a16da0b
9338e69c052b8e7b 455a4b4cfe30e3f5 6b02e63195ad0cf8 6b17b224bad6bf27 d1e0ccd25bb9c169 de0c89a556b9ae70 50065e535a213cf6
9c1169fa2777b874 78edefd694af1eed 6dc93d9526a50e68 ee97f453f06791ed 32ab0edb696703d3 3a6853c7e70757a7 31865ced6120f37d
67fef95d92607890 1f2b1d1f15f6dc9c b69e38a8965c6b65 aa9119ff184cccf4 f43c732873f24c13 fb4a3d794a9a80d2 3550c2321fd6109c
371f77e76bb8417e 6bfa9aae5ec05779 cd04f3ff001a4778 e3273522064480ca 9f91508bffcfc14a 049a7f41061a9e60 fcb6be43a9f2fe9b
08de8a1c7797da9b 8f9887e6078735a1 b5b4071dbfc73a66 230e343dfba08d33 43ed7f5a0fae657d 3a88a0fbbcb05c63 21874b8b4d2dbc4f
1bdea12e35f6a8c9 53c065c6c8e63528 e34a1d250e7a8d6b d6b04d3b7651dd7e 5e90277e7cb39e2d 2c046f22062dc67d b10bb459132d0a26
3fa9ddfb67e2f199 0e09b88e1914f7af 10e8b35af3eeab37 9eedeca8e272b933 d4c718bc4ae8ae5f 81536d601170fc20 91b534f885818a06
ec8177f83f900978 190e714fada5156e b592bf39b0364963 89c350c893ae7dc1 ac042e70f8b383f2 b49b52e587a1ee60 fb152fe3ff26da89
3e666e6f69ae2c15 3b544ebe544c19f9 e805a1e290cf2456 24b33c9d7ed25117 e74733427b72f0c1 0a804d18b7097475 57e3306d881edb4f
4ae7d6a36eb5dbcb 2d8d5432157064c8 d1e649de1e7f268b 8a328a1cedfe552c 07a3aec79624c7da 84547ddc3e203c94 990a98fd5071d263
1a4ff12616eefc89 f6f7fd1431714200 30c05b1ba332f41c 8d2636b81555a786 46c9feb55d120902 ccec0a73b49c9921 4e9d2827355fc492
19ebb029435dcb0f 4659d2b743848a2c 963ef2c96b33be31 74f85198b05a2e7d 5a0f544dd2b1fb18 03727073c2e134b1 c7f6aa2de59aea61
352787baa0d7c22f 9853eab63b5e0b35 abbdcdd7ed5c0860 cf05daf5ac8d77b0 49cad48cebf4a71e 7a4c10ec2158c4a6 d9e92aa246bf719e
13ae978d09fe5557 730499af921549ff 4e4b705b92903ba4 ff577222c14f0a3a 55b6344cf97aafae b862225b055b6960 cac09afbddd2cdb4
daf8e9829fe96b5f b5fdfc5d3132c498 310cb380db6f7503 e87fbb46217a360e 2102ae466ebb1148 f8549e1a3aa5e00d 07a69afdcc42261a
c4c118bfe78feaae f9f4892ed96bd438 1af3dbe25d8f45da f5b4b0b0d2deeeb4 962aceefa82e1c84 046e3ecaaf453ce9 f05d129681949a4c
964781ce734b3c84 9c2ed44081ce5fbd 522e23f3925e319e 177e00f9fc32f791 2bc60a63a6f3b3f2 222bbfae61725606 486289ddcc3d6780
7dc7785b8efdfc80 8af38731c02ba980 1fab64ea29a2ddf7 e4d9429322cd065a 9da058c67844f20c 24c0e332b70019b0 233003b5a6cfe6ad
d586bd01c5c217f6 5e5637885f29bc2b 7eba726d8c94094b 0a56a5f0bfe39272 d79476a84ee20d06 9e4c1269baa4bf37 17efee45b0dee640
1d95b0a5fcf90bc6 93cbe0b699c2585d 65fa4f227a2b6d79 d5f9e858292504d5 c2b5a03f71471a6f 59300222b4561e00 ce2f8642ca0712dc
7ca9723fbb2e8988 2785338347f2ba08 c61bb3a141e50e8c 150f361dab9dec26 9f6a419d382595f4 64a53dc924fe7ac9 142de49fff7a7c3d
0c335248857fa9e7 0a9c32d5eae45305 e6c42178c4bbb92e 71f1ce2490d20b07 f1bcc3d275afe51a e728e8c83c334074 96fbf83a12884624
81a1549fd6573da5 5fa7867caf35e149 56986e2ef3ed091b 917f1dd5f8886c61 d20d8c88c8ffe65f 31d71dce64b2c310 f165b587df898190
a57e6339dd2cf3a0 1ef6e6dbb1961ec9 70cc73d90bc26e24 e21a6b35df0c3ad7 003a93d8b2806962 1c99ded33cb890a1 cf3145de0add4289
d0e4427a5514fb72 77c621cc9fb3a483 67a34dac4356550b f8d626aaaf278509
"""
_KEYS: tuple[int, ...] = tuple(np.frombuffer(bytes.fromhex(_NUMBERS), ">u8").tolist())
"""The 781 constants of the key: pieces by type and square, castling rights, en passant files, White to move."""
