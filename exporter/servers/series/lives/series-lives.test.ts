import { describe, expect, test } from '@jest/globals';
import { find, gained, whole } from '../../testing/find-series.ts';
import { recordedPages } from '../../../../fixtures/captures.ts';
import { pagesOf, replay } from '../../testing/replay.ts';
import type { TargetStore } from '../target-store.ts';

const counter = (value: number, name = 'x_total', labels = ''): string =>
  `# TYPE ${name} counter\n${name}${labels} ${value}`;
const ttft = (count: number, sum = count / 2): string => histogram('ttft', [['1', count]], count, sum);
const histogram = (name: string, buckets: readonly [string, number][], count: number, sum: number): string =>
  [
    `# TYPE ${name} histogram`,
    ...buckets.map(([le, n]) => `${name}_bucket{le="${le}"} ${n}`),
    `${name}_bucket{le="+Inf"} ${count}`,
    `${name}_sum ${sum}`,
    `${name}_count ${count}`,
  ].join('\n');
const increaseOf = (store: TargetStore, name: string, labels: Record<string, string>): number | null | undefined => {
  const [series] = whole(store, name, labels);
  return series?.kind === 'counter' ? series.increase : undefined;
};
const known = ({ restarts, unclear, severalServers }: TargetStore) => ({ restarts, unclear, severalServers });
const NOTHING = { restarts: [], unclear: [], severalServers: null };

describe('a family that appears with its first observation hides a restart', () => {
  const up = '# TYPE up gauge\nup 1';

  test('a page that lacks it, between two that have it, shows the restart', () => {
    const pages = [ttft(5), ttft(9), null, up, ttft(16), ttft(40), ttft(64)];
    const store = replay(pagesOf(...pages));
    expect(gained(store, 'ttft')).toBe(4 + 64);
    expect(known(store)).toEqual({ ...NOTHING, restarts: [4] });
    expect(whole(store, 'ttft')).toMatchObject([{ resets: 1 }]);
  });

  test('an unchanged start time proves that the process is the same', () => {
    const start = 'process_start_time_seconds 1000';
    const store = replay(pagesOf(`${ttft(5)}\n${start}`, start, `${ttft(16)}\n${start}`));
    expect(gained(store, 'ttft')).toBe(11);
    expect(known(store)).toEqual(NOTHING);
  });

  test('an uptime proves it either way', () => {
    const uptime = (seconds: number): string => `# TYPE a_uptime_seconds gauge\na_uptime_seconds ${seconds}`;
    const lived = replay(pagesOf(`${ttft(5)}\n${uptime(90)}`, uptime(91), `${ttft(16)}\n${uptime(92)}`));
    expect(gained(lived, 'ttft')).toBe(11);
    const restarted = replay(pagesOf(...[90, 91, 92, 0.4].map((s, i) => `${ttft(5 + i * 9)}\n${uptime(s)}`)));
    expect(gained(restarted, 'ttft')).toBe(18 + 32);
    expect(restarted.restarts).toEqual([3]);
  });
});

describe('restarts in recordings', () => {
  test.each([
    ['smg', 'smg_router_requests_total', 242],
    ['sglang-router', 'smg_router_requests_total', 242],
    ['sglang', 'sglang:num_requests_total', 288],
    ['triton', 'nv_inference_request_success', 242],
  ])('%s: one restart, and each load is counted', (name, family, requests) => {
    const store = replay(recordedPages(`${name}/restart.txt.br`));
    expect(store.restarts).toHaveLength(1);
    expect({ unclear: store.unclear, severalServers: store.severalServers }).toEqual({
      unclear: [],
      severalServers: null,
    });
    expect(gained(store, family)).toBe(requests);
  });

  test.each(['vllm', 'trtllm', 'lmcache'])(
    '%s: one restart between two equal recordings, without start times',
    (name) => {
      const recorded = recordedPages(`${name}/series.txt.br`).filter(({ text }) => text !== null && text !== '');
      const withoutStart = (text: string | null): string =>
        (text ?? '').replace(/^.*(process_start_time_seconds|_created).*\n/gm, '');
      const twice = [...recorded, ...recorded].map(({ text }, i) => ({ unixSeconds: i, text: withoutStart(text) }));
      const { restarts, ...others } = known(replay(twice));
      expect(others).toEqual({ unclear: [], severalServers: null });
      // Where all families appear late, the first that returns shows it.
      expect(restarts).toEqual([name === 'lmcache' ? recorded.length + 1 : recorded.length]);
      expect(known(replay(twice.slice(recorded.length)))).toEqual(NOTHING);
    },
  );
});

