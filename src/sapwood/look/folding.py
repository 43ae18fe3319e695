"""Which nodes a tree shows: repeated steps folded, the rest cut where lines run out.

Works on positions only. From each node the *spine* follows the input that lies deepest; a loop in
the user's program makes the spine repeat itself, and the tree shows one turn of it and a count.
Everything is iterative, and linear in the size of the graph.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sapwood.look.protocol import ViewGraph

LONGEST = 512  # steps of one turn
TRIES = 32  # candidates for the length of a turn
HIDES = 8  # fold only what takes more steps than this
UNROLLED = 50  # without a loop in the source, fold only longer runs of equal operations


class Fold(NamedTuple):
    """So many more turns of the same steps, and what they begin with."""

    steps: int
    turns: int
    nodes: int
    first: int  # the newest of the folded nodes
    below: int  # the node that the oldest folded step reads
    ops: tuple[str, ...]  # of one turn, the newest first


class Cut(NamedTuple):
    """Nodes that are not shown."""

    nodes: int
    ops: Counter


class Plan:
    """What to show below each node."""

    def __init__(self, graph: ViewGraph, lines: int) -> None:
        self.graph, self.links = graph, graph.links
        self.depth = depths(self.links)
        self.spines: dict[int, tuple[Spine, int]] = {}  # node -> its spine, position on it
        self.folds: dict[int, Fold] = {}
        self.hidden: set[int] = set()  # folded nodes
        self.below: dict[int, list[int]] = {}  # node -> what is shown below it
        self.cut: dict[int, Cut | None] = {}  # nodes whose inputs are not shown
        self.expand(lines)
        self.count_cuts()

    def expand(self, lines: int) -> None:
        """Open nodes, the nearest to the roots first, as long as there are lines."""
        queue = deque(dict.fromkeys(node.index for node, _ in self.graph.roots))
        used = len(queue)
        seen = set(queue)
        while queue:
            i = queue.popleft()
            fold = self.folds.get(i)
            if not self.links[i] or (i in self.hidden and fold is None):
                continue
            shown = [fold.below] if fold else list(self.links[i])
            grows = any(self.links[k] and k not in seen for k in shown)
            most = lines if grows and len(shown) > 1 else lines * 3 // 2
            if used + len(shown) > most and used > 1:  # to say that it is cut takes a line, too
                self.cut[i] = None
                continue
            used += len(shown)
            self.below[i] = shown
            if fold is None:
                self.find_fold(i)
            for k in shown:
                if k not in seen:
                    seen.add(k)
                    queue.append(k)

    def main(self, i: int) -> int | None:
        """The input that lies deepest; None where there is only leaves and constants."""
        best = None
        for k in self.links[i]:
            if self.links[k] and (best is None or self.depth[k] > self.depth[best]):
                best = k
        return best

    def spine(self, i: int) -> tuple[Spine, int]:
        """The spine that a node lies on, and its position there."""
        if i not in self.spines:
            path: list[int] = []
            k: int | None = i
            while k is not None and k not in self.spines:
                path.append(k)
                k = self.main(k)
            spine = Spine(self.graph, path)
            for position, node in enumerate(path):
                self.spines[node] = spine, position
        return self.spines[i]

    def find_fold(self, i: int) -> None:
        """If the spine repeats itself from here on, fold all turns but the first."""
        spine, start = self.spine(i)
        found = spine.turns(start) if start >= spine.folded else None
        if found is None:
            return
        steps, turns = found
        first, last = start + steps, start + steps * (turns + 1) - 1
        top = spine.path[first]
        below = self.main(spine.path[last])
        if below is None:
            below = next((k for k in self.links[spine.path[last]] if not self.links[k]), -1)
        if top in self.below or below < 0:
            return
        nodes = [self.graph.nodes[k] for k in spine.path[start : start + steps]]
        spine.folded = last + 1
        hidden = self.between(top, below) - set(self.below)
        self.hidden |= hidden
        self.folds[top] = Fold(steps, turns, len(hidden), top, below, tuple(n.op for n in nodes))

    def between(self, top: int, below: int) -> set[int]:
        """The nodes that `top` needs and `below` does not."""
        inside, todo = {below}, [below]
        while todo:
            for k in self.links[todo.pop()]:
                if k not in inside:
                    inside.add(k)
                    todo.append(k)
        found, todo = {top}, [top]
        while todo:
            for k in self.links[todo.pop()]:
                if k not in inside and k not in found:
                    found.add(k)
                    todo.append(k)
        return found

    def count_cuts(self) -> None:
        """Count what is not shown, each node once."""
        counted = set(self.below) | {node.index for node, _ in self.graph.roots}
        for shown in self.below.values():
            counted.update(shown)
        for i in self.cut:
            ops: Counter = Counter()
            todo = list(self.links[i])
            while todo:
                k = todo.pop()
                if k not in counted:
                    counted.add(k)
                    ops[self.graph.nodes[k].op] += 1
                    todo.extend(self.links[k])
            self.cut[i] = Cut(ops.total(), ops)


class Spine:
    """A path of operations, newest first, and where it repeats itself."""

    def __init__(self, graph: ViewGraph, path: list[int]) -> None:
        self.graph, self.path = graph, path
        self.folded = 0  # steps before this one belong to a fold
        self.known: dict[bool, np.ndarray] = {}

    def signs(self, *, strict: bool) -> np.ndarray:
        """A number per step: equal for steps that look the same."""
        if strict in self.known:
            return self.known[strict]
        nodes, links = self.graph.nodes, self.graph.links
        known: dict[object, int] = {}
        found = []
        for i in self.path:
            node = nodes[i]
            if strict:  # the same call in the source, with inputs of the same sort
                sign: object = (
                    node.op,
                    node.call,
                    *[nodes[k].op if links[k] else "" for k in links[i]],
                )
            else:
                sign = node.op
            found.append(known.setdefault(sign, len(known)))
        self.known[strict] = np.array(found)
        return self.known[strict]

    def turns(self, start: int) -> tuple[int, int] | None:
        """(steps of a turn, further turns) where it pays to fold from here on."""
        if len(self.path) - start <= HIDES:
            return None
        found = period(self.signs(strict=True)[start:])
        if found is not None and found[0] * found[1] > HIDES and found[1] > 1:
            return found
        if len(self.path) - start > 2 * UNROLLED:
            found = period(self.signs(strict=False)[start:])
            if found is not None and found[0] * found[1] > UNROLLED and found[1] > 1:
                return found
        return None


def period(signs: np.ndarray) -> tuple[int, int] | None:
    """(length, further turns) of the shortest pattern that repeats itself from the start."""
    candidates = np.flatnonzero(signs[1 : LONGEST + 1] == signs[0])[:TRIES] + 1
    for p in candidates.tolist():
        if 2 * p > len(signs) or not np.array_equal(signs[:p], signs[p : 2 * p]):
            continue
        same = signs[p:] == signs[:-p]
        run = len(same) if same.all() else int(np.argmin(same))
        return p, run // p
    return None


def depths(links: Sequence[Sequence[int]]) -> list[int]:
    """For each node the length of the longest way down to a leaf."""
    found: list[int] = []
    for inputs in links:
        found.append(1 + max([found[k] for k in inputs]) if inputs else 0)
    return found
