import { describe, expect, test } from '@jest/globals';
import { recordedPages } from '../../../fixtures/captures.ts';
import { windowOf } from '../series/statistics.ts';
import type { TargetStore } from '../series/target-store.ts';
import { collectionOfStores } from '../testing/aiperf-collection.ts';
import { pagesOf, replay } from '../testing/replay.ts';
import { serverRequests, whyCountsDiffer, cacheShare, type ClientRequests } from './request-counts.ts';

const client = (ok: number, errors: Record<string, number> = {}, cancelled = 0): ClientRequests => ({
  ok,
  error: Object.values(errors).reduce((sum, n) => sum + n, 0),
  timeout: 0,
  cancelled,
  errors,
});
const counted = (...stores: TargetStore[]) =>
  stores.map((store) => {
    const window = { start_ns: 0, end_ns: store.at_ns(store.scrapes - 1) };
    return { store, window: windowOf(store, window, window.end_ns), isRepeated: () => false };
  });

describe('equal populations are compared', () => {
  test('vLLM leaves aborted requests out', () => {
    const result = serverRequests(
      counted(replay(recordedPages('vllm/series.txt.br'))),
      client(191, { http_4xx: 4 }, 5),
    );
    expect(result).toMatchObject({
      family: 'vllm:e2e_request_latency_seconds',
      server: 191,
      client: 191,
      difference: 0,
    });
  });

  test('vLLM counts each text of a request, and an embedding model the query of a ranking, too', () => {
    const stores = counted(replay(recordedPages('vllm/series.txt.br')));
    const population = 'ok, each text by itself';
    expect(serverRequests(stores, { ...client(19), documents: 191 })).toMatchObject({
      ...{ population, server: 191, client: 191, difference: 0 },
    });
    expect(serverRequests(stores, { ...client(41), documents: 150 })).toMatchObject({ client: 191, difference: 0 });
    expect(serverRequests(stores, { ...client(40), documents: 150 })).toMatchObject({ client: 150, difference: 41 });
  });

  test("Triton's successes hold failed answers", () => {
    const pages = recordedPages('triton/series.txt.br');
    const result = serverRequests(counted(replay(pages)), client(229 + 246 + 250, { http_5xx: 12 }));
    expect(result).toMatchObject({ family: 'nv_inference_request_success', server: 737, client: 737, difference: 0 });
  });

  test.each(['smg', 'sglang-router'])('the gateway %s counts all except what it rejected itself', (name) => {
    const result = serverRequests(
      counted(replay(recordedPages(`${name}/series.txt.br`))),
      client(289, { http_4xx: 6 }, 5),
    );
    expect(result).toMatchObject({ family: 'smg_router_requests_total', server: 294, client: 294, difference: 0 });
  });

  test("Dynamo's frontend counts each request once, whatever its workers show", () => {
    const page = (name: string) => replay(recordedPages(`dynamo/a-steady-c8/scrapes/${name}.txt.br`));
    const result = serverRequests(counted(page('worker1'), page('frontend'), page('worker2')), client(200));
    expect(result).toMatchObject({ family: 'dynamo_frontend_requests_total', server: 200, difference: 0 });
  });

  test.each([
    // Written after the names that Ray, TGI and NIM document.
    ['vLLM inside Ray', 'ray_vllm:e2e_request_latency_seconds', 'vllm:e2e_request_latency_seconds'],
    ['vLLM inside a Ray without colons', 'ray_vllm_e2e_request_latency_seconds', 'vllm:e2e_request_latency_seconds'],
    ['NIM', 'e2e_request_latency_seconds', 'e2e_request_latency_seconds'],
  ])('%s', (_case, name, family) => {
    const page = (count: number): string =>
      [
        `# TYPE ${name} histogram`,
        ...['0.3', '+Inf'].map((le) => `${name}_bucket{model_name="m",WorkerId="w",le="${le}"} ${count}`),
        `${name}_sum{model_name="m",WorkerId="w"} ${count / 10}`,
        `${name}_count{model_name="m",WorkerId="w"} ${count}`,
        '',
      ].join('\n');
    const pages = [100, 140].map((count, i) => ({ unixSeconds: i, text: page(count) }));
    expect(serverRequests(counted(replay(pages)), client(40))).toMatchObject({ family, server: 40, difference: 0 });
  });

  test('TensorRT-LLM before 1.3.0, whose names have no prefix', () => {
    // Written after the collector.py of 1.1.0.
    const labels = 'engine_type="undefined",model_name="undefined"';
    const histogram = (name: string, count: number): string =>
      `# TYPE ${name} histogram\n${name}_bucket{${labels},le="+Inf"} ${count}\n${name}_sum{${labels}} 1\n${name}_count{${labels}} ${count}\n`;
    const page = (count: number): string =>
      [
        `# TYPE request_success_total counter\nrequest_success_total{${labels},finished_reason="length"} ${count}\n`,
        histogram('e2e_request_latency_seconds', count),
        histogram('request_queue_time_seconds', count),
      ].join('');
    const store = replay([7, 27].map((count, i) => ({ unixSeconds: i, text: page(count) })));
    expect(store.series.map(({ family }) => family.name)).toEqual([
      'trtllm_request_success_total',
      'trtllm_e2e_request_latency_seconds',
      'trtllm_request_queue_time_seconds',
    ]);
    expect(serverRequests(counted(store), client(20))).toMatchObject({ server: 20, difference: 0 });
  });

  test('TGI counts its answers', () => {
    const page = (count: number): string => `# TYPE tgi_request_success counter\ntgi_request_success ${count}\n`;
    const pages = [7, 27].map((count, i) => ({ unixSeconds: i, text: page(count) }));
    expect(serverRequests(counted(replay(pages)), client(20))).toMatchObject({
      ...{ family: 'tgi_request_success', server: 20, difference: 0 },
    });
  });

  test('SGLang and TensorRT-LLM', () => {
    const of = (name: string, ok: number) =>
      serverRequests(counted(replay(recordedPages(`${name}/series.txt.br`))), client(ok));
    expect(of('sglang', 144)).toMatchObject({ server: 144, difference: 0 });
    expect(of('trtllm', 141)).toMatchObject({ server: 141, difference: 0 });
  });
});

