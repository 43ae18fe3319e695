"""Samples, gradient checks and oracles; ships so that users can test operations of their own."""

from sapwood.testing.check import GradientError as GradientError
from sapwood.testing.check import check_gradients as check_gradients