describe('bounds that change in a running process', () => {
  test('the window has the bounds common to both grids', () => {
    const pages = [
      histogram('h', [['1', 400]], 1005, 900),
      histogram('h', [['1', 402]], 1008, 903),
      histogram(
        'h',
        [
          ['0.5', 300],
          ['1', 403],
        ],
        1010,
        905,
      ),
    ];
    const store = replay(pagesOf(...pages));
    expect(known(store)).toEqual(NOTHING);
    expect(whole(store, 'h')).toMatchObject([
      {
        count: 3,
        sum: 3,
        buckets: [
          ['1', 2],
          ['+Inf', 3],
        ],
      },
      {
        count: 2,
        sum: 2,
        buckets: [
          ['1', 1],
          ['+Inf', 2],
        ],
      },
    ]);
    expect(gained(store, 'h')).toBe(5);
  });

  test('a bound that appears with a restart counts from 0', () => {
    const page = (start: number, text: string): string => `process_start_time_seconds ${start}\n${text}`;
    const store = replay(
      pagesOf(page(100, histogram('h', [['1', 4]], 5, 9)), page(900, histogram('h', [['2', 6]], 7, 9))),
    );
    expect(whole(store, 'h').at(-1)).toMatchObject({
      count: 7,
      buckets: [
        ['2', 6],
        ['+Inf', 7],
      ],
    });
  });
});

describe('a sum that decreases alone', () => {
  test.each([
    ['by a negative observation', ttft(500, 500), ttft(501, 499), 1, -1],
    ['by its last digit', ttft(300, 300.00000000000006), ttft(300, 300), 0, 0],
  ])('%s is not a reset', (_name, before, after, count, sum) => {
    const store = replay(pagesOf(before, after));
    expect(whole(store, 'ttft')).toMatchObject([{ count, sum, resets: 0 }]);
  });

  test('with negative values the sum is not used for bounds, even when it increases over the window', () => {
    const pages = [ttft(0, 0), ttft(1, -0.5), ttft(9, 4)];
    const [statistics] = whole(replay(pagesOf(...pages)), 'ttft');
    expect(statistics).toMatchObject({ count: 9, percentiles: { p99: { bounds_by_sum: null } } });
  });

  test('with negative values the first bucket has no lower end', () => {
    const pages = [histogram('h', [['1', 5]], 9, 5.5), histogram('h', [['1', 7]], 11, 4.5)];
    expect(whole(replay(pagesOf(...pages)), 'h')).toMatchObject([
      { count: 2, sum: -1, percentiles: { p1: { bounds: [null, 1] }, p99: { bounds: [null, 1] } } },
    ]);
  });

  test('also of a summary', () => {
    const summary = (count: number, sum: number): string => `# TYPE s summary\ns_count ${count}\ns_sum ${sum}`;
    const store = replay(pagesOf(summary(10, 20), summary(11, 19), summary(2, 3)));
    expect(gained(store, 's_sum')).toBe(-1 + 3);
    expect(gained(store, 's_count')).toBe(1 + 2);
  });
});

