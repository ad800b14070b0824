"""Minimum-cost perfect matching in a general graph.

The method is the primal-dual form of J. Edmonds, "Maximum matching and a polyhedron with 0,1-vertices", 1965. Dual
values keep a lower bound of every cost. Pairs whose cost equals the bound are *tight*. Alternating trees of tight pairs
grow from unpaired vertices until two of them meet. Odd cycles are shrunk to *blossoms*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

FREE, OUTER, INNER = range(3)
"""Label of a node: outside all trees, at an even distance from its tree's root, or at an odd distance."""

Costs = Sequence[Sequence[int | None]]
"""Cost of each pair of vertices, a symmetric n x n matrix of integers; ``None`` forbids a pair."""
Edge = tuple[int, int]


def cheapest_pairing(costs: Costs) -> list[int] | None:
    """The partner of each vertex in the perfect matching of least total cost; ``None`` if no matching is perfect."""
    if len(costs) % 2:
        return None
    matching = _Matching(costs)
    for _ in range(len(costs) // 2):
        if not matching.grow_by_one_pair():
            return None
    return matching.mates


@dataclass(eq=False)
class _Node:
    """A single vertex, or a blossom: an odd cycle of nodes."""

    vertices: list[int]
    children: list[_Node] = field(default_factory=list)
    """Nodes of the cycle in order. The first contains the blossom's ``base``; the others are matched in pairs."""
    edges: list[Edge] = field(default_factory=list)
    """Edges between neighbouring children; the last one leads back to the first child."""
    dual: int = 0
    """Dual value of a blossom in the linear program, never negative; 0 for a single vertex."""
    label: int = FREE
    link: Edge | None = None
    """The edge to the node's parent in the tree (parent's vertex, own vertex); ``None`` for a tree's root."""

    @property
    def base(self) -> int:
        """The only vertex of the node that can have a mate outside it."""
        return self.children[0].base if self.children else self.vertices[0]


class _Matching:
    """A matching of least cost for its number of pairs, with the dual values that prove it optimal."""

    def __init__(self, costs: Costs) -> None:
        size = len(costs)
        self.mates = [-1] * size
        self._others = [
            [(other, 2 * cost) for other, cost in enumerate(row) if cost is not None and other != vertex]
            for vertex, row in enumerate(costs)
        ]
        """Possible mates of each vertex and twice the cost of each pair, so that halved slacks are integers."""
        least = min((cost for row in self._others for _, cost in row), default=0)
        self._duals = [least // 2] * size
        self._top = [_Node([vertex]) for vertex in range(size)]
        """For each vertex, the outermost blossom that contains it, or its own node if none does."""
        self._queue: list[int] = []
        """Outer vertices whose tight edges have not yet been examined."""

    def grow_by_one_pair(self) -> bool:
        """Enlarge the matching by one pair at the least cost; returns false if that is impossible."""
        for node in self._tops():
            node.label, node.link = FREE, None
        for node in self._tops():
            if self.mates[node.base] < 0:
                node.label = OUTER
        self._queue = [vertex for vertex, node in enumerate(self._top) if node.label == OUTER]
        while True:
            while self._queue:
                if self._follow_tight_edges(self._queue.pop()):
                    return True
            if not self._move_duals():
                return False

    def _tops(self) -> list[_Node]:
        return list(dict.fromkeys(self._top))

    def _follow_tight_edges(self, vertex: int) -> bool:
        """Grow the trees from an outer vertex along tight edges; returns whether the matching has gained a pair."""
        for other, cost in self._others[vertex]:
            one, two = self._top[vertex], self._top[other]
            if one is two or two.label == INNER or cost != self._duals[vertex] + self._duals[other]:
                continue
            if two.label == FREE:
                self._add_to_tree(vertex, other)
                continue
            meeting = self._common_ancestor(one, two)
            if meeting is None:
                self._flip(vertex, other)
                self._flip(other, vertex)
                return True
            self._shrink(vertex, other, meeting)
        return False

    def _add_to_tree(self, vertex: int, other: int) -> None:
        """Label the free node of ``other``, reached by an edge from ``vertex``, as inner, and its mate as outer."""
        inner = self._top[other]
        inner.label, inner.link = INNER, (vertex, other)
        outer = self._top[self.mates[inner.base]]
        outer.label, outer.link = OUTER, (inner.base, outer.base)
        self._queue += outer.vertices

    def _path_to_root(self, node: _Node) -> list[_Node]:
        path = [node]
        while path[-1].link is not None:
            path.append(self._top[path[-1].link[0]])
        return path

    def _common_ancestor(self, one: _Node, other: _Node) -> _Node | None:
        above = set(map(id, self._path_to_root(one)))
        return next((node for node in self._path_to_root(other) if id(node) in above), None)

    def _flip(self, vertex: int, mate: int) -> None:
        """Match the outer ``vertex`` with ``mate``; swaps matched and unmatched edges along the path to the root."""
        while True:
            node = self._top[vertex]
            self._rebase(node, vertex)
            self.mates[vertex] = mate
            if node.link is None:
                return
            inner = self._top[node.link[0]]
            assert inner.link is not None
            parent, own = inner.link
            self._rebase(inner, own)
            self.mates[own] = parent
            vertex, mate = parent, own

    def _rebase(self, node: _Node, vertex: int) -> None:
        """Rotate the matching within a blossom so that ``vertex`` becomes its base."""
        if not node.children:
            return
        place = next(place for place, child in enumerate(node.children) if vertex in child.vertices)
        node.children = node.children[place:] + node.children[:place]
        node.edges = node.edges[place:] + node.edges[:place]
        self._rebase(node.children[0], vertex)
        for number in range(1, len(node.children), 2):
            one, other = node.edges[number]
            self._rebase(node.children[number], one)
            self._rebase(node.children[number + 1], other)
            self.mates[one], self.mates[other] = other, one

    def _shrink(self, vertex: int, other: int, ancestor: _Node) -> None:
        """Shrink a cycle into a blossom; a tight edge between two outer vertices of one tree closes the cycle.

        ``ancestor`` is the lowest common ancestor of the two vertices' nodes.
        """
        down, up = (self._path_to_root(self._top[end]) for end in (vertex, other))
        down = down[: down.index(ancestor) + 1][::-1]
        up = up[: up.index(ancestor)]
        edges = [node.link for node in down[1:]] + [(vertex, other)] + [node.link and node.link[::-1] for node in up]
        children = down + up
        blossom = _Node(
            [inside for child in children for inside in child.vertices], children,
            [edge for edge in edges if edge is not None], label=OUTER, link=ancestor.link,
        )  # fmt: skip
        for child in children:
            if child.label == INNER:
                self._queue += child.vertices
        for inside in blossom.vertices:
            self._top[inside] = blossom

    def _move_duals(self) -> bool:
        """Change the dual values until an edge is tight or an inner blossom can be expanded; returns false if neither
        can.
        """
        duals, top = self._duals, self._top
        step: int | None = None
        for vertex, node in enumerate(top):
            if node.label != OUTER:
                continue
            for other, cost in self._others[vertex]:
                two = top[other]
                if two is node or two.label == INNER:
                    continue
                slack = cost - duals[vertex] - duals[other]
                gain = slack if two.label == FREE else slack // 2
                if step is None or gain < step:
                    step, self._queue = gain, []
                if gain == step:
                    self._queue.append(vertex)
        tops = self._tops()
        inner = [node for node in tops if node.label == INNER and node.children]
        for node in inner:
            if step is None or node.dual // 2 < step:
                step, self._queue = node.dual // 2, []
        if step is None:
            return False
        for node in tops:
            sign = {FREE: 0, OUTER: 1, INNER: -1}[node.label]
            for vertex in node.vertices:
                duals[vertex] += sign * step
            node.dual += 2 * sign * step if node.children else 0
        for node in inner:
            if not node.dual:
                self._expand(node)
        return True

    def _expand(self, blossom: _Node) -> None:
        """Replace an inner blossom by its children; the children on the tree path through it stay in the tree."""
        children, edges = blossom.children, blossom.edges
        for child in children:
            child.label, child.link = FREE, None
            for vertex in child.vertices:
                self._top[vertex] = child
        assert blossom.link is not None
        place = next(place for place, child in enumerate(children) if blossom.link[1] in child.vertices)
        forward = place % 2 == 1
        node, link, label = place, blossom.link, INNER
        while True:
            children[node].label, children[node].link = label, link
            if label == OUTER:
                self._queue += children[node].vertices
            if node == 0:
                return
            link = edges[node] if forward else edges[node - 1][::-1]
            node = (node + 1) % len(children) if forward else node - 1
            label = OUTER if label == INNER else INNER
