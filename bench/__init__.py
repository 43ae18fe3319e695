"""Measurements side by side with PyTorch: `python -m bench`; `--budget` is the check of CI."""
