import { describe, expect, test } from '@jest/globals';
import { createScrapeParser } from '../../../core/exposition/index.ts';
import {
  PROTOBUF,
  delimited,
  doubleField,
  message,
  text,
  varintField,
} from '../../../core/exposition/protobuf/testing/wire-writer.ts';
import { find, whole } from '../testing/find-series.ts';
import { replay } from '../testing/replay.ts';
import { TargetStore } from './target-store.ts';

/** A series of each kind that counts, on a page of one format: `n` observations since `start`. */
type PageOf = (n: number, start: number) => Uint8Array;

function replayed(contentType: string, pages: readonly Uint8Array[]): TargetStore {
  const store = new TargetStore();
  const parser = createScrapeParser();
  for (const [i, bytes] of pages.entries()) {
    const at_ns = i * 1e9;
    const times = { sent_ns: at_ns, at_ns, duration_ns: 0, interval_ns: 1e9, edge: false };
    store.recordPage(times, parser.parse(bytes, contentType), false);
  }
  return store;
}

const lines = (...all: readonly string[]): Uint8Array => new TextEncoder().encode(`${all.join('\n')}\n`);
/** The numbers of enum MetricType and of the value's field in Metric. */
const KINDS = { counter: [0, 3], summary: [2, 4], histogram: [4, 7] } as const;
const startOf = (at: number, start: number): number[] => message(at, varintField(1, start));

/** A family of one series; the fields are those of its value. */
function family(name: string, kind: keyof typeof KINDS, ...fields: readonly (readonly number[])[]): Uint8Array {
  const [type, value] = KINDS[kind];
  const label = message(1, text(1, 'a'), text(2, 'b'));
  return Uint8Array.from(
    delimited([...text(1, name), ...varintField(3, type), ...message(4, label, message(value, ...fields))]),
  );
}

const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);
const TEXT = 'text/plain; version=0.0.4';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';

const counterInProtobuf =
  (name: string): PageOf =>
  (n, start) =>
    family(name, 'counter', doubleField(1, n), startOf(3, start));

describe.each<[string, string, string, PageOf]>([
  ['protobuf, a counter', PROTOBUF, 'x_total', counterInProtobuf('x_total')],
  ['protobuf, a counter without _total', PROTOBUF, 'x', counterInProtobuf('x')],
  ['protobuf, a counter of created things', PROTOBUF, 'x_created', counterInProtobuf('x_created')],
  [
    'protobuf, a summary',
    PROTOBUF,
    'x_count',
    (n, start) => family('x', 'summary', varintField(1, n), doubleField(2, n / 2), startOf(4, start)),
  ],
  [
    'protobuf, a histogram',
    PROTOBUF,
    'x',
    (n, start) => {
      const bucket = message(3, varintField(1, n), doubleField(2, 1));
      return family('x', 'histogram', varintField(1, n), doubleField(2, n / 2), bucket, startOf(15, start));
    },
  ],
  [
    'protobuf, a native histogram',
    PROTOBUF,
    'x',
    (n, start) => {
      const span = message(12, varintField(1, 0), varintField(2, 1));
      const counts = [varintField(1, n), doubleField(2, n), varintField(13, zigzag(n)), doubleField(6, 1e-9)];
      return family('x', 'histogram', ...counts, span, startOf(15, start));
    },
  ],
  [
    'OpenMetrics, a counter',
    OPENMETRICS,
    'x_total',
    (n, start) => lines('# TYPE x counter', `x_total{a="b"} ${n}`, `x_created{a="b"} ${start}`, '# EOF'),
  ],
  [
    'OpenMetrics, a summary',
    OPENMETRICS,
    'x_count',
    (n, start) =>
      lines('# TYPE x summary', `x_count{a="b"} ${n}`, `x_sum{a="b"} ${n}`, `x_created{a="b"} ${start}`, '# EOF'),
  ],
  [
    'the text of the Python client, a counter',
    TEXT,
    'x_total',
    (n, start) =>
      lines('# TYPE x_total counter', `x_total{a="b"} ${n}`, '# TYPE x_created gauge', `x_created{a="b"} ${start}`),
  ],
  [
    'the text of the Python client, a counter beside a gauge of its name',
    TEXT,
    'x_total',
    (n, start) =>
      lines('# TYPE x gauge', 'x 7', '# TYPE x_total counter', `x_total{a="b"} ${n}`, `x_created{a="b"} ${start}`),
  ],
  [
    'text, a summary whose start time has no TYPE',
    TEXT,
    'x_count',
    (n, start) => lines('# TYPE x summary', `x_count{a="b"} ${n}`, `x_sum{a="b"} ${n}`, `x_created{a="b"} ${start}`),
  ],
  [
    'text, a histogram without any TYPE',
    TEXT,
    'x',
    (n, start) =>
      lines(
        ...['1', '+Inf'].map((le) => `x_bucket{a="b",le="${le}"} ${n}`),
        ...['x_sum', 'x_count'].map((name) => `${name}{a="b"} ${n}`),
        `x_created{a="b"} ${start}`,
      ),
  ],
])('the start time of %s', (_, contentType, name, page) => {
  const gain = (...pages: readonly Uint8Array[]) => whole(replayed(contentType, pages), name)[0];
  const counted = (n: number) =>
    name === 'x' && gain(page(1, 9), page(2, 9))?.kind === 'histogram' ? { count: n } : { increase: n };

  test('proves a restart after which the count passed its old value', () => {
    expect(gain(page(4, 1_790_000_000), page(10, 1_790_000_100))).toMatchObject({ ...counted(10), resets: 1 });
    expect(gain(page(4, 1_790_000_000), page(10, 1_790_000_000))).toMatchObject({ ...counted(6), resets: 0 });
  });

  test('is no series of its own', () => {
    const store = replayed(contentType, [page(4, 1_790_000_000)]);
    expect(find(store, 'x_created')).toHaveLength(name === 'x_created' ? 1 : 0);
    expect([...store.startTimes]).toEqual([[`${name.replace('_count', '')}_created [["a","b"]]`, 1_790_000_000]]);
  });
});

