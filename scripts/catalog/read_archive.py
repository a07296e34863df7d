"""Prints the sources in an archive (wheel, crate, module) that match a pattern, and the metrics that its Python defines.

read_archive.py ARCHIVE PATTERN: JSON {"files": [{path, text}], "definitions": [{name, type, labels, bounds, at}]}.
"""

import ast
import json
import re
import sys
import tarfile
import zipfile

SOURCE = re.compile(r"\.(py|rs|go)$")
TEST = re.compile(r"(^|/)(tests?|benchmarks?|testdata)/|_test\.go$|(^|/)test_[^/]+\.py$")
KIND = re.compile(r"(gauge|counter|(?<!gauge)histogram|summary)(_cls)?$", re.IGNORECASE)


def sources(archive):
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as files:
            for path in files.namelist():
                if SOURCE.search(path) and not TEST.search(path):
                    yield path, files.read(path).decode("utf8", "replace")
    else:
        with tarfile.open(archive) as files:
            for member in files:
                if SOURCE.search(member.name) and not TEST.search(member.name):
                    yield member.name, files.extractfile(member).read().decode("utf8", "replace")


def last_name(node):
    return getattr(node, "attr", getattr(node, "id", ""))


def value_of(node, known):
    """The value of an expression of literals and of names of the same file; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Name, ast.Attribute)):
        return known.get(last_name(node))
    if isinstance(node, (ast.List, ast.Tuple)):
        values = []
        for element in node.elts:
            value = value_of(element.value if isinstance(element, ast.Starred) else element, known)
            if value is None:
                return None
            values += value if isinstance(element, ast.Starred) else [value]
        return values
    if isinstance(node, ast.JoinedStr):
        parts = [value_of(part.value if isinstance(part, ast.FormattedValue) else part, known) for part in node.values]
        return "".join(parts) if all(isinstance(part, str) for part in parts) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = value_of(node.left, known), value_of(node.right, known)
        return left + right if left is not None and type(left) is type(right) else None
    return None


def definitions(path, text, pattern):
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            name, value = last_name(node.targets[0]), value_of(node.value, known)
            # Of a name that stands for several values it is not known which one is meant.
            known[name] = value if known.get(name, value) == value else None
    for node in ast.walk(tree):
        kind = KIND.search(last_name(node.func)) if isinstance(node, ast.Call) else None
        if kind is None:
            continue
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        named = keywords.get("name", node.args[0] if node.args else None)
        name = None if named is None else value_of(named, known)
        if not isinstance(name, str) or not pattern.match(name):
            continue
        labels, bounds = keywords.get("labelnames"), keywords.get("buckets")
        yield {
            "name": name,
            "type": kind.group(1).lower(),
            "labels": None if labels is None else value_of(labels, known),
            "bounds": None if bounds is None else value_of(bounds, known),
            "at": f"{path}:{node.lineno}",
        }


def main(archive, prefixes):
    pattern = re.compile(prefixes)
    found = {"files": [], "definitions": []}
    for path, text in sources(archive):
        if path.endswith(".py") and pattern.search(text):
            found["definitions"] += definitions(path, text, pattern)
        if pattern.search(text) or "prometheus" in text:
            found["files"].append({"path": path, "text": text})
    json.dump(found, sys.stdout)


main(*sys.argv[1:3])