test('traffic of other clients is visible, replicas are added', () => {
  const page = (count: number): string =>
    `# TYPE vllm:e2e_request_latency_seconds histogram\nvllm:e2e_request_latency_seconds_bucket{le="+Inf"} ${count}\nvllm:e2e_request_latency_seconds_count ${count}`;
  const result = serverRequests(
    counted(replay(pagesOf(page(5), page(15))), replay(pagesOf(page(0), page(12)))),
    client(20),
  );
  expect(result).toMatchObject({ server: 22, client: 20, difference: 2 });
});

test('a family of an idle backend gives way to the one that counted', () => {
  const page = (count: number): string =>
    `# TYPE vllm:e2e_request_latency_seconds histogram\nvllm:e2e_request_latency_seconds_bucket{le="+Inf"} 0\nvllm:e2e_request_latency_seconds_count 0\n# TYPE nv_inference_request_success counter\nnv_inference_request_success{model="a"} ${count}`;
  const stores = counted(replay(pagesOf(page(2), page(42))));
  expect(serverRequests(stores, client(40))).toMatchObject({
    family: 'nv_inference_request_success',
    server: 40,
    difference: 0,
  });
  expect(serverRequests(counted(replay(pagesOf(page(2), page(2)))), client(40))).toMatchObject({
    family: 'vllm:e2e_request_latency_seconds',
    server: 0,
  });
});

test('no family that counts requests: nothing to compare', () => {
  expect(serverRequests(counted(replay(pagesOf('up 1', 'up 1'))), client(3))).toBeNull();
});

test('an unknown count is null, not 0', () => {
  const store = replay(pagesOf('# TYPE sglang:num_requests_total counter\nsglang:num_requests_total 5'));
  expect(serverRequests(counted(store), client(3))).toMatchObject({ server: null, difference: null });
});

