"""A streaming client of paced-server that reads as AIPerf does: aiohttp on uvloop, every event stamped and kept, its JSON
parsed after the stream. Prints one JSON line.

usage: stream-client.py PORT STREAMS TOKENS TTFT ITL TICK WARM_SECONDS SECONDS    (times in microseconds; jitter: $JIT)
"""

import asyncio
import json
import os
import sys
import time

import aiohttp
import uvloop

PORT, STREAMS, TOKENS, TTFT, ITL, TICK = map(int, sys.argv[1:7])
WARM_SECONDS, SECONDS = map(float, sys.argv[7:9])
JITTER = os.environ.get("JIT", ITL)
URL = f"http://127.0.0.1:{PORT}/v1/chat/completions?n={TOKENS}&t={TTFT}&i={ITL}&y={TICK}&j={JITTER}"
BODY = json.dumps(
    {
        "model": "m",
        "messages": [{"role": "user", "content": "0" * 200}],
        "max_completion_tokens": TOKENS,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
)
HEADERS = {"content-type": "application/json"}
STAMP = slice(22, 41)  # of the server's clock in an event

first_errors_us, errors_us = [], []


async def stream(session):
    now = time.monotonic_ns
    while True:
        is_first, rest, kept = True, b"", []
        async with session.post(URL, data=BODY, headers=HEADERS) as response:
            async for block in response.content.iter_any():
                read_at = now()
                events = (rest + block).split(b"\n\n")
                rest = events.pop()
                for event in events:
                    if event[6:7] != b"{":
                        continue
                    kept.append((read_at, event))
                    if b'"choices":[]' in event:
                        continue
                    error_us = (read_at - int(event[STAMP])) / 1e3
                    errors_us.append(error_us)
                    if is_first:
                        first_errors_us.append(error_us)
                        is_first = False
        for _, event in kept:
            json.loads(event[6:])


def percentile_ms(values, share):
    return round(values[int(share * (len(values) - 1))] / 1e3, 3) if values else None


async def main():
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as session:
        tasks = [asyncio.create_task(stream(session)) for _ in range(STREAMS)]
        await asyncio.sleep(WARM_SECONDS)
        first_errors_us.clear()
        errors_us.clear()
        cpu, start = time.process_time(), time.perf_counter()
        await asyncio.sleep(SECONDS)
        cpu, seconds = time.process_time() - cpu, time.perf_counter() - start
        chunks, failed = len(errors_us), sum(task.done() for task in tasks)
        errors_us.sort()
        first_errors_us.sort()
        result = {
            "name": "python",
            "cpu_us_per_chunk": round(cpu * 1e6 / max(1, chunks), 2),
            "chunks_per_s": round(chunks / seconds),
            "ttft_err_p50_ms": percentile_ms(first_errors_us, 0.5),
            "err_p50_ms": percentile_ms(errors_us, 0.5),
            "err_p99_ms": percentile_ms(errors_us, 0.99),
            "failed": failed,
        }
        print(json.dumps(result), flush=True)
        os._exit(0)  # without waiting for the streams


uvloop.run(main())
