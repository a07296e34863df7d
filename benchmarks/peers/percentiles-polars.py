"""Prints p50, p90 and p99 of five measures of a file of records: percentiles-polars.py FILE."""

import json
import sys

import polars as pl

MEASURES = [
    ("first_content_ns", "sent_ns"),
    ("last_content_ns", "sent_ns"),
    ("last_content_ns", "due_ns"),
    ("last_content_ns", "first_content_ns"),
    ("sent_ns", "due_ns"),
]

expressions = [
    (pl.col(end) - pl.col(start)).quantile(q, interpolation="linear").alias(f"{i}-{q}")
    for i, (end, start) in enumerate(MEASURES)
    for q in (0.5, 0.9, 0.99)
]
values = list(pl.scan_parquet(sys.argv[1]).select(expressions).collect().row(0))
print(json.dumps({"values": values}))
