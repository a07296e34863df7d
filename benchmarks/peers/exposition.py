"""CPU time of the parser of Python's prometheus_client on two scrapes of a page, in turn. Prints one JSON line.

usage: exposition.py PREFIX    (reads PREFIX.1.txt and PREFIX.2.txt)
"""

import json
import sys
import time

from prometheus_client.parser import text_string_to_metric_families

SECONDS = 0.9
MIN_PARSES = 2

pages = []
for number in (1, 2):
    with open(f"{sys.argv[1]}.{number}.txt", encoding="utf-8") as file:
        pages.append(file.read())


def parse(page):
    return sum(len(family.samples) for family in text_string_to_metric_families(page))


parse(pages[0])
cpu, start, parses, samples = time.process_time(), time.perf_counter(), 0, 0
while parses < MIN_PARSES or time.perf_counter() - start < SECONDS:
    samples = parse(pages[parses % 2])
    parses += 1
cpu_ms = (time.process_time() - cpu) * 1e3 / parses
print(json.dumps({"name": "python prometheus_client", "cpu_ms": round(cpu_ms, 3), "n": samples}))