test('a gauge or a counter named after nothing that counts is no start time', () => {
  const page = (n: number): Uint8Array =>
    lines(
      '# TYPE jobs gauge',
      'jobs 3',
      '# TYPE jobs_created counter',
      `jobs_created ${n}`,
      'rooms 1',
      `rooms_created ${n}`,
    );
  const store = replayed(TEXT, [page(9), page(5), page(8)]);
  expect(store.severalServers).toBeNull();
  expect(store.startTimes.size).toBe(0);
  expect(whole(store, 'jobs_created')).toMatchObject([{ increase: 8 }]);
  expect(whole(store, 'rooms_created')).toMatchObject([{ kind: 'gauge', min: 5, max: 9 }]);
});

describe('a series that appears on a known target', () => {
  /** Read one second apart, from that Unix time on. */
  const at = 1_790_000_000;
  const late = (bodies: readonly (readonly string[])[]) =>
    replay(
      bodies.map((body, i) => ({ unixSeconds: at + i, text: `up 1\n${body.map((line) => `${line}\n`).join('')}` })),
    );
  const counter = (n: number, created: number): string[] => [
    ...['# TYPE x_total counter', `x_total ${n}`],
    ...['# TYPE x_created gauge', `x_created ${created}`],
  ];
  const histogram = (n: number, created: number): string[] => [
    ...['# TYPE x histogram', `x_bucket{le="+Inf"} ${n}`, `x_sum ${n}`, `x_count ${n}`],
    `x_created ${created}`,
  ];
  const summary = (n: number, created: number): string[] => [
    ...['# TYPE x summary', `x_sum ${n}`, `x_count ${n}`],
    `x_created ${created}`,
  ];

  test.each([
    ['counter', 'x_total', counter, 'increase'],
    ['histogram', 'x', histogram, 'count'],
    ['summary', 'x_count', summary, 'increase'],
  ] as const)('counts from 0, but not a %s that was created before', (_, name, page, key) => {
    const gain = (created: number) => whole(late([[], page(500, created), page(507, created)]), name)[0];
    expect(gain(at - 3600)).toMatchObject({ [key]: 7 });
    expect(gain(at - 5)).toMatchObject({ [key]: 7 });
    expect(gain(at + 0.5)).toMatchObject({ [key]: 507 });
    // Clocks of one machine are read at different moments.
    expect(gain(at - 0.5)).toMatchObject({ [key]: 507 });
  });

  test('with other bounds in the same process goes on', () => {
    const other = (n: number): string[] => histogram(n, at - 3600).toSpliced(1, 0, `x_bucket{le="1"} ${n}`);
    const gains = whole(late([histogram(500, at - 3600), other(503), other(507)]), 'x');
    expect(gains).toMatchObject([{ count: 0 }, { count: 7 }]);
  });

  test('and whose clock is not known counts from 0', () => {
    const pages = [['up 1'], counter(500, at - 3600), counter(507, at - 3600)].map((body) => lines(...body));
    expect(whole(replayed(TEXT, pages), 'x_total')).toMatchObject([{ increase: 507 }]);
  });

  test('counts from 0 again when it restarts', () => {
    const store = late([[], counter(500, at - 3600), counter(507, at - 3600), counter(600, at + 2)]);
    expect(whole(store, 'x_total')).toMatchObject([{ increase: 607, resets: 1 }]);
  });
});

