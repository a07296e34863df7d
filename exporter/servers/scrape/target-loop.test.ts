import { afterEach, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { Collector, type CollectorOptions } from './collector.ts';
import { find, gained, whole } from '../testing/find-series.ts';
import { until } from '../../../core/testing/until.ts';
import { metricsServer, page, type MetricsServer } from '../testing/metrics-server.ts';
import type { ScalarSeries } from '../series/series.ts';
import { parseTarget } from './targets.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

const now_ns = (): number => performance.now() * 1e6;
// Against hanging: a page on a busy machine may take its time.
const LIMITS = { connectTimeoutSeconds: 60, readTimeoutSeconds: 60, totalTimeoutSeconds: 120, maxBytes: 200_000 };
const SHORT_LIMITS = { ...LIMITS, readTimeoutSeconds: 1, totalTimeoutSeconds: 2.5 };

async function server(answer: Parameters<typeof metricsServer>[0], port?: number): Promise<MetricsServer> {
  const made = await metricsServer(answer, port);
  cleanUp.push(() => made.close());
  return made;
}

function collect(urls: readonly string[], options: Partial<CollectorOptions> = {}) {
  const lines: string[] = [];
  const collector = new Collector({
    targets: urls.map(parseTarget),
    interval_ns: 20e6,
    now_ns,
    report: (line) => lines.push(line),
    pageLimits: LIMITS,
    ...options,
  });
  cleanUp.push(() => collector.stop());
  const loop = (i = 0) => {
    const found = collector.loops[i];
    if (found === undefined) throw new Error(`there is no target ${i}`);
    return found;
  };
  return { collector, lines, loop };
}

test('scrapes a page repeatedly and recognizes its system', async () => {
  const target = await server((_, response, i) =>
    page(response, `# TYPE vllm:prompt_tokens_total counter\nvllm:prompt_tokens_total ${i}\n`),
  );
  const { collector, loop, lines } = collect([target.origin]);
  collector.start();
  await until(() => loop().store.scrapes >= 3);
  expect(loop()).toMatchObject({ system: 'vllm', state: 'up' });
  const [tokens] = find(loop().store, 'vllm:prompt_tokens_total') as ScalarSeries[];
  expect([0, 1, 2].map((change) => tokens?.value(change))).toEqual([0, 1, 2]);
  expect(loop().store.sent_ns(0)).toBeLessThanOrEqual(loop().store.at_ns(0));
  expect(loop().store.duration_ns(0)).toBeGreaterThan(0);
  expect(lines).toEqual([]);
  expect(collector.busySeconds).toBeGreaterThan(0);
});

test('a series that was created before the pages that lack it does not count from 0, by the clock of the server', async () => {
  const [hour, now] = [3_600_000, Date.now() - 7 * 86_400_000];
  const created = (of: string, at_ms: number, i: number): string =>
    `# TYPE ${of}_total counter\n${of}_total ${500 + i}\n# TYPE ${of}_created gauge\n${of}_created ${at_ms / 1000}\n`;
  const target = await server((_, response, i) => {
    response.setHeader('date', new Date(now + i * 1000).toUTCString());
    page(response, i === 0 ? 'up 1\n' : `up 1\n${created('old', now - hour, i)}${created('new', now + 1000, i)}`);
  });
  const { collector, loop } = collect([target.origin]);
  for (let i = 0; i < 3; i++) await collector.scrapeEdge();
  expect(gained(loop().store, 'old_total')).toBe(1);
  expect(gained(loop().store, 'new_total')).toBe(502);
});

test('one scrape in flight: a slow target is scraped again only after it has responded, and less often', async () => {
  let inFlight = 0;
  let most = 0;
  const slow = await server((_, response) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      page(response, 'x 1\n');
    }, 100);
  });
  const quick = await server((_, response) => page(response, 'x 1\n'));
  const { collector, loop } = collect([slow.origin, quick.origin]);
  collector.start();
  await until(() => loop(0).store.scrapes >= 1 && loop(1).store.scrapes >= 4);
  expect(most).toBe(1);
  expect(loop(0).interval_ns).toBeGreaterThanOrEqual(500e6);
  await until(() => loop(0).skipped > 0);
});