describe('several processes on one page restart one by one', () => {
  const both = (a: number, b: number, more: (worker: string) => string = () => ''): string =>
    `# TYPE x_total counter\nx_total{worker="a"} ${a}\nx_total{worker="b"} ${b}\n${more('a')}\n${more('b')}`;

  test.each([
    [
      'by labeled start times',
      (start: number) => (w: string) => `process_start_time_seconds{worker="${w}"} ${w === 'a' ? start : 7}`,
    ],
    ['by creation times', (start: number) => (w: string) => `x_created{worker="${w}"} ${w === 'a' ? start : 7}`],
    ['by decreasing counts', () => () => ''],
  ])('%s', (_name, start) => {
    const store = replay(
      pagesOf(both(5000, 10_000, start(100)), both(5010, 10_050, start(100)), both(40, 10_100, start(900))),
    );
    expect(gained(store, 'x_total', { worker: 'b' })).toBe(100);
    expect(gained(store, 'x_total', { worker: 'a' })).toBe(10 + 40);
    expect(store.restarts).toEqual([2]);
  });

  test('a gateway that labels some of its series by worker is one process', () => {
    const page = (requests: number, a: number, b: number): string => `${counter(requests, 'r_total')}\n${both(a, b)}`;
    const store = replay(pagesOf(page(900, 4, 500), page(7, 5, 2)));
    expect(gained(store, 'x_total', { worker: 'a' })).toBe(5);
  });
});

describe('a family vanishes while no number decreases, and no start time shows why', () => {
  test.each([
    ['an integer of few digits', 209, 90.5, 209],
    ['one observation of a round value', 1, 7.1, 1],
    ['a rounded sum of round values', 3, 10.299999999999999, 3],
  ])('that another stands still at %s does not prove that the process lives', (_, count, sum, steps) => {
    const pages = [`${ttft(count, sum)}\n${counter(steps)}\n${counter(4, 'errors_total')}`];
    pages.push(`${ttft(count, sum)}\n${counter(steps)}`);
    pages.push(`${ttft(count + 20, sum + 9)}\n${counter(steps + 20)}\n${counter(1, 'errors_total')}`);
    const store = replay(pagesOf(...pages));
    expect(store.unclear).toEqual([1]);
    expect(whole(store, 'x_total')).toMatchObject([{ increase: null }]);
  });

  test('that another stands still at a number of many digits proves it', () => {
    const sum = 104.28217905;
    const pages = [`${ttft(209, sum)}\n${counter(4, 'errors_total')}`, ttft(209, sum), ttft(229, sum + 9)];
    const store = replay(pagesOf(...pages));
    expect(store.unclear).toEqual([]);
    expect(gained(store, 'ttft')).toBe(20);
  });
});

