/**
 * The least that a client of paced-server on Node's sockets can do: it writes the bytes of one request again and again, and waits
 * for the bytes that end an answer. It reads no header, no event and no clock. Prints one JSON line.
 *
 * usage: socket-client.mjs PORT STREAMS TOKENS TTFT ITL TICK WARM_SECONDS SECONDS    (times in microseconds; jitter: $JIT)
 */
import { Buffer } from 'node:buffer';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const [port, streams, tokens, ttft, itl, tick, warmSeconds, seconds] = process.argv.slice(2).map(Number);
const body = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: '0'.repeat(200) }],
  max_completion_tokens: tokens,
  stream: true,
  stream_options: { include_usage: true },
});
const request = Buffer.from(
  [
    `POST /v1/chat/completions?n=${tokens}&t=${ttft}&i=${itl}&y=${tick}&j=${process.env.JIT ?? itl} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n'),
);
const END = Buffer.from('0\r\n\r\n');

let responses = 0;
let failed = 0;
for (let i = 0; i < streams; i++) sendRequests();
await sleep(warmSeconds * 1000);
responses = 0;
const cpuBefore = process.cpuUsage();
const start_ms = performance.now();
await sleep(seconds * 1000);
const { user, system } = process.cpuUsage(cpuBefore);
const measuredSeconds = (performance.now() - start_ms) / 1000;
console.log(
  JSON.stringify({
    name: 'sockets',
    cpu_us_per_chunk: (user + system) / Math.max(1, responses * tokens),
    chunks_per_s: (responses * tokens) / measuredSeconds,
    failed,
  }),
);
process.exit(0);

/** One request after the other on one connection. */
function sendRequests() {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request));
  socket.on('data', (bytes) => {
    if (!bytes.subarray(-END.length).equals(END)) return;
    responses++;
    socket.write(request);
  });
  socket.on('error', () => failed++);
}