test('an edge scrape starts after the call, even when another one is in flight', async () => {
  const held: (() => void)[] = [];
  const target = await server((_, response, i) => {
    if (i === 0) held.push(() => page(response, `x ${i}\n`));
    else page(response, `x ${i}\n`);
  });
  const { collector, loop } = collect([target.origin], { interval_ns: 10e9 });
  collector.start();
  await until(() => held.length > 0);
  const edge = collector.scrapeEdge();
  held[0]?.();
  await edge;
  expect(loop().store.scrapes).toBe(2);
  const [x] = find(loop().store, 'x') as ScalarSeries[];
  expect(x?.value(1)).toBe(1);
});

describe('a response that is not a metrics page is reported once and not retried', () => {
  test.each([
    ['HTML', 'text/html', '<html>hello</html>', /HTML/],
    ['JSON of another kind', 'application/json', '{"status":"ok"}', /JSON that is not metrics/],
    ['an array of another kind', 'application/json', '[1,2]', /JSON that is not metrics/],
    ['text', 'text/plain', 'hello, world\n', /cannot be parsed as metrics/],
    ['a page too large', 'text/plain', 'x 1\n'.repeat(100_000), /larger than/],
  ])('%s', async (_name, contentType, body, message) => {
    const target = await server((request, response) => {
      response.writeHead(request.url === '/metrics' ? 200 : 404, { 'content-type': contentType });
      response.end(body);
    });
    const { collector, loop, lines } = collect([target.origin]);
    collector.start();
    await until(() => loop().state === 'not_metrics');
    const asked = target.asked.length;
    await collector.scrapeEdge();
    expect(target.asked).toHaveLength(asked);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(message);
  });

  test('an endless body', async () => {
    const target = await server((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    });
    const { collector, loop, lines } = collect([target.origin]);
    collector.start();
    await until(() => loop().state === 'not_metrics');
    expect(lines).toEqual([expect.stringMatching(/larger than/)]);
  });
});

describe('transient failures are retried', () => {
  test('silence, and a page that trickles', async () => {
    const silent = await server(() => undefined);
    const trickle = await server((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const timer = setInterval(() => response.write('#'), 50);
      response.on('close', () => clearInterval(timer));
    });
    const { collector, loop, lines } = collect([silent.origin, trickle.origin], { pageLimits: SHORT_LIMITS });
    collector.start();
    await until(() => loop(0).store.scrapes >= 1 && loop(1).store.scrapes >= 1);
    expect(loop(0).store.failureOf(0)).toMatch(/no data/);
    expect(loop(1).store.failureOf(0)).toMatch(/not complete/);
    expect([loop(0).state, loop(1).state]).toEqual(['waiting', 'waiting']);
    expect(lines).toHaveLength(2);
  });

  test('a late target joins; one that disappears leaves a gap; one that returns continues', async () => {
    const first = await metricsServer((_, response) => page(response, 'x 1\n'));
    const { port } = first;
    await first.close();
    const { collector, loop, lines } = collect([`127.0.0.1:${port}`]);
    collector.start();
    await until(() => loop().store.scrapes >= 1);
    expect(loop().state).toBe('waiting');
    const second = await metricsServer((_, response) => page(response, 'x 1\n'), port);
    await until(() => loop().state === 'up');
    await second.close();
    await until(() => loop().state === 'gone');
    await server((_, response) => page(response, 'x 2\n'), port);
    await until(() => loop().state === 'up');
    expect(lines[0]).toMatch(/refused; the scrape is retried/);
    expect(lines.at(-1)).toMatch(/responds again/);
  });

  test('half a page between good ones does not change what was stored', async () => {
    const target = await server((_, response, i) => page(response, i === 1 ? '# TYPE x counter\nx{a="' : `x ${i}\n`));
    const { collector, loop } = collect([target.origin]);
    collector.start();
    await until(() => loop().store.scrapes >= 3);
    expect([0, 1, 2].map((i) => loop().store.isOk(i))).toEqual([true, false, true]);
    expect(loop().store.series).toHaveLength(1);
  });
});

