import type { Sweep } from '../../../core/sweeps/sweep-shape.ts';
import { expect, test } from '@jest/globals';
import { sweepNames } from '../../../core/sweeps/sweep-names.ts';
import { sweepsOf } from '../../../core/sweeps/sweep.ts';
import { exampleSweepRun, type GivenRun } from '../../../core/sweeps/testing/sweep-run.ts';
import { sweepPage } from './sweep-page.ts';
import type { SweepReport } from './sweep-charts.ts';

/** Throughput that stops growing at 4, latency that explodes there. */
function sweepOf(change: GivenRun['change'] = {}): Sweep {
  const throughput = [100, 200, 400, 450, 460];
  const runs = throughput.map((output_token_throughput, i) =>
    exampleSweepRun({
      load: 2 ** i,
      verdicts: [i < 3 ? 'met' : 'not_met'],
      change,
      figures: {
        output_token_throughput,
        time_to_first_token_p99: i < 3 ? 0.1 : i,
        inter_token_latency_p99: 0.01 * (i + 1),
        tokens_per_second_per_user_p50: 100 / (i + 1),
      },
    }),
  );
  const [found] = sweepsOf(runs);
  if (found === undefined) throw new Error('five loads are a sweep');
  return found.sweep;
}

function pageOf(sweeps: readonly Sweep[], change: Partial<SweepReport> = {}): string {
  return sweepPage({
    ...{ title: 'chat', sweeps, names: sweepNames(sweeps), percentile: 'p99', gpus: null, notes: [] },
    ...change,
  });
}

const titles = (page: string): string[] => [...page.matchAll(/<title>([^<]*)<\/title>/g)].map(([, text]) => text ?? '');

test('each load is a point with its values, the objective a line, knee and largest load are marked', () => {
  const page = pageOf([sweepOf()]);
  expect(titles(page)).toContain('concurrency 4, p99: 400 tokens/s, 100 ms');
  expect(page).toContain('p99 &lt;= 500 ms');
  const cells = page.replace(/\s*<[^>]*>\s*/g, '|').replace(/\|+/g, '|');
  expect(cells).toContain('|TTFT p99 &lt;= 500 ms|met up to 4, not met from 8|400|4|460|');
  expect(page).toMatch(/class="mark good"/);
});

test('the chart per GPU states what is missing, or divides by the GPUs', () => {
  expect(pageOf([sweepOf()])).toContain('The number of GPUs is missing');
  const page = pageOf([sweepOf({ gpus: 4 })]);
  expect(titles(page).some((text) => text.endsWith('33.3 tokens/s per user, 100 tokens/s per GPU'))).toBe(true);
  expect(page).toContain('Pareto frontier');
  expect(pageOf([sweepOf({ gpus: 4 })], { gpus: 8 })).toContain('50 tokens/s per GPU');
});

test('without goodput its chart states how to get it', () => {
  expect(pageOf([sweepOf()])).toContain('llmbench run --goodput');
});

test('several sweeps are named by what differs', () => {
  const page = pageOf([sweepOf(), { ...sweepOf(), system_version: '0.12.0' }]);
  expect(page).toContain('vllm 0.11.0');
  expect(page).toContain('vllm 0.12.0');
});

test('names from files cannot become markup', () => {
  const page = pageOf([{ ...sweepOf(), model: '<script>alert(1)</script>' }], { title: '<img src=x>' });
  expect(page).not.toMatch(/<script|<img/);
});
