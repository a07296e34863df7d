"""Prints what the installed Dynamo requires, without aisimulate.

The package index holds aisimulate only as a placeholder that cannot be installed; frontend, router, mock engine and indexer
do not import it.
"""

from importlib.metadata import requires

from packaging.requirements import Requirement

for package in ("ai-dynamo", "ai-dynamo-runtime"):
    for line in requires(package) or []:
        requirement = Requirement(line)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in ("aisimulate", "ai-dynamo", "ai-dynamo-runtime"):
            requirement.marker = None
            print(requirement)
