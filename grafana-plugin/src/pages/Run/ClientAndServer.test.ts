import type { ResultFile } from '../../../../core/run/result.ts';
import { allowanceOf, percentileRows } from './ClientAndServer.tsx';
import type { CountsByQuantity } from './server-histograms.ts';

const CLIENT = { origin: 'client', population: 'ok', clock: 'sent', kind: 'distribution' };
const exact = (value: number | null) => ({ value, ci95: null, bounds: null });
const measure = (name: string, n: number, value: number | null) => ({
  ...CLIENT,
  ...{ measure: name, n, percentiles: { p50: exact(value), p90: exact(value), p99: exact(value) } },
});
const histogram = {
  family: 'f',
  count: 10,
  sumIsSound: false,
  histogram: { bounds: [0.1, 0.16, Infinity], counts: [0, 10, 10], sum: 1.5 },
};
const counts = {
  time_to_first_token: [histogram],
  time_per_output_token: [],
  request_latency: [{ ...histogram, family: 'latency' }],
} as unknown as CountsByQuantity;

const rows = (servers: object, ttft = measure('time_to_first_token', 10, 0.15)) => {
  const measures = [ttft, measure('request_latency', 10, 0.15)];
  return percentileRows({ measures, servers } as unknown as ResultFile, counts, 0.005);
};

test('no verdict where the servers also counted other requests', () => {
  expect(new Set(rows({ exact: true }).map(({ agreement }) => agreement))).not.toContain('unknown');
  expect(new Set(rows({ exact: false }).map(({ agreement }) => agreement))).toEqual(new Set(['unknown']));
  const late = rows({ exact: true, inexact_families: [{ family: 'latency' }] });
  expect(late.filter(({ agreement }) => agreement === 'unknown').map(({ measure: name }) => name)).toEqual([
    ...['request_latency', 'request_latency', 'request_latency'],
  ]);
});

test('a measure that responses which were not streamed cannot have is not compared', () => {
  const shown = rows({ exact: true }, measure('time_to_first_token', 0, null));
  expect(new Set(shown.map(({ measure: name }) => name))).toEqual(new Set(['request_latency']));
});

const network = { host: 'h:1', connections: 4, min_seconds: 0.001, p50_seconds: 0.002 };
const result = (more: Partial<ResultFile>): ResultFile => more as ResultFile;

test('what the network may add: the chosen value, else the measured round trip, else 5 ms', () => {
  expect(allowanceOf(result({ network }), '20')).toEqual({ seconds: 0.02, source: 'chosen' });
  expect(allowanceOf(result({ network }), null)).toEqual({ seconds: 0.001, source: 'measured' });
  expect(allowanceOf(result({}), null)).toEqual({ seconds: 0.005, source: 'assumed' });
  expect(allowanceOf(result({ network }), 'wrong')).toEqual({ seconds: 0.001, source: 'measured' });
});
