"""Samples, gradient checks and oracles; ships so that users can test operations of their own."""
