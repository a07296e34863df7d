import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { requestRecord, runFile } from '../fixtures/run.ts';
import { createLiveMetrics } from '../live-metrics.ts';
import { checkOtlp, OtlpPublisher } from './otlp-publisher.ts';

/** A message of the wire format of protobuf by field number: varints and fixed numbers as bigint, the rest as bytes. */
type Message = Map<number, (bigint | Buffer)[]>;

function decode(bytes: Buffer): Message {
  const message: Message = new Map();
  let at = 0;
  const varint = (): bigint => {
    let [value, shift] = [0n, 0n];
    for (; ; shift += 7n) {
      const byte = BigInt(bytes[at++] ?? 0);
      value |= (byte & 0x7fn) << shift;
      if (byte < 0x80n) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const values = message.get(key >> 3) ?? [];
    message.set(key >> 3, values);
    if ((key & 7) === 0) values.push(varint());
    else if ((key & 7) === 1) values.push(bytes.readBigUInt64LE((at += 8) - 8));
    else if ((key & 7) === 2) {
      const length = Number(varint());
      values.push(bytes.subarray(at, (at += length)));
    } else throw new Error(`wire type ${key & 7}`);
  }
  return message;
}

const all = (message: Message, field: number): Message[] =>
  (message.get(field) ?? []).map((bytes) => decode(bytes as Buffer));
const one = (message: Message, field: number): Message => all(message, field)[0] ?? new Map<number, never[]>();
const text = (message: Message, field: number): string => String(message.get(field)?.[0] ?? '');
const doubles = (bytes: Buffer): number[] =>
  Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(i * 8));
const fixed = (bytes: Buffer): number[] =>
  Array.from({ length: bytes.length / 8 }, (_, i) => Number(bytes.readBigUInt64LE(i * 8)));
const attributes = (pairs: readonly Message[]): Record<string, string> =>
  Object.fromEntries(pairs.map((pair) => [text(pair, 1), text(one(pair, 2), 1)]));

let server: Server;
let publisher: OtlpPublisher | null = null;
afterEach(async () => {
  await publisher?.close();
  publisher = null;
  server.close();
});

async function receiver(status: number): Promise<{ url: string; requests: { path: string; body: Message }[] }> {
  const requests: { path: string; body: Message }[] = [];
  server = createServer((request, response) => {
    void buffer(request).then((body) => {
      requests.push({ path: request.url ?? '', body: decode(body) });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const run = runFile({ status: 'running', start: '2026-11-03T10:15:00.000Z' });

async function published(url: string): Promise<readonly string[]> {
  const live = createLiveMetrics({ run, version: '1.2.3' });
  publisher = await OtlpPublisher.open({
    ...{ request: { url, intervalSeconds: 3600 }, run, version: '1.2.3', families: live.families },
    now_ms: () => Date.parse('2026-11-03T10:16:00.000Z'),
  });
  publisher.begin();
  for (const receives of [live, publisher.genAi]) {
    receives.firstContent?.('measure', 30e6, 30e6);
    receives.requestEnded?.(requestRecord({ sent_ns: 0, end_ns: 100e6, input_tokens: 12, output_tokens: 8 }));
  }
  publisher.end();
  return publisher.publish([], { hurried: false });
}

// Field numbers of opentelemetry-proto: metrics/v1/metrics.proto and common/v1/common.proto.
test('exports the families of the page and those of the conventions, with the facts of the run', async () => {
  const { url, requests } = await receiver(200);
  expect(await published(url)).toEqual([]);
  expect(requests.map(({ path }) => path)).toEqual(['/v1/metrics']);
  const resourceMetrics = one(requests[0]?.body ?? new Map<number, never[]>(), 1);
  expect(attributes(all(one(resourceMetrics, 1), 1))).toMatchObject({
    ...{ 'service.name': 'llmbench', 'service.version': '1.2.3', 'llmbench.run.id': run.run_id },
  });
  const metrics = new Map(all(one(resourceMetrics, 2), 2).map((metric) => [text(metric, 1), metric]));
  const duration = metrics.get('gen_ai.client.operation.duration') ?? new Map<number, never[]>();
  expect(text(duration, 3)).toBe('s');
  const histogram = one(duration, 9);
  // AGGREGATION_TEMPORALITY_CUMULATIVE
  expect(histogram.get(2)).toEqual([2n]);
  const point = one(histogram, 1);
  expect(attributes(all(point, 9))).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
  });
  expect(doubles(point.get(7)?.[0] as Buffer)).toEqual([
    ...[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  ]);
  expect(fixed(point.get(6)?.[0] as Buffer)).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect([point.get(2), point.get(3), point.get(4)]).toEqual([
    [BigInt(Date.parse('2026-11-03T10:15:00.000Z')) * 1_000_000n],
    [BigInt(Date.parse('2026-11-03T10:16:00.000Z')) * 1_000_000n],
    [1n],
  ]);
  const requestsTotal = one(metrics.get('llmbench_requests_total') ?? new Map<number, never[]>(), 7);
  expect(requestsTotal.get(3)).toEqual([1n]);
  const ok = all(requestsTotal, 1).find((each) => {
    const { phase, outcome } = attributes(all(each, 7));
    return phase === 'measure' && outcome === 'ok';
  });
  expect(ok?.get(4)?.[0]).toBe(Buffer.from(new Float64Array([1]).buffer).readBigUInt64LE());
});

test('a receiver that refuses is named in one line', async () => {
  const { url } = await receiver(400);
  expect(await published(url)).toEqual([
    expect.stringMatching(/^the run is not exported to http:\/\/127\.0\.0\.1:\d+: /),
  ]);
});

test.each(['collector:4318', 'ftp://collector'])('%s is no address', async (url) => {
  await expect(checkOtlp({ url, intervalSeconds: 10 })).rejects.toThrow('--otel-url must be http://host:4318');
});
