import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { OPEN_ACCESS } from '../../servers/scrape/targets.ts';
import { readRecordedLoad } from './recorded-load.ts';

const START = 1_800_000_000;
const SECONDS = 400;
const INTERVAL = 5;
/** Requests per second, all with prompts of up to 100 tokens. */
const RATE = 2;

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** The query API of a Prometheus that scraped a vLLM every five seconds, but at the times for which `isMissing`. */
async function prometheus(isMissing: (second: number) => boolean): Promise<string> {
  const times = Array.from({ length: SECONDS / INTERVAL + 1 }, (_, i) => i * INTERVAL).filter((at) => !isMissing(at));
  const series = (name: string, labels: object, value: (second: number) => number) => ({
    metric: { __name__: name, job: 'vllm', instance: 'a:1', ...labels },
    value,
  });
  const all = [
    series('up', {}, () => 1),
    ...['100', '+Inf'].map((le) => series('vllm:request_prompt_tokens_bucket', { le }, (second) => second * RATE)),
    series('vllm:request_prompt_tokens_sum', {}, (second) => second * RATE * 60),
    series('vllm:request_prompt_tokens_count', {}, (second) => second * RATE),
  ];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const to = Number(searchParams.get('time'));
    const from = to - Number(/\[(\d+)ms\]/.exec(searchParams.get('query') ?? '')?.[1] ?? 0) / 1000;
    const shown = times.filter((second) => START + second > from && START + second <= to);
    const result = all.map(({ metric, value }) => ({
      metric,
      values: shown.map((second) => [START + second, String(value(second))]),
    }));
    const data = pathname.endsWith('/metadata') ? {} : { resultType: 'matrix', result };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ status: 'success', data }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function load(isMissing: (second: number) => boolean) {
  const window = { from: new Date(START * 1000), to: new Date((START + SECONDS) * 1000) };
  return readRecordedLoad(
    {
      url: await prometheus(isMissing),
      access: OPEN_ACCESS,
      selector: '{job="vllm"}',
      ...window,
      signal: new AbortController().signal,
    },
    { compress: 1, scale: 1 },
  );
}

test('a steady load has as many requests in each slot', async () => {
  const { source } = await load(() => false);
  expect(source.slot_seconds).toBe(20);
  expect(source.requests).toEqual(Array.from({ length: 20 }, () => 40));
});

test('what was counted over a gap is divided over it, and the gap is stated', async () => {
  const { source, notes } = await load((second) => second > 100 && second < 200);
  expect(source.requests).toEqual(Array.from({ length: 20 }, () => 40));
  expect(notes).toContain('not recorded for 80 s: the requests of that time are planned at an even rate');
});