describe('several servers behind one address', () => {
  test('alternating counts without start times: nothing is known', () => {
    const page = (n: number): string => `${counter(n)}\n${ttft(n)}`;
    const store = replay(pagesOf(...[100, 900, 103, 905, 106, 909, 112, 912].map(page)));
    expect(store.severalServers).toMatch(/alternate/);
    expect(whole(store, 'x_total')).toMatchObject([{ increase: null }]);
    expect(whole(store, 'ttft')).toMatchObject([{ count: null, buckets: null }]);
  });

  test('one count that alternates between 0 and a larger one each time', () => {
    const page = ([ok, error]: readonly [number, number | null]): string =>
      [counter(ok, 'ok'), error === null ? counter(0, 'error') + '\n' + ttft(0, 0) : counter(error, 'error')].join(
        '\n',
      );
    const pages = [
      [27, null],
      [30, 2922],
      [30, 3143],
      [31, null],
      [33, null],
      [33, 3905],
      [35, 4047],
      [36, null],
    ] as const;
    const store = replay(pagesOf(...pages.map(page)));
    expect(whole(store, 'error')).toMatchObject([{ increase: null }]);
  });

  test('a server that has families, and an idle one that has none, answer by turns', () => {
    const page = ([ok, n]: readonly [number, number]): string => `${counter(ok, 'ok')}\n${ttft(n, 2 * n)}`;
    const idle = 'up_workers 1';
    const pages = [idle, page([3859, 27]), idle, page([3990, 31]), page([4035, 31]), idle, idle];
    const store = replay(pagesOf(...pages));
    expect(whole(store, 'ok')).toMatchObject([{ increase: null }]);
    expect(whole(store, 'ttft')).toMatchObject([{ count: null, buckets: null }]);
  });

  test('a return to an older page after an earlier one, though most of the counts came since', () => {
    const pages = [
      [71, 43, 860],
      [76, 51, 1074],
      [60, 575, 47, 60],
      [110, 69, 1403],
      [126, 84, 1695],
      [147, 134, 2312],
      [68, 641, 52, 69],
      [69, 644, 53, 70],
    ].map(([error = 0, tokens = 0, n = 0, ok = null]) =>
      [
        ...[counter(error, 'error'), counter(tokens, 'tokens'), ttft(n, 2 * n)],
        ...(ok === null ? [] : [counter(ok, 'ok')]),
      ].join('\n'),
    );
    const store = replay(pagesOf(...pages));
    expect(whole(store, 'ok')).toMatchObject([{ increase: null }]);
  });

  test('a series of one server that returns with its old value while others rise and fall', () => {
    const pages = [
      [2155, 2962, 6, 179],
      [2356, 3135, 0, 2511, 215],
      [2428, 3291, 8, 196],
      [2562, 3637, 0, 2997, 248],
      [2788, 3934, 10, 232],
    ].map(([error = 0, tokens = 0, latency = 0, n = 0, ok = null]) =>
      [
        ...[counter(error, 'error'), counter(tokens, 'tokens'), counter(latency, 'latency'), ttft(n, 2 * n)],
        ...(ok === null ? [] : [counter(ok, 'ok')]),
      ].join('\n'),
    );
    const store = replay(pagesOf(...pages));
    expect(whole(store, 'ok')).toMatchObject([{ increase: null }]);
  });

  test('most series are on one page only, under the start time that both servers have', () => {
    const page = (error: number, more = ''): string =>
      `process_start_time_seconds 100\n${counter(error, 'error')}\n${more}`;
    const other = `${counter(37, 'ok')}\n${counter(5230, 'latency')}\n${ttft(382)}`;
    const store = replay(pagesOf(page(21), page(26), page(33, other), page(35), page(43)));
    expect(whole(store, 'ok')).toMatchObject([{ increase: null }]);
    expect(whole(store, 'latency')).toMatchObject([{ increase: null }]);
    expect(whole(store, 'error')).toMatchObject([{ increase: 22 }]);
  });

  test('a start time within the lifetime of the previous process', () => {
    const page = (start: number, n: number): string => `process_start_time_seconds ${start}\n${counter(n)}`;
    const pages = [...Array.from({ length: 30 }, (_, i) => page(100, 10 + i)), page(105, 900)];
    const store = replay(pagesOf(...pages));
    expect(store.severalServers).toMatch(/start time/);
  });

  test('a return to the counts of an older page may be a restart or another server: unknown', () => {
    const store = replay(pagesOf(counter(100), counter(900), counter(103)));
    expect(known(store)).toEqual({ ...NOTHING, unclear: [2] });
    expect(whole(store, 'x_total')).toMatchObject([{ increase: null }]);
    expect(find(store, 'x_total')).toHaveLength(1);
  });

  test('a return to the counts of an older page: also what was at 0 in between is unknown', () => {
    const page = ([ok, error, tokens, latency]: readonly [number, number, number, number]): string =>
      [counter(ok, 'ok'), counter(error, 'error'), counter(tokens, 'tokens'), counter(latency, 'latency')].join('\n');
    const pages = [[3, 29, 36, 2] as const, [3, 0, 5, 3] as const, [4, 45, 389, 2] as const, [4, 60, 553, 2] as const];
    const store = replay(pagesOf(...pages.map(page)));
    for (const name of ['ok', 'error', 'tokens', 'latency'])
      expect(whole(store, name)).toMatchObject([{ increase: null }]);
  });

  test('a family that vanishes and continues again and again', () => {
    const both = (requests: number, tokens: number): string =>
      `${counter(requests)}\n${counter(tokens, 'tokens_total')}`;
    const only = (tokens: number): string => counter(tokens, 'tokens_total');
    const store = replay(pagesOf(both(3134, 214), only(215), both(3352, 228), only(229), both(3559, 230)));
    expect(whole(store, 'x_total')).toMatchObject([{ increase: null }]);
    expect(whole(store, 'tokens_total')).toMatchObject([{ increase: null }]);
  });

  describe('that started at the same time', () => {
    const page = (counts: Readonly<Record<string, number>>): string =>
      [
        'process_start_time_seconds 1000',
        ...Object.entries(counts).map(([name, n]) => counter(n, `${name}_total`)),
      ].join('\n');
    const increases = (...pages: readonly Readonly<Record<string, number>>[]): Record<string, unknown> => {
      const store = replay(pagesOf(...pages.map(page)));
      const names = new Set(pages.flatMap((counts) => Object.keys(counts)));
      return Object.fromEntries(
        Array.from(names, (name) => {
          const [statistics] = whole(store, `${name}_total`);
          return [name, statistics?.kind === 'counter' ? statistics.increase : 'no counter'];
        }),
      );
    };

    test('a series that only one of them has is not counted from 0', () => {
      const gains = increases(
        { error: 370, tokens: 7638, latency: 395, ttft: 49 },
        { error: 399, tokens: 8389, latency: 448, ttft: 57 },
        { ok: 187, error: 16, tokens: 18, latency: 166, ttft: 153 },
        { error: 415, tokens: 8992, latency: 481, ttft: 59 },
      );
      expect(gains).toEqual({ ok: null, error: null, tokens: null, latency: null, ttft: null });
    });

    test('series that vanish are lost as those that decrease', () => {
      const gains = increases(
        { ok: 3104, error: 20, tokens: 11, latency: 20, ttft: 170 },
        { ok: 46, error: 0, latency: 997 },
        { ok: 66, error: 0, latency: 1086 },
        { ok: 3634, error: 25, tokens: 15, latency: 23, ttft: 214 },
      );
      expect(gains).toEqual({ ok: null, error: null, tokens: null, latency: null, ttft: null });
    });

    test('one series is back at once above the value from which it had decreased', () => {
      const gains = increases(
        { ok: 5387, tokens: 4702 },
        { ok: 5709, tokens: 40, latency: 372 },
        { ok: 6122, tokens: 42, latency: 394 },
        { ok: 6410, tokens: 5796 },
      );
      expect(gains).toEqual({ ok: null, tokens: null, latency: null });
    });

    test('one series decreases to where an older page left it, be it at 0', () => {
      expect(increases({ ok: 0 }, { ok: 37, error: 5601 }, { ok: 0 }, { ok: 39, error: 5688 })).toEqual({
        ok: null,
        error: null,
      });
    });

    test('a series vanishes again after it had returned', () => {
      const gains = increases({ x: 4, y: 844 }, { x: 5 }, { x: 6 }, { x: 8, y: 1258 }, { x: 10, y: 1671 }, { x: 14 });
      expect(gains).toEqual({ x: null, y: null });
    });

    test('one is idle: what only the other has was not counted from 0', () => {
      const gains = increases(
        {},
        {},
        { error: 3438, ttft: 255 },
        { error: 3533, ttft: 270 },
        {},
        { error: 4026, ttft: 303 },
      );
      expect(gains).toEqual({ error: null, ttft: null });
    });

    test('series return while others vanish', () => {
      expect(increases({ a: 50, x: 100 }, { b: 900, x: 200 }, { a: 52, x: 300 })).toEqual({
        a: null,
        b: null,
        x: null,
      });
    });
  });

  test('with creation times of their own series only: unknown where one returns while the others vanish', () => {
    const created = (name: string, n: number): string => `${counter(n, `${name}_total`)}\n${name}_created 1000`;
    const pages = [created('a', 1884), created('a', 2165), created('b', 50), created('a', 2785), created('a', 3263)];
    const store = replay(pagesOf(...pages));
    expect(whole(store, 'a_total')).toMatchObject([{ increase: null }]);
    expect(whole(store, 'b_total')).toMatchObject([{ increase: null }]);
  });

  test('a series that one living process resets alone counts from 0, and grows again', () => {
    const pages = [
      [900, 10],
      [920, 20],
      [3, 30],
      [300, 40],
      [600, 50],
      [950, 60],
    ] as const;
    const text = ([reset, other]: (typeof pages)[number]): string =>
      `process_start_time_seconds 1000\n${counter(reset)}\n${counter(other, 'y_total')}\n${counter(other, 'z_total')}`;
    const store = replay(pagesOf(...pages.map(text)));
    expect(known(store)).toEqual(NOTHING);
    expect([gained(store, 'x_total'), gained(store, 'y_total')]).toEqual([20 + 950, 50]);
  });
});