describe('a difference', () => {
  const counts = (difference: number | null, population = 'ok') => ({
    ...{ family: 'f', population, server: difference === null ? null : 100 + difference, client: 100, difference },
  });

  test.each<[number | null, ClientRequests[], string | null]>([
    [0, [client(100, { malformed_event: 9 })], null],
    [null, [client(100)], null],
    [3, [client(100)], '+3 requests from other clients'],
    [1, [client(100, { connect_refused: 4, http_5xx: 2 })], '+1 request from other clients'],
    [
      9,
      [client(100, { malformed_event: 9 })],
      "+9 requests, which may be this run's own that failed at the client: 9 malformed_event",
    ],
    [
      5,
      [client(60, { no_finish: 2, http_429: 8 }), client(40, { no_finish: 1, malformed_event: 7 })],
      "+5 requests, which may be this run's own that failed at the client: 7 malformed_event, 3 no_finish",
    ],
    [
      12,
      [client(100, { malformed_event: 9 })],
      "+12 requests, of which at least 3 from other clients; up to 9 may be this run's own that failed at the client: 9 malformed_event",
    ],
    [-3, [client(100, { malformed_event: 9 })], 'the servers counted 3 requests fewer than the client'],
  ])('of %d is explained', (difference, parts, why) => {
    expect(whyCountsDiffer(counts(difference), parts)).toBe(why);
  });

  test('a gateway that counts failed requests too has none of them left', () => {
    const requests = counts(9, 'all except those rejected with 4xx');
    expect(whyCountsDiffer(requests, [client(100, { malformed_event: 9 })])).toBe('+9 requests from other clients');
  });
});

const counters = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .map(([series, value]) => `# TYPE ${series.replace(/\{.*/, '')} counter\n${series} ${value}`)
    .join('\n');

function shareOf(...targets: string[][]): number | null {
  const stores = targets.map((pages, i) => [`http://h:${i}/metrics`, replay(pagesOf(...pages))] as const);
  return cacheShare(
    collectionOfStores(new Map(stores), {
      zeroWall_ns: 0n,
      window: { start_ns: 0, end_ns: 2e9 },
      definitions: 'llmbench',
      slice_ns: null,
    }),
  );
}

const vllm = (cached: number, prompt: number): string =>
  counters({ 'vllm:prompt_tokens_cached_total': cached, 'vllm:prompt_tokens_total': prompt });

test('the increase of the counters in the window, over all targets', () => {
  // 300 of 1,000 and 100 of 600: earlier counts are excluded.
  const first = [vllm(50, 5000), vllm(60, 5100), vllm(350, 6000)];
  const second = [vllm(0, 0), vllm(100, 600), vllm(100, 600)];
  expect(shareOf(first, second)).toBe(400 / 1600);
});

test('nothing was cached: 0, not unknown', () => {
  expect(shareOf([vllm(7, 10), vllm(7, 20), vllm(7, 30)])).toBe(0);
});

test('SGLang: of the sources only their total', () => {
  const page = (cached: number, prompt: number): string =>
    [
      '# TYPE sglang:cached_tokens_total counter',
      `sglang:cached_tokens_total{cache_source="device"} ${cached}`,
      `sglang:cached_tokens_total{cache_source="total"} ${cached}`,
      counters({ 'sglang:prompt_tokens_total': prompt }),
    ].join('\n');
  expect(shareOf([page(0, 0), page(10, 50), page(25, 100)])).toBe(0.25);
});

test("Dynamo's frontend: the sums of its histograms", () => {
  const histogram = (name: string, count: number, sum: number): string =>
    `# TYPE ${name} histogram\n${name}_bucket{le="+Inf"} ${count}\n${name}_sum ${sum}\n${name}_count ${count}`;
  const page = (count: number, cached: number, prompt: number): string =>
    `${histogram('dynamo_frontend_cached_tokens', count, cached)}\n${histogram('dynamo_frontend_input_sequence_tokens', count, prompt)}`;
  expect(shareOf([page(0, 0, 0), page(1, 30, 100), page(4, 60, 400)])).toBe(0.15);
});

test.each([
  ['no counter of cached tokens', [1, 2, 3].map((n) => counters({ 'vllm:prompt_tokens_total': n }))],
  ['no prompt was read', [vllm(5, 5), vllm(5, 5), vllm(5, 5)]],
  ['nothing of the kind', [1, 2, 3].map((n) => counters({ other_total: n }))],
])('unknown: %s', (_, pages) => expect(shareOf(pages)).toBeNull());
