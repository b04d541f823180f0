"""One training from the command line: `course train rope --seed 0`."""

from __future__ import annotations

from pathlib import Path

from course_lab import corpus
from course_lab.checkpoints import Checkpoint, save_weights
from course_lab.evaluation import bits_per_byte, next_byte
from course_lab.parallel import group, is_first
from course_lab.training import train
from course_lab.zoo import TIERS, build

WINDOWS = 256  # of validation text, measured at the end


def run(
    scheme: str,
    seed: int = 0,
    steps: int | None = None,
    text: Path | None = None,
    to: Path = Path("runs"),
    resume: bool = False,
    compile: bool = False,
    tier: str = "small",
) -> None:
    """Train `scheme` as the zoo does, on `text` or Python's own source, and write its weights.

    The weights are written to `to`/SCHEME-SEED.safetensors, in float32, and the bits per byte on
    the validation text are printed. Until then a checkpoint lies beside them, from which `resume`
    continues. Several processes under torchrun share each batch.
    """
    sizes = TIERS[tier]
    to.mkdir(parents=True, exist_ok=True)
    with group() as place:
        model = build(scheme, sizes, seed).to(place)
        if compile:
            model.compile()
        data = corpus.python_source() if text is None else corpus.text(text)
        task = next_byte(data.train, sizes.length, sizes.batch)
        checkpoint = Checkpoint(to / f"{scheme}-{seed}.checkpoint", resume)
        train(model, task, steps or sizes.steps, sizes.learning_rate, seed, checkpoint=checkpoint)
        if is_first():
            weights = to / f"{scheme}-{seed}.safetensors"
            values = {name: value.clone().cpu() for name, value in model.state_dict().items()}
            save_weights(values, weights, {"scheme": scheme, "seed": str(seed)})
            checkpoint.path.unlink(missing_ok=True)
            bits = bits_per_byte(model, data.validation, sizes.length, most_windows=WINDOWS)
            print(
                f"{weights}: {bits.mean:.3f} bits per byte (standard error "
                f"{bits.standard_error:.3f}) at {sizes.length} bytes"
            )