describe('an unchanged start time', () => {
  const START = 'process_start_time_seconds 1000';

  test('a series that its process removes, and that returns lower, counts from 0', () => {
    const y = (value: number): string => `${START}\n${counter(value, 'y_total')}`;
    const store = replay(
      pagesOf(`${y(10)}\n${counter(100)}\n${ttft(50)}`, y(20), `${y(30)}\n${counter(3)}\n${ttft(4)}`),
    );
    expect([gained(store, 'x_total'), gained(store, 'ttft'), gained(store, 'y_total')]).toEqual([3, 4, 20]);
    expect(known(store)).toEqual(NOTHING);
  });

  test('of a gateway proves nothing about the workers whose series it exposes', () => {
    const page = (gateway: number, ...workers: readonly (readonly [name: string, value: number, worker: string])[]) =>
      [
        START,
        counter(gateway, 'gateway_total'),
        ...workers.map(([name, value, worker]) => counter(value, name, `{worker="${worker}"}`)),
      ].join('\n');
    const restarted = replay(
      pagesOf(
        page(100, ['x_total', 1000, 'a'], ['y_total', 2000, 'a'], ['z_total', 5, 'a'], ['x_total', 700, 'b']),
        page(110, ['x_total', 10, 'a'], ['y_total', 20, 'a'], ['z_total', 7, 'a'], ['x_total', 705, 'b']),
      ),
    );
    expect(known(restarted)).toEqual({ ...NOTHING, unclear: [1] });
    expect(['x_total', 'y_total'].map((name) => gained(restarted, name, { worker: 'a' }))).toEqual([10, 20]);
    // It increases: the worker counts it anew, or it is what the gateway counts of the worker.
    expect(whole(restarted, 'z_total')).toMatchObject([{ increase: null }]);
    expect([gained(restarted, 'gateway_total'), gained(restarted, 'x_total', { worker: 'b' })]).toEqual([10, 5]);

    const late = replay(
      pagesOf(
        page(100, ['x_total', 1000, 'a']),
        page(110, ['y_total', 1, 'a']),
        page(120, ['x_total', 1200, 'a'], ['y_total', 3, 'a']),
      ),
    );
    expect(gained(late, 'x_total')).toBe(1200);
  });
});