describe('a page that is cut inside a line, at any byte', () => {
  const page = (n: number, isNew = false): string =>
    [
      '# TYPE a_total counter',
      `a_total ${n}`,
      ...(isNew ? ['# TYPE n_total counter', `n_total ${n - 1000}`] : []),
      '# TYPE h histogram',
      ...['x', 'y'].flatMap((label) => [
        ...[n - 9, n - 5, n].map((count, i) => `h_bucket{l="${label}",le="${['1', '2', '+Inf'][i]}"} ${count}`),
        `h_sum{l="${label}"} ${n / 2}`,
        `h_count{l="${label}"} ${n}`,
      ]),
      '# TYPE s summary',
      `s_sum ${n}`,
      `s_count ${n}`,
      '# TYPE z_total counter',
      `z_total ${n}`,
      '',
    ].join('\n');
  /** As the collector reads pages: without a last line that has no newline. */
  function read(pages: readonly string[]): TargetStore {
    const store = new TargetStore();
    const parser = createScrapeParser();
    for (const [i, text] of pages.entries()) {
      const whole = text.slice(0, text.lastIndexOf('\n') + 1);
      if (whole === '') continue;
      const times = { sent_ns: i * 1e9, at_ns: i * 1e9, duration_ns: 0, interval_ns: 1e9, edge: false };
      store.recordPage(times, parser.parse(new TextEncoder().encode(whole), TEXT), false, whole !== text);
    }
    return store;
  }
  const gains = (store: TargetStore): Record<string, unknown> =>
    Object.fromEntries(
      ['a_total', 'h', 's_sum', 's_count', 'z_total'].flatMap((name) =>
        whole(store, name).map((each, i) => [
          `${name} ${i}`,
          each.kind === 'counter' ? each.increase : each.kind === 'histogram' ? each.count : NaN,
        ]),
      ),
    );
  const all = (n: number): Record<string, number> =>
    Object.fromEntries(['a_total 0', 'h 0', 'h 1', 's_sum 0', 's_count 0', 'z_total 0'].map((key) => [key, n]));
  /** All beginnings that do not end with a line. */
  const cuts = (text: string): string[] =>
    Array.from(text, (_, i) => text.slice(0, i)).filter((each) => each !== '' && !each.endsWith('\n'));

  test('between two whole pages changes nothing', () => {
    for (const cut of cuts(page(1251))) {
      const store = read([page(1000), cut, page(1300)]);
      expect({ cut, ...gains(store) }).toEqual({ cut, ...all(300) });
      expect([...store.restarts, ...store.unclear]).toEqual([]);
    }
  });

  test('at the end leaves the increase of what it lacks unknown', () => {
    for (const cut of cuts(page(1251))) {
      const store = read([page(1000), page(1200), cut]);
      for (const [key, gain] of Object.entries(gains(store))) {
        const isLast = store.scrapes === 2 ? 200 : 251;
        expect([key, isLast, null]).toContain(gain);
      }
    }
  });

  test('as the first does not make what it lacks begin at 0', () => {
    for (const cut of cuts(page(1000))) {
      const store = read([cut, page(1251), page(1300)]);
      for (const gain of Object.values(gains(store))) expect([49, 300]).toContain(gain);
    }
  });

  test('does not hide what begins between whole pages', () => {
    for (const cut of cuts(page(1010))) {
      const store = read([page(1000), cut, page(1020, true), page(1030, true)]);
      expect(whole(store, 'n_total')).toMatchObject([{ increase: 30 }]);
    }
  });

  test('hides a restart: what it lacks is then unknown, not wrong', () => {
    for (const cut of cuts(page(100))) {
      const store = read([page(1000), cut, page(1300)]);
      for (const gain of Object.values(gains(store))) expect([300, 1300, null]).toContain(gain);
    }
  });

  test('each time at the same place is the whole page but for its last line', () => {
    const short = (n: number, isNew = false): string => page(n, isNew).slice(0, -1);
    const store = read([short(1000), short(1100), short(1200, true), short(1300, true)]);
    expect(gains(store)).toEqual({ 'a_total 0': 300, 'h 0': 300, 'h 1': 300, 's_sum 0': 300, 's_count 0': 300 });
    expect(whole(store, 'n_total')).toMatchObject([{ increase: 300 }]);
    const returned = read([short(1000), short(1100), page(1200), page(1300)]);
    expect(gains(returned)).toEqual({ ...all(300), 'z_total 0': 100 });
  });
});
