"""How `make lab` starts JupyterLab: at the first lesson, and without touching what it only opens.

JupyterLab writes into each notebook it opens which Python runs it, so a lesson would be marked as
changed before anything was done, and the next save would show in git. The course's notebooks store
none of that: it is added where a notebook is read, and taken out where one is saved.
"""

from pathlib import Path
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
WIDGETS = "application/vnd.jupyter.widget-state+json"


class CourseContents(AsyncLargeFileManager):
    """The files as they are, but Python notebooks without what differs from machine to machine."""

    async def get(self, path: str, *args: Any, **options: Any) -> dict[str, Any]:
        model: dict[str, Any] = await super().get(path, *args, **options)
        if metadata := python_metadata(model):
            here = self.parent.kernel_spec_manager.get_kernel_spec(KERNEL["name"])
            metadata["kernelspec"]["display_name"] = here.display_name
            metadata["language_info"] = IPythonKernel.language_info
        return model

    async def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        if metadata := python_metadata(model):
            metadata["kernelspec"] = KERNEL
            metadata.pop("language_info", None)
            if not metadata.get("widgets", {}).get(WIDGETS, {}).get("state", True):
                del metadata["widgets"]
        saved: dict[str, Any] = await super().save(model, path)
        return saved


def python_metadata(model: dict[str, Any]) -> dict[str, Any] | None:
    """The metadata of a notebook that Python runs; None of anything else."""
    if model.get("type") != "notebook" or not model.get("content"):
        return None
    metadata: dict[str, Any] = model["content"].get("metadata", {})
    return metadata if metadata.get("kernelspec", {}).get("name") == KERNEL["name"] else None


c = get_config()
c.LabApp.default_url = "/lab/tree/notebooks/00_start_here.ipynb"
c.LabApp.custom_css = True
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"
c.ServerApp.contents_manager_class = CourseContents
c.ServerApp.tornado_settings = {"static_custom_path": [str(Path(__file__).parent / "custom")]}