test('one of the workers on the page of an SGLang gateway restarts: the other continues', () => {
  const worker = (address: string, x: number, y: number): string =>
    ['x_total', 'y_total'].map((name, i) => counter([x, y][i] ?? NaN, name, `{worker_addr="${address}"}`)).join('\n');
  const store = replay(
    pagesOf(
      [worker('http://10.0.0.1:30000', 9000, 9000), worker('http://10.0.0.2:30000', 10_000, 0)].join('\n'),
      [worker('http://10.0.0.1:30000', 50, 60), worker('http://10.0.0.2:30000', 10_100, 0)].join('\n'),
    ),
  );
  expect(known(store)).toEqual({ ...NOTHING, restarts: [1] });
  expect(gained(store, 'x_total', { worker_addr: 'http://10.0.0.2:30000' })).toBe(100);
  expect(gained(store, 'x_total', { worker_addr: 'http://10.0.0.1:30000' })).toBe(50);
});

describe('workers on the page of a gateway', () => {
  interface Page {
    readonly start?: number;
    readonly requests: number;
    readonly label?: string;
    /** Of each worker: its requests and tokens, and what the gateway sent to it. */
    readonly workers: Readonly<Record<string, readonly [requests: number, tokens: number, routed?: number]>>;
  }
  const page = ({ start, requests, label = 'worker', workers }: Page): string =>
    [
      ...(start === undefined ? [] : [`process_start_time_seconds ${start}`]),
      ...['gateway_requests_total', 'gateway_bytes_total', 'gateway_retries_total'].map((name) =>
        counter(requests, name),
      ),
      ...Object.entries(workers).flatMap(([worker, [x, y, routed]]) => {
        const own = `{${label}="${worker}"}`;
        const sent = routed === undefined ? [] : [counter(routed, 'gateway_sent_total', own)];
        return [counter(x, 'x_total', own), counter(y, 'y_total', own), ...sent];
      }),
    ].join('\n');
  const increases = (pages: readonly Page[], label = 'worker'): Record<string, number | null | undefined> => {
    const store = replay(pagesOf(...pages.map((each) => page({ label, ...each }))));
    const of = (name: string, worker?: string): number | null | undefined =>
      increaseOf(store, name, worker === undefined ? {} : { [label]: worker });
    return {
      gateway: of('gateway_requests_total'),
      ...Object.fromEntries(['a', 'b'].map((worker) => [worker, of('x_total', worker)])),
      sent: of('gateway_sent_total', 'a'),
    };
  };

  test.each(['worker', 'shard', 'engine'])('the gateway restarts, and the workers (%s) may have continued', (label) => {
    const before = { start: 100, requests: 900, workers: { a: [1000, 2000, 50], b: [700, 800, 60] } } as const;
    const after = { start: 900, requests: 7, workers: { a: [1010, 2020, 3], b: [705, 810, 4] } } as const;
    expect(increases([before, after], label)).toEqual({ gateway: 7, a: null, b: null, sent: 3 });
  });

  test('the gateway restarts without a start time', () => {
    const before = { requests: 900, workers: { a: [1000, 2000, 50], b: [700, 800, 60] } } as const;
    const after = { requests: 7, workers: { a: [1010, 2020, 3], b: [705, 810, 4] } } as const;
    expect(increases([before, after])).toEqual({ gateway: 7, a: null, b: null, sent: 3 });
  });

  test('the workers restart with the gateway', () => {
    const before = { start: 100, requests: 900, workers: { a: [1000, 2000, 50], b: [700, 800, 60] } } as const;
    const after = { start: 900, requests: 7, workers: { a: [9, 20, 3], b: [4, 8, 4] } } as const;
    expect(increases([before, after])).toEqual({ gateway: 7, a: 9, b: 4, sent: 3 });
  });

  test('a worker restarts: what increases may be what the gateway counts of it', () => {
    const before = { start: 100, requests: 900, workers: { a: [1000, 2000, 50], b: [700, 800, 60] } } as const;
    const after = { start: 100, requests: 910, workers: { a: [9, 20, 53], b: [705, 810, 65] } } as const;
    expect(increases([before, after])).toEqual({ gateway: 10, a: 9, b: 5, sent: null });
  });

  test.each(['worker', 'shard', 'engine'])('it omits a worker (%s), which may have continued', (label) => {
    const pages = [
      { start: 100, requests: 900, workers: { a: [1000, 2000], b: [700, 800] } },
      { start: 100, requests: 905, workers: { b: [702, 805] } },
      { start: 100, requests: 910, workers: { a: [1010, 2020], b: [705, 810] } },
    ] as const;
    expect(increases(pages, label)).toMatchObject({ gateway: 10, a: null, b: 5 });
  });

  test('it omits a worker that restarts meanwhile', () => {
    const pages = [
      { start: 100, requests: 900, workers: { a: [1000, 2000], b: [700, 800] } },
      { start: 100, requests: 905, workers: { b: [702, 805] } },
      { start: 100, requests: 910, workers: { a: [10, 20], b: [705, 810] } },
    ] as const;
    expect(increases(pages)).toMatchObject({ gateway: 10, a: 10, b: 5 });
  });
});