test('an unresponsive target does not delay the edges of the run', async () => {
  const silent = await server(() => undefined);
  const { collector, loop } = collect([silent.origin], { interval_ns: 60e9, pageLimits: SHORT_LIMITS });
  await collector.scrapeEdge();
  expect(loop().store.failureOf(0)).toMatch(/no data/);
  await collector.scrapeEdge();
  expect(silent.asked).toHaveLength(1);
});

describe('a target that never responds', () => {
  const patient = { interval_ns: 60e9, pageLimits: { ...LIMITS, readTimeoutSeconds: 600, totalTimeoutSeconds: 600 } };
  const trickling: Parameters<typeof metricsServer>[0] = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write('#');
  };

  test.each([
    ['silent', (): void => undefined, 'no answer for '],
    ['trickling', trickling, 'no complete page after '],
  ])('%s: waited for once, and reported once at the end', async (_name, answer, message) => {
    const target = await server(answer);
    const { collector, loop, lines } = collect([target.origin], patient);
    await collector.scrapeEdge();
    expect(collector.isOverdue(loop(0))).toBe(true);
    // Nothing is awaited a second time: the promise resolves before any timer can fire.
    const timer = new Promise<string>((resolve) => setTimeout(() => resolve('timer'), 0));
    expect(await Promise.race([collector.scrapeEdge().then(() => 'edge'), timer])).toBe('edge');
    expect(target.asked).toHaveLength(1);
    await collector.stop();
    expect(loop().store.scrapes).toBe(1);
    expect(loop().store.failureOf(0)).toMatch(new RegExp(`^${message}[\\d.]+ s$`));
    expect(lines).toEqual([`metrics of ${target.origin}/metrics: ${String(loop().store.failureOf(0))}`]);
  });

  test('a scrape that has just started when the collection ends is not a failure', async () => {
    const target = await server((_, response, i) => (i === 0 ? page(response, 'x 1\n') : undefined));
    const { collector, loop, lines } = collect([target.origin], patient);
    await collector.scrapeEdge();
    void collector.scrapeEdge();
    await until(() => target.asked.length === 2);
    await collector.stop();
    expect(loop()).toMatchObject({ state: 'up', store: { scrapes: 1 } });
    expect(lines).toEqual([]);
  });
});

describe('no page at this path: the message suggests addresses and settings', () => {
  test.each([
    ['', /HTTP 404; it is not scraped again; .*triton=127\.0\.0\.1.*smg=127\.0\.0\.1.*--enable-metrics/],
    ['triton=', /HTTP 404; it is not scraped again; (?!.*triton=).*--enable-metrics/],
  ])("named '%s'", async (name, line) => {
    const target = await server((_, response) => response.writeHead(404).end());
    const { collector, lines } = collect([`${name}${target.origin}`]);
    await collector.scrapeEdge();
    expect(lines).toEqual([expect.stringMatching(line)]);
  });
});

