"""What all tests share: PyTorch where it is installed, and the flag that rewrites golden files."""

from __future__ import annotations

import os

# Several test processes share the cores: BLAS threads that wait for each other would take most of
# the time. Before NumPy is imported, and for the programs that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write golden files instead of comparing"
    )


@pytest.fixture(scope="session")
def update_golden(pytestconfig: pytest.Config) -> bool:
    """Whether golden files are to be written from what is there now."""
    return pytestconfig.getoption("--update-golden")


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch on one thread; the test is skipped where it is not installed."""
    found = pytest.importorskip("torch")
    found.set_num_threads(1)
    return found


@pytest.fixture(params=["sapwood", pytest.param("torch", marks=pytest.mark.torch)])
def m(request: pytest.FixtureRequest) -> Any:
    """sapwood, and PyTorch where it is installed: one test that must hold for both."""
    if request.param == "torch":
        return request.getfixturevalue("torch")
    return pytest.importorskip("sapwood")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that takes the fixture `torch` or `oracle` compares with PyTorch: mark it so."""
    for item in items:
        if {"torch", "oracle"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("torch")
