"""CPU time and memory of reading AIPerf's records with orjson: the fields that a run keeps. Prints one JSON line.

usage: read-aiperf-records.py FILE
"""

import json
import resource
import sys
import time

import orjson

ZERO_NS = 1795279610000000000

requests = tokens = gaps = 0
before = time.process_time()
with open(sys.argv[1], "rb") as file:
    for line in file:
        record = orjson.loads(line)
        metadata, metrics = record["metadata"], record["metrics"]

        def value(tag):
            return metrics[tag]["value"] if tag in metrics else None

        fields = (
            metadata["benchmark_phase"],
            metadata.get("credit_issued_ns"),
            metadata["request_start_ns"] - ZERO_NS,
            metadata["request_end_ns"] - ZERO_NS,
            metadata["was_cancelled"],
            value("time_to_first_token"),
            value("time_to_first_output_token"),
            value("request_latency"),
            value("usage_prompt_tokens"),
            value("usage_completion_tokens"),
            value("usage_reasoning_tokens"),
            value("input_sequence_length"),
            value("output_sequence_length"),
            value("osl_mismatch_diff_pct"),
            value("inter_chunk_latency"),
            record.get("error"),
        )
        requests += 1
        tokens += fields[9]
        gaps += len(fields[14])
cpu_s = time.process_time() - before
peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"cpu_s": cpu_s, "peak_mb": peak_mb, "requests": requests, "tokens": tokens, "gaps": gaps}))
