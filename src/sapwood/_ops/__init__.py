"""The table of primitives: what exists. Open this folder first."""
