import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { main } from '../exporter/cli/main.ts';
import { RawTransport } from '../exporter/load/transports/raw/raw-transport.ts';
import type {
  ConnectionFacts,
  ResponseHandler,
  TransportFailure,
  Exchange,
  Transport,
  TransportRequest,
} from '../exporter/load/transports/transport.ts';
import { UndiciTransport } from '../exporter/load/transports/undici-transport.ts';
import { pacedUrl } from './paced-server.ts';

const ID_START = 'data: {"id":"chatcmpl-'.length;
const ID_END = ID_START + 19;
const MIN_CONTENT_EVENT = 230;
const MAX_CHUNKS = 1 << 23;

/** Compares each piece's stamp with the time that its event carries, and counts what failed. */
class StampErrors {
  readonly #errors_ms = new Float64Array(MAX_CHUNKS);
  #chunks = 0;
  #failed = 0;

  /** A handler that takes note of what it passes on. */
  watching(handler: ResponseHandler): ResponseHandler {
    return new WatchingHandler(handler, this);
  }

  /** Takes note of bytes[start, end). */
  note(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    if (end - start < MIN_CONTENT_EVENT || bytes[start] !== 100) return;
    let written_ns = 0;
    for (let i = start + ID_START; i < start + ID_END; i++) written_ns = written_ns * 10 + (bytes[i] ?? 0) - 48;
    if (this.#chunks < MAX_CHUNKS) this.#errors_ms[this.#chunks] = (stamp_ns - written_ns) / 1e6;
    this.#chunks++;
  }

  /** Requests that are cancelled at the end of a run did not fail. */
  noteFailure(failure: TransportFailure): void {
    if (failure.reason !== 'cancelled') this.#failed++;
  }

  reset(): void {
    this.#chunks = 0;
  }

  get failed(): number {
    return this.#failed;
  }

  summary(): { chunks: number; p50_ms: number | null; p99_ms: number | null; p999_ms: number | null } {
    const sorted = this.#errors_ms.slice(0, Math.min(this.#chunks, MAX_CHUNKS)).sort();
    const at = (q: number): number | null => {
      const value = sorted[Math.floor(q * (sorted.length - 1))];
      return value === undefined ? null : Number(value.toFixed(3));
    };
    return { chunks: this.#chunks, p50_ms: at(0.5), p99_ms: at(0.99), p999_ms: at(0.999) };
  }
}

class WatchingHandler implements ResponseHandler {
  readonly #handler: ResponseHandler;
  readonly #errors: StampErrors;

  constructor(handler: ResponseHandler, errors: StampErrors) {
    this.#handler = handler;
    this.#errors = errors;
  }

  head(status: number, headers: Readonly<Record<string, string>>, connection: ConnectionFacts): void {
    this.#handler.head(status, headers, connection);
  }

  data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#errors.note(stamp_ns, bytes, start, end);
    this.#handler.data(stamp_ns, bytes, start, end);
  }

  end(stamp_ns: number): void {
    this.#handler.end(stamp_ns);
  }

  failed(stamp_ns: number, failure: TransportFailure, connection: ConnectionFacts): void {
    this.#errors.noteFailure(failure);
    this.#handler.failed(stamp_ns, failure, connection);
  }
}

/**
 * The client's side of the stream benches: the whole program, `llmbench run`, against a paced server whose events carry,
 * in their id, the CLOCK_MONOTONIC nanosecond at which they were written. Prints one JSON line when it has measured.
 *
 * usage: node benchmarks/stream-client.ts [--transport auto|raw|undici]
 *          <port> <streams> <tokens> <ttft µs> <itl µs> <tick µs> <warm s> <seconds>
 */

/**
 * From now on every transport of this process, whichever was chosen, shows its responses to `errors` first. The program under
 * measurement stays whole and knows nothing of it. Resolves when that many requests were sent.
 */
function watchTransports(errors: StampErrors, requests: number): Promise<void> {
  let sent = 0;
  return new Promise((resolve) => {
    for (const { prototype } of [UndiciTransport, RawTransport]) {
      const send = sendOf(prototype);
      prototype.send = function (this: Transport, request: TransportRequest, handler: ResponseHandler): Exchange {
        if (++sent === requests) resolve();
        return send.call(this, request, errors.watching(handler));
      };
    }
  });
}

function sendOf(prototype: Transport): Transport['send'] {
  const send = Object.getOwnPropertyDescriptor(prototype, 'send')?.value as Transport['send'] | undefined;
  if (send === undefined) throw new Error('the transport has no method send');
  return send;
}

/** The run lasts a little longer than it is measured. */
const REST_SECONDS = 0.5;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    transport: { type: 'string', default: 'auto' },
  },
});
const [port = 0, streams = 0, tokens = 0, ttft_us = 0, itl_us = 0, tick_us = 0, warmSeconds, seconds] =
  positionals.map(Number);
if (warmSeconds === undefined || seconds === undefined) {
  throw new Error('usage: stream-client.ts port streams tokens ttft_us itl_us tick_us warm_s seconds');
}
const jitter_us = Number(process.env.JIT ?? itl_us);
const url = pacedUrl(port, { streams, tokens, ttft_us, itl_us, tick_us, jitter_us });
const runsDirectory = await mkdtemp(join(tmpdir(), 'llmbench-stream-'));
const options = {
  url,
  model: 'm',
  concurrency: streams,
  isl: 40,
  osl: tokens,
  'benchmark-duration': warmSeconds + seconds + REST_SECONDS,
  'benchmark-grace-period': 0,
  'runs-dir': runsDirectory,
  transport: flags.transport,
  'metrics-port': 0,
  linger: 'no',
  // The pages of a bench never say that their servers are idle.
  'drain-timeout': 0,
};
const errors = new StampErrors();
// One more than there are streams: the probe comes first.
const allSent = watchTransports(errors, streams + 1);
const optionArguments = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
const run = main(['run', ...optionArguments]);
const started = await Promise.race([allSent.then(() => true), run.then(() => false)]);
if (started) console.log(JSON.stringify(await measure(warmSeconds, seconds)));
await run;
await rm(runsDirectory, { recursive: true });

async function measure(warm_s: number, measured_s: number): Promise<Readonly<Record<string, unknown>>> {
  await sleep(warm_s * 1000);
  errors.reset();
  const cpuAtStart = process.cpuUsage();
  const start = performance.now();
  await sleep(measured_s * 1000);
  const { user, system } = process.cpuUsage(cpuAtStart);
  const elapsed_s = (performance.now() - start) / 1000;
  const { chunks, p50_ms, p99_ms, p999_ms } = errors.summary();
  return {
    name: 'llmbench',
    cpu_us_per_chunk: Number(((user + system) / Math.max(1, chunks)).toFixed(2)),
    chunks_per_s: Math.round(chunks / elapsed_s),
    err_p50_ms: p50_ms,
    err_p99_ms: p99_ms,
    err_p999_ms: p999_ms,
    rss_mb: Math.round(process.memoryUsage.rss() / 1e6),
    failed: errors.failed,
  };
}