describe('a page that ends without a newline', () => {
  const counter = (value: string): string => `# TYPE x_total counter\nx_total ${value}`;
  const ways: [string, (response: ServerResponse, text: string) => void][] = [
    ['with a length', page],
    [
      'with the connection',
      (response, text) =>
        response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${text}`),
    ],
  ];

  test.each(ways)('%s: its last line is not used, and the rest counts', async (_, answer) => {
    const pages = [1000, 1100, 1251, 1300].map((n) => `# TYPE y_total counter\ny_total ${n}\n${counter(String(n))}\n`);
    const target = await server((_request, response, i) =>
      answer(response, i === 2 ? (pages[2]?.slice(0, -3) ?? '') : (pages[i] ?? '')),
    );
    const { loop } = collect([target.origin]);
    for (let i = 0; i < 3; i++) await loop().scrapeEdge();
    expect(whole(loop().store, 'x_total')).toMatchObject([{ increase: null, resets: 0 }]);
    expect(gained(loop().store, 'y_total')).toBe(251);
    await loop().scrapeEdge();
    expect(whole(loop().store, 'x_total')).toMatchObject([{ increase: 300, resets: 0 }]);
    expect(gained(loop().store, 'y_total')).toBe(300);
    expect(loop().store.cutPages).toBe(1);
  });

  test.each([
    ['the beginning of a comment', '# TYPE x_to', 'waiting'],
    ['a single value', 'x_total 1', 'waiting'],
    ['a single value with its type', counter('1'), 'waiting'],
    ['something else', 'Not found', 'not_metrics'],
  ])('and has no other line: %s', async (_, text, state) => {
    const target = await server((_request, response) => page(response, text));
    const { loop } = collect([target.origin]);
    await loop().scrapeEdge();
    expect(loop().state).toBe(state);
  });

  test('OpenMetrics without its end mark is read again later, from the first page on', async () => {
    const text = '# TYPE x counter\nx_total 1251\n# EOF\n';
    for (let length = 1; length < text.length - 1; length++) {
      const target = await server((_request, response, i) => {
        response.writeHead(200, { 'content-type': 'application/openmetrics-text; version=1.0.0' });
        response.end(i === 0 ? text.slice(0, length) : text);
      });
      const { loop } = collect([target.origin]);
      for (let i = 0; i < 2; i++) await loop().scrapeEdge();
      expect([0, 1].map((scrape) => loop().store.failureOf(scrape))).toEqual([
        expect.stringContaining('the page is cut off'),
        null,
      ]);
    }
  });
});

test('start times that alternate: several servers behind one address', async () => {
  const target = await server((_, response, i) =>
    page(response, `process_start_time_seconds ${i % 2 === 0 ? 1000 : 2000}\nx_total ${i}\n`),
  );
  const { collector, loop, lines } = collect([target.origin]);
  collector.start();
  await until(() => loop().state === 'several_servers');
  expect(lines).toEqual([expect.stringMatching(/several servers.*--server-metrics/)]);
});

describe('TensorRT-LLM', () => {
  test('JSON on /metrics leads to the Prometheus page beside it', async () => {
    const target = await server((request, response) => {
      if (request.url === '/prometheus/metrics')
        page(response, '# TYPE trtllm_num_requests_running gauge\ntrtllm_num_requests_running 3\n');
      else response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
    });
    const { collector, loop, lines } = collect([target.origin]);
    collector.start();
    await until(() => loop().store.scrapes >= 3);
    expect(loop().system).toBe('trtllm');
    expect(target.asked.filter((path) => path === '/metrics')).toHaveLength(1);
    expect(lines).toEqual([expect.stringMatching(/prometheus\/metrics/)]);
  });

  test('without one, its iteration statistics become families, and an empty response changes nothing', async () => {
    const rows = [
      [{ iter: 1, iterLatencyMS: 10, numActiveRequests: 3, numNewActiveRequests: 2 }],
      [],
      [
        { iter: 2, iterLatencyMS: 20, numActiveRequests: 4, numNewActiveRequests: 1 },
        { iter: 5, iterLatencyMS: 30, numActiveRequests: 5, numNewActiveRequests: 4 },
      ],
    ];
    let read = 0;
    const target = await server((request, response) => {
      if (request.url !== '/metrics') response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rows[read++] ?? []));
    });
    const { collector, loop, lines } = collect([target.origin]);
    collector.start();
    await until(() => loop().store.scrapes >= 4);
    const { store } = loop();
    const [started] = find(store, 'trtllm_iter_new_active_requests_total') as ScalarSeries[];
    expect([0, 1, 2].map((scrape) => started?.value(started.changeAt(scrape)))).toEqual([2, 2, 7]);
    const [active] = find(store, 'trtllm_iter_active_requests') as ScalarSeries[];
    expect(active?.value(active.changes - 1)).toBe(5);
    const [missed] = find(store, 'trtllm_iter_rows_missed_total') as ScalarSeries[];
    expect(missed?.value(missed.changes - 1)).toBe(2);
    expect(lines).toEqual([expect.stringMatching(/takes them away/)]);
  });
});
