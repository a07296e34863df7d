import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { shareWithin } from './objectives.ts';
import {
  exactQuantile,
  exactResult,
  ofMeasured,
  percentileEdge,
  quantileOverTime,
  rateOverTime,
  runTitles,
  runProgress,
  runThroughput,
  runTimeLeft,
  runTotal,
  withRunFacts,
  withRunName,
  type RunSelection,
} from './queries.ts';

interface UnitTests {
  readonly tests: readonly { readonly promql_expr_test: readonly { readonly expr: string }[] }[];
}

const file = await readFile(new URL('tests/queries.yml', import.meta.url), 'utf8');
const tested = (parse(file) as UnitTests).tests.flatMap((group) => group.promql_expr_test.map(({ expr }) => expr));

const r1: RunSelection = { run: 'r1' };
const two: RunSelection = { runs: 'r1|r2' };
const latency = { histogram: 'request_latency', quantile: 0.75, of: two, window: '5m' } as const;
const p60 = { histogram: 'time_to_first_token', quantile: 0.6, of: r1, window: '15m' } as const;
const overflow = { histogram: 'inter_token_latency', quantile: 0.99, of: r1, window: '15m' } as const;
const tokens = 'llmbench_output_tokens_total';

/** Of a server's first tokens. */
function share(limit: string, edge: 'least' | 'most'): string {
  const counts = (name: string, by: string): string => `sum by (${by}) (vllm:time_to_first_token_seconds_${name})`;
  const counted = {
    buckets: counts('bucket{le!="+Inf"}', 'instance, le'),
    atLimit: counts(`bucket{le="${limit}"}`, 'instance'),
    count: counts('count', 'instance'),
    labels: ['instance'],
  };
  return shareWithin(counted, limit, edge);
}

const rendered: Record<string, string> = {
  'this run, exact, p99': exactQuantile({ histogram: 'time_to_first_token', quantile: 0.99, of: r1, window: '15m' }),
  'this run, exact, p50': exactQuantile({ histogram: 'time_to_first_token', quantile: 0.5, of: r1, window: '15m' }),
  'this run, the lowest p60': percentileEdge(p60, 'low'),
  'this run, the highest p60': percentileEdge(p60, 'high'),
  'the lowest in the overflow bucket': percentileEdge(overflow, 'low'),
  'the highest in the overflow bucket': percentileEdge(overflow, 'high'),
  'two runs, the lowest': percentileEdge(latency, 'low'),
  'two runs, the highest': percentileEdge(latency, 'high'),
  'the result of finished runs': exactResult(
    { unit: 'seconds', measure: 'request_latency', stat: 'p75' },
    { runs: '.+' },
    '5m',
  ),
  'runs by name': withRunName(
    exactResult({ unit: 'requests', measure: 'requests', stat: 'ok' }, { runs: '.+' }, '5m'),
    { runs: '.+' },
    '5m',
  ),
  'the runs of a scenario by title': runTitles('chat', '5m'),
  'the servers of a run': ofMeasured('up', { runs: 'r1' }, '.+', '5m'),
  'the servers of two runs': ofMeasured('up', { runs: 'r1|r2' }, '.+', '5m'),
  'all servers, because the run read none': ofMeasured('up', { runs: 'r3' }, '.+', '5m'),
  'all servers, because all are wanted': ofMeasured('up', { runs: 'r1' }, 'none', '5m'),
  'no server, because those of the run are elsewhere': ofMeasured('up', { runs: 'r4' }, '.+', '5m'),
  'a run that is absent': exactQuantile({
    histogram: 'time_to_first_token',
    quantile: 0.99,
    of: { run: 'r0' },
    window: '15m',
  }),
  'a window after the run': exactQuantile({ histogram: 'time_to_first_token', quantile: 0.99, of: r1, window: '5m' }),
  'the overflow bucket': exactQuantile({ histogram: 'inter_token_latency', quantile: 0.99, of: r1, window: '15m' }),
  'over time': quantileOverTime({ histogram: 'time_to_first_token', quantile: 0.5, of: r1, window: '1m' }),
  'over time, a reset': quantileOverTime({
    histogram: 'time_to_first_token',
    quantile: 0.5,
    of: { run: 'r2' },
    window: '1m',
  }),
  'over time, two runs': quantileOverTime({ histogram: 'time_to_first_token', quantile: 0.5, of: two, window: '1m' }),
  'over time, one sample': quantileOverTime({ histogram: 'time_to_first_token', quantile: 0.5, of: r1, window: '5s' }),
  'two runs': exactQuantile(latency),
  'two runs with their facts': withRunFacts(exactQuantile(latency)),
  'two runs with the facts of finished ones': withRunFacts(exactQuantile(latency), ['scenario', 'model'], '5m'),
  total: runTotal(tokens, { runs: 'r1' }, 'phase="measure"', '5m'),
  throughput: runThroughput(tokens, { runs: 'r1|r2|r3' }, '', { window: '5m', step: '10s' }),
  progress: runProgress({ runs: 'r1|r2|r3' }, { window: '5m', step: '10s' }),
  'time left': runTimeLeft({ runs: 'r1|r2|r3' }, { window: '5m', step: '10s' }),
  ...Object.fromEntries(
    ['0.25', '0.3', '1', '0.05', '2'].flatMap((limit) =>
      (['least', 'most'] as const).map((edge) => [`the ${edge} share within ${limit} s`, share(limit, edge)]),
    ),
  ),
  rate: rateOverTime(tokens, { runs: 'r2' }, [], '', '1m'),
  'rate by phase': rateOverTime(tokens, { runs: 'r3' }, ['phase'], 'phase="measure"', '1m'),
};

describe('the canonical queries', () => {
  test.each(Object.entries(rendered))('%s has a promtool test', (_name, query) => {
    expect(tested).toContain(query);
  });

  test('every promtool test covers a query that is rendered', () => {
    expect([...new Set(tested)].sort()).toEqual(Object.values(rendered).sort());
  });

  test('are those of the metric contract', () => {
    const of: RunSelection = { run: '$run' };
    const query = { histogram: 'time_to_first_token', quantile: 0.99, of } as const;
    expect(exactQuantile(query)).toBe(
      'histogram_quantile(0.99, sum by (le) (last_over_time(' +
        'llmbench_time_to_first_token_seconds_bucket{run_id="$run"}[$__range])))',
    );
    expect(quantileOverTime(query)).toBe(
      'histogram_quantile(0.99, sum by (le) (rate(' +
        'llmbench_time_to_first_token_seconds_bucket{run_id="$run"}[$__rate_interval])))',
    );
    expect(withRunFacts('x')).toBe(
      'x * on (run_id) group_left (scenario, model) max by (run_id, scenario, model) (llmbench_run_info)',
    );
  });

  test('quote a run id as PromQL does', () => {
    expect(exactQuantile({ histogram: 'schedule_delay', quantile: 0.5, of: { run: 'a"\\b' } })).toContain(
      '{run_id="a\\"\\\\b"}',
    );
  });
});