describe('labels that are not known to name processes', () => {
  const engines = (...values: readonly (readonly [engine: string, x: number, y: number])[]): string =>
    values
      .flatMap(([engine, ...counts]) =>
        ['x_total', 'y_total'].map((name, i) => counter(counts[i] ?? NaN, name, `{engine="${engine}"}`)),
      )
      .join('\n');
  const increase = (store: TargetStore, engine: string): number | null | undefined =>
    increaseOf(store, 'x_total', { engine });

  test('most engines restart: another one that increases may have continued', () => {
    const store = replay(
      pagesOf(engines(['a', 500, 600], ['b', 70, 80], ['c', 9, 9]), engines(['a', 10, 20], ['b', 75, 90], ['c', 1, 2])),
    );
    expect(['a', 'b', 'c'].map((engine) => increase(store, engine))).toEqual([10, null, 1]);
  });

  test('a start time that carries the label decides', () => {
    const page = (start: number, text: string): string =>
      `process_start_time_seconds{engine="a"} ${start}\nprocess_start_time_seconds{engine="b"} 100\n${text}`;
    const store = replay(
      pagesOf(page(100, engines(['a', 500, 600], ['b', 70, 80])), page(900, engines(['a', 510, 620], ['b', 75, 90]))),
    );
    expect(['a', 'b'].map((engine) => increase(store, engine))).toEqual([510, 5]);
  });
});

