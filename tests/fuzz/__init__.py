"""In-place and hook fuzz: random programs, run in PyTorch and in sapwood, must not differ silently.

`generate(seed)` draws a program, `execute(program, module)` runs it and returns a trace,
`judge(program, run)` compares a trace with PyTorch's, `minimise` shrinks what differs. `python -m
tests.fuzz --help` runs it by hand.
"""
