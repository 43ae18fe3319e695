"""CUDA's switches: accepted and remembered, without effect."""


class Matmul:
    """How GPUs would compute products."""

    def __init__(self) -> None:
        self.allow_tf32 = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True


matmul = Matmul()


def is_built() -> bool:
    """False: sapwood computes on the CPU."""
    return False
