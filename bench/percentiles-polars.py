"""Prints p50, p90 and p99 of five measures of a file of records, and what that cost: percentiles-polars.py FILE."""

import json
import resource
import sys
import time

import polars as pl

MEASURES = [
    ("first_content_ns", "sent_ns"),
    ("last_content_ns", "sent_ns"),
    ("last_content_ns", "due_ns"),
    ("last_content_ns", "first_content_ns"),
    ("sent_ns", "due_ns"),
]

begin = time.perf_counter()
expressions = [
    (pl.col(end) - pl.col(start)).quantile(q, interpolation="linear").alias(f"{i}-{q}")
    for i, (end, start) in enumerate(MEASURES)
    for q in (0.5, 0.9, 0.99)
]
values = list(pl.scan_parquet(sys.argv[1]).select(expressions).collect().row(0))
wall_ms = (time.perf_counter() - begin) * 1000
usage = resource.getrusage(resource.RUSAGE_SELF)
cpu_ms = (usage.ru_utime + usage.ru_stime) * 1000
print(json.dumps({"name": "polars", "wall_ms": wall_ms, "cpu_ms": cpu_ms, "max_rss_mb": usage.ru_maxrss / 1024, "values": values}))
