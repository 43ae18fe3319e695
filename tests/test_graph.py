"""`sapwood.graph`: as data, and as text that is compared with what people have read and approved.

`pytest tests/test_graph.py --update-golden` writes the texts anew: read them before you commit.
"""

import gc
import io
import runpy
import sys
import time
import types
import weakref
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import sapwood
from sapwood.look import folding, protocol
from sapwood.look import text as writing

FOLDER = Path(__file__).parent / "golden" / "graphs"
PROGRAMS = sorted(FOLDER.glob("*.py"))


def shown(program):
    """What a program prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        runpy.run_path(str(program))
    return out.getvalue()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_text_is_the_approved_one(program, update_golden):
    text = shown(program)
    golden = program.with_suffix(".txt")
    if update_golden:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert str(FOLDER.parent) not in text, "no paths of this machine"
    assert max(map(len, text.splitlines())) <= 120


def test_there_are_ten():
    assert len(PROGRAMS) >= 10


def polynomial():
    x = sapwood.tensor(3.0, requires_grad=True)
    y = 3 * x**2 + 4 * x + 2
    return x, y


# ---- as data -------------------------------------------------------------------------------------


def test_nodes_say_what_they_are():
    x, y = polynomial()
    g = sapwood.graph(y)
    assert len(g) == len(g.nodes) == len(list(g)) == 10
    node = g["y"]
    assert node is g[y] is g[y.grad_fn] is g[-1]
    assert (node.op, node.title) == ("add", "AddBackward0")
    assert (node.role, node.kind) == ("operation", "MAP")
    assert node.expression == "3 * x**2 + 4 * x + 2"
    assert (node.shape, node.dtype) == ((), "float32")
    assert (node.is_leaf, node.requires_grad) == (False, True)
    assert node.place.file == __file__
    assert node.place.text == "y = 3 * x**2 + 4 * x + 2"
    assert node.place.function == "polynomial"
    assert [source.expression for source in node.inputs] == ["3 * x**2 + 4 * x", "2"]
    assert (node.operands, node.ports) == (("x", "y"), (0, 0))
    leaf = g["x"]
    assert leaf is g[x]
    assert (leaf.role, leaf.op, leaf.is_leaf, leaf.requires_grad) == ("leaf", "leaf", True, True)
    assert leaf.title == "torch::autograd::AccumulateGrad"
    assert leaf.value == 3
    two = node.inputs[1]
    assert (two.role, two.value, two.is_leaf, two.requires_grad) == ("constant", 2, True, False)
    assert repr(g) == "<Graph of y = 3 * x**2 + 4 * x + 2: 5 operations, 1 leaf, 4 constants>"
    assert repr(node) == "<add 'y = 3 * x**2 + 4 * x + 2'>"


def test_inputs_stand_before_their_users_and_edges_agree():
    _, y = polynomial()
    g = sapwood.graph(y)
    for node in g:
        assert g.nodes[node.index] is node
        assert all(source.index < node.index for source in node.inputs)
        assert tuple(source.index for source in node.inputs) == tuple(g.links[node.index])
    assert len(g.edges) == sum(map(len, g.links)) == 10
    edge = g.edges[-1]
    assert (edge.source.expression, edge.target, edge.operand, edge.port) == ("2", g["y"], "y", 0)


def test_names_and_expressions_are_looked_up():
    _, y = polynomial()
    g = sapwood.graph(y)
    assert g["x**2"].op == "pow"
    assert "x" in g and y in g and "nothing" not in g and sapwood.ones(1) not in g
    with pytest.raises(KeyError, match="no node of this graph is called 'nothing'"):
        g["nothing"]
    a = sapwood.ones(2, requires_grad=True)
    h = a
    for _ in range(5):
        h = sapwood.tanh(h)
    g = sapwood.graph(h)
    assert len(g.named("h")) == 5
    assert g["h"] is g[h], "the variable's last value"


def test_names_come_from_many_kinds_of_statements():
    this = types.SimpleNamespace()
    weights = {}
    this.w = sapwood.ones(2, requires_grad=True)
    weights["out"] = sapwood.ones(2, requires_grad=True)
    a, b = this.w * 2, weights["out"] * 3
    if (c := a * b) is not None:
        d: sapwood.Tensor = c + 1
    e = f = d * 2
    e += this.w
    g = sapwood.graph(e, f)
    for name in ("this.w", 'weights["out"]', "a", "b", "c", "d", "e"):
        assert name in g, name
    assert g["e"].expression == "e += this.w"
    own = sapwood.ones(2, requires_grad=True)
    own.name = "layer.weight"
    assert sapwood.graph(own * 2)["layer.weight"].role == "leaf"


def test_a_number_or_a_tensor_that_needs_no_gradient_is_a_constant():
    x = sapwood.ones(2, requires_grad=True)
    mask = sapwood.tensor([0.0, 1.0])
    y = sapwood.add(x * mask + mask.tanh() * x, 7)
    g = sapwood.graph(y)
    assert [n.value for n in g if n.role == "constant" and n.expression == "7"] == [7]
    assert g["mask"].value.tolist() == [0, 1]
    assert (g["mask"].shape, g["mask"].dtype) == ((2,), "float32")
    assert g["mask.tanh()"].shape == (2,)


def test_saved_bytes_count_each_buffer_once():
    x = sapwood.ones(1000, requires_grad=True)
    e = x.exp()  # keeps its result
    y = e * e + e[10:20].sum()  # the product keeps it twice more
    g = sapwood.graph(y)
    assert [(s.name, s.nbytes, s.counted) for s in g["e"].saved] == [("out", 4000, True)]
    assert {(s.nbytes, s.counted) for s in g["e * e"].saved} == {(4000, False)}
    assert g["e * e"].saved_bytes == 0
    assert g.saved_bytes == sum(node.saved_bytes for node in g) == 4000
    y.sum().backward()
    assert sapwood.graph(y).saved_bytes == 0
    assert "was released by the one at test_graph.py" in str(sapwood.graph(y))


def test_a_graph_keeps_no_tensor_and_is_freed_at_once():
    x, y = polynomial()
    g = sapwood.graph(y)
    str(g)
    tensor, node = weakref.ref(y), weakref.ref(y.grad_fn)
    gc.disable()
    try:
        del y
        assert tensor() is None
        assert node() is not None
        leaf = weakref.ref(x)
        del x
        assert leaf() is None
        assert g["x"].value is None
        assert "x = " not in str(g).replace("x = sapwood", "")
    finally:
        gc.enable()


def test_operands_that_were_not_given_are_no_nodes():
    x = sapwood.ones(2, requires_grad=True)
    g = sapwood.graph(x.clamp(min=0.5))
    for node in g:
        assert len(node.inputs) == len(node.operands) == len(node.ports)
        assert node.expression != "None"


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"expected tensors, got int at .*test_graph\.py:\d+"):
        sapwood.graph(3)
    with pytest.raises(TypeError, match="at least one"):
        sapwood.graph()


def test_a_value_has_the_name_it_was_passed_under():
    def loss_of(scores):
        return (scores * 2).sum()

    x = sapwood.ones(2, requires_grad=True)
    loss = loss_of(x + 1)
    g = sapwood.graph(loss)
    assert g["scores"].expression == "x + 1"
    assert g["loss"] is g[loss]


def test_a_view_that_caught_up_keeps_its_name():
    x = sapwood.ones(2, 2, requires_grad=True)
    base = x * 2
    row = base[0]
    base += 1
    y = row * 3
    text = str(sapwood.graph(y))
    assert "row = base[0] " in text
    assert "base += 1 " in text


def test_several_results_may_come_as_a_list():
    x = sapwood.ones(2, requires_grad=True)
    a, b = x * 2, x * 3
    assert [node.name for node, _ in sapwood.graph([a, b]).roots] == ["a", "b"]
    assert len(sapwood.graph(a, b)) == len(sapwood.graph([a, b])) == 5


def test_no_graph_says_why():
    x = sapwood.ones(2, requires_grad=True)
    text = str(sapwood.graph((x * 2).detach() + 1))
    assert "no graph: detach at test_graph.py:" in text
    with sapwood.no_grad():
        y = x * 2
    assert "no graph: no_grad at test_graph.py:" in str(sapwood.graph(y))
    assert "nothing behind it requires grad" in str(sapwood.graph(sapwood.ones(2)))


# ---- as text -------------------------------------------------------------------------------------


def lines_of(tensor, **options):
    return sapwood.graph(tensor).text(**options).splitlines()


def test_without_source_there_are_words_all_the_same():
    space = {"torch": sapwood}
    exec("x = torch.ones(2, requires_grad=True)\nh = torch.tanh(x) * 2\ny = 1 - h", space)
    lines = lines_of(space["y"])
    assert lines[0].startswith("y = 1 - h ")
    assert lines[1].startswith("├─ h = … * 2 ")
    assert lines[2].startswith("│  ├─ tanh(x) ")
    assert lines[3].startswith("│  │  └─ x = [1, 1] ")


def test_a_repeated_line_is_folded_with_its_count():
    h = sapwood.ones(2, requires_grad=True)
    for _ in range(1000):
        h = sapwood.tanh(h * 0.5)
    lines = lines_of(h)
    assert len(lines) < 12
    assert "the same 2 steps 998 more times (1,996 nodes)" in "\n".join(lines)
    short = sapwood.ones(2, requires_grad=True)
    for _ in range(3):
        short = sapwood.tanh(short * 0.5)
    assert "more time" not in "\n".join(lines_of(short)), "three turns are shown"


def test_a_recurrence_with_two_states_is_folded():
    c = h = sapwood.zeros(3)
    w = sapwood.ones(3, requires_grad=True)
    for _ in range(50):
        i, f, o = (h * w).sigmoid(), (h + w).sigmoid(), (h - w).sigmoid()
        c = f * c + i * (h * w).tanh()
        h = o * c.tanh()
    lines = lines_of(h)
    assert "more times" in "\n".join(lines)
    assert len(lines) < 60


def unrolled(count, line):
    """A graph of so many operations, each on a line of its own."""
    space = {"torch": sapwood, "x": sapwood.ones(2, requires_grad=True)}
    exec("\n".join(line(i) for i in range(count)), space)
    return space["x"]


def test_equal_operations_without_a_loop_are_folded_when_there_are_many():
    text = "\n".join(lines_of(unrolled(500, lambda i: f"x = x + {i}")))
    assert "the same step 499 more times" in text
    assert len(text.splitlines()) < 12


def test_what_cannot_be_folded_is_cut_with_a_count():
    functions = ["tanh", "exp", "sin", "cos", "sigmoid", "neg"]
    x = unrolled(400, lambda i: f"x = torch.{functions[i * i * 7 % 11 % 6]}(x) * x")
    lines = lines_of(x, lines=30)
    assert len(lines) <= 60
    cut = [line for line in lines if "more nodes:" in line]
    assert len(cut) == 1
    assert " mul" in cut[0]


def test_a_deep_tree_goes_on_further_down():
    functions = ["tanh", "exp", "sin", "cos", "sigmoid", "neg"]
    lines = lines_of(unrolled(30, lambda i: f"x = torch.{functions[i * i * 7 % 11 % 6]}(x)"))
    assert "↓ goes on below" in lines[-1]
    assert max(len(line) - len(line.lstrip("│├└─ ")) for line in lines) < 60


def test_a_graph_that_doubles_is_shown_once():
    a = sapwood.ones(2, requires_grad=True)
    for _ in range(100):
        a = a + a
    lines = lines_of(a)
    assert len(lines) < 12
    assert "the same step 98 more times" in "\n".join(lines)


@pytest.mark.slow
def test_a_million_operations_take_seconds():
    h = sapwood.ones((), requires_grad=True)
    for _ in range(1_000_000):
        h = h + 1
    start = time.perf_counter()
    g = sapwood.graph(h)
    text = str(g)
    took = time.perf_counter() - start
    assert "the same step 999,998 more times" in text
    assert "1,000,000 operations" in text
    assert took < 30, "about 7 s on a slow core"


def test_any_graph_that_answers_the_protocol_can_be_written():
    def node(index, op, inputs=(), **more):
        output = protocol.Output((2, 3), "float32", more.get("name"))
        known = dict(
            index=index,
            op=op,
            title=f"{op}Backward",
            kind="MAP",
            role="operation",
            inputs=inputs,
            ports=[0] * len(inputs),
            operands=["x"] * len(inputs),
            outputs=[output],
            attrs={},
            shape=output.shape,
            dtype="float32",
            requires_grad=True,
            name=None,
            expression=None,
            statement=False,
            scope="",
            place=None,
            call=None,
            value=None,
            saved=(),
            saved_bytes=0,
            marks=(),
        )
        return types.SimpleNamespace(**known | more)

    weight = node(0, "leaf", role="leaf", name="layer1.weight")
    hidden = node(1, "tanh", [weight], scope="layer1")
    loss = node(2, "mul", [hidden, hidden], name="loss", saved_bytes=48)
    other = types.SimpleNamespace(
        nodes=[weight, hidden, loss], links=[(), (0,), (1, 1)], roots=[(loss, 0)], notes=["a note"]
    )
    assert writing.text(other).splitlines() == [
        "loss = … * …             mul    [2, 3]",
        "├─ tanh(layer1.weight)   tanh   [2, 3]   in layer1",
        "│  └─ layer1.weight      leaf   [2, 3]",
        "└─ tanh(layer1.weight) ↑",
        "",
        "2 operations, 1 leaf, 0 constants; keeps 48 bytes for backward; all float32; a note; "
        "↑ shown above",
    ]


def test_terminals_without_box_signs_get_ascii(monkeypatch):
    _, y = polynomial()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert str(sapwood.graph(y)).isascii()
    assert sapwood.graph(y).text(ascii=True).splitlines()[1].startswith("|- 3 * x**2 + 4 * x")


def test_the_shortest_period_is_found():
    assert folding.period(np.array([1, 2, 1, 2, 1, 2, 3])) == (2, 2)
    assert folding.period(np.array([1, 1, 2, 1, 1, 2])) == (1, 1)
    assert folding.period(np.array([1, 2, 3])) is None
