"""vLLM's and SGLang's own functions, taken out of their wheels and run alone.

No wheel is installed: importing either package wants a GPU's libraries. A function is compiled from
the file that it stands in, with stand-ins for loggers and environment variables.
"""

from __future__ import annotations

import ast
import copy
import math
import zipfile
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

QUIET = SimpleNamespace(**{
    name: lambda *_: None for name in ("warning", "warning_once", "debug", "info")
})  # fmt: skip
Config = Any


def functions(wheel: Path, file: str, names: Iterable[str], **around: Any) -> SimpleNamespace:
    """Functions, methods ("Class.method") and constants of a file in a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        tree = ast.parse(packed.read(file))
    wanted, found = set(names), list[ast.stmt]()
    for node in tree.body:
        is_constant = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in wanted
        if is_constant or (isinstance(node, ast.FunctionDef) and node.name in wanted):
            found.append(node)
        elif isinstance(node, ast.ClassDef):
            found += [one for one in node.body if isinstance(one, ast.FunctionDef)
                      and f"{node.name}.{one.name}" in wanted]  # fmt: skip
    for node in found:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    future = ast.parse("from __future__ import annotations").body
    space: dict[str, Any] = {"logger": QUIET, "torch": torch, "math": math, **around}
    module = ast.fix_missing_locations(ast.Module([*future, *found], []))
    exec(compile(module, file, "exec"), space)
    return SimpleNamespace(**space)


class Vllm:
    """vLLM: how it applies overrides, what length it derives, and which frequencies it makes."""

    name = "vLLM"

    def __init__(self, wheel: Path) -> None:
        self.version = wheel.name.split("-")[1]
        own = "vllm/config/model.py"
        keys = ["iter_rope_parameters", "is_rope_parameters_nested"]
        config = functions(wheel, "vllm/transformers_utils/config.py", keys,
                           ALLOWED_LAYER_TYPES=_layer_types(), Iterator=Iterable)  # fmt: skip
        self.length = functions(
            wheel, own, ["_get_and_verify_max_len"],
            iter_rope_parameters=config.iter_rope_parameters,
            envs=SimpleNamespace(VLLM_ALLOW_LONG_MAX_MODEL_LEN=False),
            current_platform=SimpleNamespace(check_max_model_len=lambda length: length),
        )._get_and_verify_max_len  # fmt: skip
        update = functions(
            wheel, own, ["ModelConfig._update_nested", "ModelConfig._apply_dict_overrides"]
        )
        self.model = SimpleNamespace()
        self.model._update_nested = lambda *given: update._update_nested(self.model, *given)
        self.update = update._apply_dict_overrides
        self.derive = functions(
            wheel, "vllm/transformers_utils/model_arch_config_convertor.py",
            ["ModelArchConfigConvertorBase.derive_max_model_len_and_key"],
        ).derive_max_model_len_and_key  # fmt: skip
        folder = "vllm/model_executor/layers/rotary_embedding"
        common = functions(wheel, f"{folder}/common.py", [
            "yarn_find_correction_dim", "yarn_find_correction_range", "yarn_linear_ramp_mask",
        ])  # fmt: skip
        self.yarn = functions(
            wheel, f"{folder}/yarn_scaling_rope.py",
            ["YaRNScalingRotaryEmbedding._compute_inv_freq"], **vars(common),
        )._compute_inv_freq  # fmt: skip

    def overridden(self, config: Config, entries: dict[str, Any]) -> Config:
        """The config with the entries of --hf-overrides."""
        config = copy.deepcopy(config)
        flat = {key: value for key, value in entries.items() if not isinstance(value, dict)}
        config.update(flat)
        nested = {key: value for key, value in entries.items() if isinstance(value, dict)}
        self.update(self.model, config, copy.deepcopy(nested))
        return config

    def accepted(self, config: Config, length: int) -> int:
        """The length that it serves. Raises ValueError, in its own words, for one too large."""
        text = config.get_text_config()
        derived = self.derive(SimpleNamespace(hf_text_config=text))
        of_model = SimpleNamespace(derived_max_model_len_and_key=derived)
        return int(self.length(text, of_model, None, length, False, None))


class Sglang:
    """SGLang: the same."""

    name = "SGLang"

    def __init__(self, wheel: Path) -> None:
        self.version = wheel.name.split("-")[1]
        common = functions(
            wheel, "sglang/srt/utils/hf_transformers/common.py",
            ["get_context_length", "CONTEXT_LENGTH_KEYS"],
        )  # fmt: skip
        switch = SimpleNamespace(get=lambda: False)
        self.length = functions(
            wheel, "sglang/srt/configs/model_config.py", ["ModelConfig._derive_context_length"],
            get_context_length=common.get_context_length, is_in_ci=lambda: False,
            envs=SimpleNamespace(SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=switch),
        )._derive_context_length  # fmt: skip
        folder = "sglang/srt/layers/rotary_embedding"
        helpers = ["_yarn_find_correction_dim", "_yarn_find_correction_range",
                   "_yarn_linear_ramp_mask", "yarn_find_correction_dim",
                   "yarn_find_correction_range", "yarn_linear_ramp_mask"]  # fmt: skip
        self.yarn = functions(
            wheel, f"{folder}/yarn.py", [*helpers, "YaRNScalingRotaryEmbedding._compute_inv_freq"]
        )._compute_inv_freq

    def overridden(self, config: Config, entries: dict[str, Any]) -> Config:
        """The config with the entries of --json-model-override-args, as `get_config` does it."""
        from transformers import PretrainedConfig

        config = copy.deepcopy(config)
        for key, value in copy.deepcopy(entries).items():
            current = getattr(config, key, None)
            if isinstance(value, dict) and isinstance(current, PretrainedConfig):
                current.update(value)
            elif key == "rope_parameters" and isinstance(current, dict):
                setattr(config, key, {**current, **value})
            else:
                setattr(config, key, value)
        return config

    def accepted(self, config: Config, length: int) -> int:
        """The length that it serves. Raises ValueError, in its own words, for one too large."""
        model = SimpleNamespace(
            is_draft_model=False, hf_text_config=config.get_text_config(), hf_config=config
        )
        self.length(model, length)
        return int(model.context_len)


def _layer_types() -> tuple[str, ...]:
    from transformers.configuration_utils import ALLOWED_LAYER_TYPES

    return tuple(ALLOWED_LAYER_TYPES)


def yarn_of(engine: Vllm | Sglang, config: Config, width: int) -> torch.Tensor | None:
    """The frequencies that an engine's YaRN makes of a config; None if it asks for no YaRN."""
    given = config.get_text_config().rope_parameters
    if given.get("rope_type") != "yarn":
        return None
    layer = SimpleNamespace(
        base=given["rope_theta"], rotary_dim=width, beta_fast=given.get("beta_fast") or 32,
        beta_slow=given.get("beta_slow") or 1, truncate=given.get("truncate", True),
        max_position_embeddings=given["original_max_position_embeddings"], extrapolation_factor=1,
    )  # fmt: skip
    made: torch.Tensor = engine.yarn(layer, given["factor"])
    return made.double()