test('the creation times of histograms without a TYPE prove which of them restarted', () => {
  const page = (start: number, a: number, b: number): string =>
    [
      ...(['a', 'b'] as const).flatMap((engine) =>
        ['ttft', 'latency'].flatMap((name) => {
          const count = engine === 'a' ? a : b;
          const of = `engine="${engine}"`;
          return [
            `${name}_bucket{${of},le="+Inf"} ${count}`,
            `${name}_count{${of}} ${count}`,
            `${name}_sum{${of}} ${count / 2}`,
            `# TYPE ${name}_created gauge`,
            `${name}_created{${of}} ${engine === 'a' ? start : 100}`,
          ];
        }),
      ),
    ].join('\n');
  const store = replay(pagesOf(page(100, 5000, 949), page(900, 20, 969)));
  expect(gained(store, 'ttft', { engine: 'a' })).toBe(20);
  expect(gained(store, 'ttft', { engine: 'b' })).toBe(20);
  expect(store.untypedHistograms).toEqual(new Set(['ttft', 'latency']));
  expect(find(store, 'ttft_created')).toEqual([]);
});

describe('vLLM restarts between two scrapes, and its counts pass their old values', () => {
  const page = (start: number, requests: number, collections: number): string =>
    [
      `process_start_time_seconds ${start}`,
      counter(collections, 'python_gc_collections_total', '{generation="0"}'),
      counter(collections / 10, 'process_cpu_seconds_total'),
      counter(requests, 'vllm:request_success_total', '{model_name="m",engine="0",finished_reason="length"}'),
      counter(requests * 16, 'vllm:generation_tokens_total', '{model_name="m",engine="0"}'),
      counter(requests * 100, 'vllm:prompt_tokens_total', '{model_name="m",engine="0"}'),
    ].join('\n');

  test.each([
    [5, 16],
    [16, 5],
    [5, 5],
  ])('%d, then %d: its start time shows that they count from 0', (before, after) => {
    const store = replay(pagesOf(page(1000, before, 500), page(2000, after, 300), page(2000, after + 10, 310)));
    expect(known(store)).toEqual({ ...NOTHING, restarts: [1] });
    expect(gained(store, 'vllm:request_success_total')).toBe(after + 10);
    expect(gained(store, 'vllm:generation_tokens_total')).toBe((after + 10) * 16);
  });
});

test('families that return after each restart with their old counts and new creation times are of the new process', () => {
  const page = (start: number, requests: number, served: number | null): string =>
    [
      `process_start_time_seconds ${start}`,
      counter(requests, 'vllm:request_success_total'),
      ...['/version', '/v1/chat/completions', '/ping'].flatMap((handler) => {
        const labels = `{handler="${handler}"}`;
        // Most handlers are called once by a client.
        const count = handler === '/v1/chat/completions' ? requests : 1;
        return served === null
          ? []
          : [
              counter(count, 'http_requests_total', labels),
              `# TYPE http_requests_created gauge\nhttp_requests_created${labels} ${served}`,
            ];
      }),
    ].join('\n');
  const life = (start: number): string[] => [
    ...[page(start, 0, null), page(start, 0, null)],
    ...[page(start, 4, start + 10), page(start, 12, start + 10)],
  ];
  const store = replay(pagesOf(page(1000, 178, 1010), ...life(2000), ...life(3000)));
  expect(store.unclear).toEqual([]);
  expect(gained(store, 'vllm:request_success_total')).toBe(12 + 12);
  expect(gained(store, 'http_requests_total', { handler: '/version' })).toBe(1 + 1);
});
