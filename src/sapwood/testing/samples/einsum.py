"""Samples of einsum: products, sums, traces, ellipsis, broadcasting, lists."""

from __future__ import annotations

from sapwood.testing.sample import f, g, i, sample
from sapwood.testing.samples.unary import z

F4 = f(3, 4).astype("f4")
SAMPLES = {
    "einsum": [
        sample("ij,jk->ik", f(3, 4), g(4, 2)),
        sample("ij,jk", f(3, 4), g(4, 2)),
        sample("ij->ji", f(3, 4)),
        sample("ij->", f(3, 4)),
        sample("ij->i", f(3, 4)),
        sample("ii->i", f(3, 3)),
        sample("ii", f(3, 3)),
        sample("i,j->ij", f(3), g(4)),
        sample("i,i->", f(3), g(3)),
        sample("i,i->i", f(3), g(3)),
        sample("bij,bjk->bik", f(2, 3, 4), g(2, 4, 5)),
        sample("...ij,...jk->...ik", f(2, 3, 4), g(2, 4, 5)),
        sample("...ij,...jk->...ik", f(2, 3, 4), g(4, 5)),
        sample("...ij,...jk->...ik", f(3, 4), g(2, 4, 5)),
        sample("...i->...", f(2, 3, 4)),
        sample("i...->...", f(2, 3, 4)),
        sample("ij,jk,kl->il", f(2, 3), g(3, 4), f(4, 2)),
        sample("a,b,c->abc", f(2), g(3), f(4)),
        sample("bn,anm,bm->ba", f(2, 3), g(4, 3, 5), f(2, 5)),
        sample("i,->i", f(3), g()),
        sample(",->", f(), g()),
        sample("->", f()),
        sample("ij,ij->ij", f(3, 4), g(1, 4)),
        sample("ij,jk->ik", f(4, 3).T, g(4, 2)),
        sample("ij,jk->ik", f(3, 4)[::-1], g(4, 2)),
        sample("ij,jk->ik", f(0, 4), g(4, 2)),
        sample("ij,jk->ik", f(3, 0), g(0, 2)),
        sample("ij,jk->ik", F4, F4.T),
        sample("ij,jk->ik", z(3, 4), z(4, 2)),
        sample("ij,jk->ik", i(3, 4), i(4, 2)),
        sample(f(3, 4), [0, 1], g(4, 2), [1, 2], [0, 2]),
        sample(f(3, 4), [0, 1], [1, 0]),
        sample(f(3, 4), [..., 0], g(4), [0]),
        sample("ijk,ilm,njm,nlk,abc->", *(f(2, 2, 2) for _ in range(5))),
        sample("iij->j", f(3, 3, 4)),
        sample("iji->j", f(3, 4, 3)),
        sample("i,i,i->i", f(3), g(3), f(3)),
        sample("ba,b->", f(3, 4), g(3)),
        sample("i j , j k -> i k", f(3, 4), g(4, 2)),
        sample("ij,kl->ik", f(3, 4), g(2, 5)),
        sample("bhid,bhjd->bhij", f(2, 3, 4, 5), g(2, 3, 6, 5)),
        sample("ii,ij->j", f(3, 3), g(3, 4)),
        sample("Ab,bC->AC", f(3, 4), g(4, 2)),
        sample("zx,xa", f(3, 4), g(4, 2)),
        sample("ij,jk->ik", [f(3, 4), g(4, 2)]),
        sample("...,...->...", f(3, 4), g(4)),
        sample("i...,...->i...", f(3, 4), g(4)),
    ]
}
