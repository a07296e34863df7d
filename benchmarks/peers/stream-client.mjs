/**
 * A client of paced-server on undici's `dispatch` that does nothing but stamp. Prints one JSON line.
 *
 * usage: stream-client.mjs PORT STREAMS TOKENS TTFT ITL TICK WARM_SECONDS SECONDS    (times in microseconds; jitter: $JIT)
 */
import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

const [port, streams, tokens, ttft, itl, tick, warmSeconds, seconds] = process.argv.slice(2).map(Number);
const path = `/v1/chat/completions?n=${tokens}&t=${ttft}&i=${itl}&y=${tick}&j=${process.env.JIT ?? itl}`;
const body = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: '0'.repeat(200) }],
  max_completion_tokens: tokens,
  stream: true,
  stream_options: { include_usage: true },
});
const headers = { 'content-type': 'application/json' };
const LINE_FEED = 10;
const BRACE = 123;
/** Where the server's clock is in an event. */
const STAMP = { start: 22, end: 41 };
/** The event with the usage is shorter than those with a token. */
const MIN_TOKEN_EVENT = 231;

/** Stamps the events of one answer. */
class EventReader {
  #rest = null;
  #hasFirst = false;

  read(received) {
    const now_ms = performance.now() + clockOffset_ms;
    const bytes = this.#rest === null ? received : Buffer.concat([this.#rest, received]);
    let start = 0;
    for (let end = eventEnd(bytes, start); end >= 0; end = eventEnd(bytes, start)) {
      if (bytes[start + 6] === BRACE && end - start >= MIN_TOKEN_EVENT) this.#count(bytes, start, now_ms);
      start = end + 2;
    }
    this.#rest = start < bytes.length ? Buffer.from(bytes.subarray(start)) : null;
  }

  #count(bytes, start, now_ms) {
    let stamp_ns = 0;
    for (let i = start + STAMP.start; i < start + STAMP.end; i++) stamp_ns = stamp_ns * 10 + bytes[i] - 48;
    const error_ms = now_ms - stamp_ns / 1e6;
    chunks++;
    add(errors, error_ms);
    if (!this.#hasFirst) add(firstErrors, error_ms);
    this.#hasFirst = true;
  }
}

const clockOffset_ms = monotonicOffset();
const errors = { values: new Float64Array(1 << 23), count: 0 };
const firstErrors = { values: new Float64Array(1 << 20), count: 0 };
let chunks = 0;
let failed = 0;

const pool = new Pool(`http://127.0.0.1:${port}`, { connections: streams, headersTimeout: 0, bodyTimeout: 0 });
for (let i = 0; i < streams; i++) sendRequests();
await sleep(warmSeconds * 1000);
errors.count = firstErrors.count = chunks = 0;
const cpuBefore = process.cpuUsage();
const start_ms = performance.now();
await sleep(seconds * 1000);
const { user, system } = process.cpuUsage(cpuBefore);
const measuredSeconds = (performance.now() - start_ms) / 1000;
const sorted = ({ values, count }) => values.subarray(0, count).sort();
const [all, first] = [sorted(errors), sorted(firstErrors)];
console.log(
  JSON.stringify({
    name: 'undici',
    cpu_us_per_chunk: (user + system) / Math.max(1, chunks),
    chunks_per_s: chunks / measuredSeconds,
    ttft_err_p50_ms: percentile(first, 0.5),
    err_p50_ms: percentile(all, 0.5),
    err_p99_ms: percentile(all, 0.99),
    failed,
  }),
);
process.exit(0);

/** One request after the other. */
function sendRequests() {
  const reader = new EventReader();
  pool.dispatch(
    { path, method: 'POST', headers, body },
    {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData: (_, bytes) => reader.read(bytes),
      onResponseEnd: sendRequests,
      onResponseError() {
        failed++;
        sendRequests();
      },
    },
  );
}

/** The next two line feeds from `start`, or -1. */
function eventEnd(bytes, start) {
  let at = bytes.indexOf(LINE_FEED, start);
  while (at >= 0 && at + 1 < bytes.length && bytes[at + 1] !== LINE_FEED) at = bytes.indexOf(LINE_FEED, at + 1);
  return at >= 0 && at + 1 < bytes.length ? at : -1;
}

function add(list, value) {
  if (list.count < list.values.length) list.values[list.count++] = value;
}

function percentile(ascending, share) {
  return ascending.length === 0 ? null : ascending[Math.floor(share * (ascending.length - 1))];
}

/** What to add to `performance.now()` to have the monotonic clock in milliseconds: the best of 50 comparisons. */
function monotonicOffset() {
  let best = { width: Infinity, offset: 0 };
  for (let i = 0; i < 50; i++) {
    const before = performance.now();
    const monotonic_ms = Number(process.hrtime.bigint()) / 1e6;
    const after = performance.now();
    if (after - before < best.width) best = { width: after - before, offset: monotonic_ms - (before + after) / 2 };
  }
  return best.offset;
}
