import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeWithEachPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { SAMPLES_OF_RUNS, scrapeIntervalVariable } from './src/variables.ts';

const execute = promisify(execFile);
const SERIES = 'llmbench_run_phase{run_id=~"r"}';

/** The query of the variable, which sorts its choices: the nearest to what was measured has the smallest value. */
function nearest(...series: readonly string[]): string {
  const { query } = scrapeIntervalVariable(...series).build() as unknown as { query: { query: string } };
  const [, choices = ''] = /^query_result\(sort\((.+)\)\)$/.exec(query.query) ?? [];
  return `count by (interval) (bottomk(1, ${choices}))`;
}

await describeWithEachPrometheus('the scrape interval that a dashboard opens with', ({ promtool }) => {
  const opensWith = async (inputSeries: readonly object[], query: string, interval: string, chosen: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-interval-'));
    try {
      const expected = {
        expr: query,
        eval_time: '1530s',
        exp_samples: [{ labels: `{interval="${chosen}"}`, value: 1 }],
      };
      const file = join(folder, 'test.json');
      await writeFile(
        file,
        JSON.stringify({ tests: [{ interval, input_series: inputSeries, promql_expr_test: [expected] }] }),
      );
      await execute(promtool, ['test', 'rules', file]);
    } finally {
      await rm(folder, { recursive: true });
    }
  };

  test.each([
    ['1s', 600],
    ['2s', 600],
    ['2s', 20],
    ['2s', 12],
    ['5s', 60],
    ['10s', 600],
    ['15s', 120],
    ['30s', 900],
    ['60s', 900],
  ])('scraped every %s for %i seconds', async (interval, seconds) => {
    const period = Number.parseInt(interval, 10);
    // Over at 1500 s, and one scrape failed.
    const before = Math.floor((1500 - seconds) / period);
    const half = Math.floor(seconds / period / 2);
    const values = `_x${before} 1x${half} stale 1x${half} stale`;
    await expect(
      opensWith([{ series: SERIES.replace('~', ''), values }], nearest(SERIES), interval, interval),
    ).resolves.toBeUndefined();
  });

  test('a run that was scraped and then written by backfill, which has its edges only', async () => {
    const samples = '1x1500';
    const inputs = [
      {
        series: 'llmbench_requests_total{run_id="r",phase="measure",outcome="ok",job="llmbench-run"}',
        values: samples,
      },
      { series: 'llmbench_run_phase{run_id="r",phase="measure",job="llmbench-run"}', values: samples },
      { series: 'llmbench_run_phase{run_id="r",phase="measure"}', values: '_x1400 1 _x39 0 _x14 0' },
    ];
    const query = nearest(SAMPLES_OF_RUNS.replaceAll('$run', 'r'));
    await expect(opensWith(inputs, query, '1s', '1s')).resolves.toBeUndefined();
  });

  test('nothing scraped: that of the shipped configuration', async () => {
    await expect(opensWith([], nearest(SERIES), '60s', '2s')).resolves.toBeUndefined();
  });

  test('the slowest of runs and servers, so that none is without rates', async () => {
    const fast = `1x1500`;
    const slow = Array.from({ length: 1500 }, (_, second) => (second % 15 === 7 ? '1' : '_')).join(' ');
    const inputs = [
      { series: 'llmbench_run_phase{run_id="r"}', values: fast },
      { series: 'up{instance="i"}', values: slow },
    ];
    await expect(opensWith(inputs, nearest(SERIES, 'up{instance=~"i"}'), '1s', '15s')).resolves.toBeUndefined();
  });
});
