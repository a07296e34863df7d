import { describe, expect, test } from '@jest/globals';
import { signalRules } from '../../../catalog/explanations.ts';
import type { MeasureVerdict, VerdictName } from '../../../core/api/verdict.ts';
import { explain } from './moved-signals.ts';
import type { RunSignals } from './run-signals.ts';

const VLLM = { requests_waiting: 'vllm:num_requests_waiting', cache_hit_ratio: 'vllm:prefix_cache_hits_total' };
type Values = Readonly<Partial<Record<keyof typeof VLLM, number>>>;

const ofVllm = (run_id: string, values: Values): RunSignals => ({
  run_id,
  values: Object.entries(values).map(([signal, value]) => ({
    ...{ signal, system: 'vllm', family: VLLM[signal as keyof Values], value },
  })),
  problem: null,
});

const side = (name: string, all: readonly Values[]): RunSignals[] => all.map((one, i) => ofVllm(`${name}${i}`, one));

function measure(verdict: VerdictName, gating = true, name = 'time_to_first_token'): MeasureVerdict {
  return {
    ...{ measure: name, stat: 'p50', unit: 'seconds', definition: 'd', origin: 'client' },
    ...{ population: 'ok', clock: 'sent', direction: 'lower', gating, verdict, reason: 'decided', sentence: '' },
    ...{ effect: null, confidence: null, method: null, runs: { a: 4, b: 4 }, margin: 0.05, detectable: null },
    ...{ p: null, needs: null },
  };
}

function explained(
  a: readonly RunSignals[],
  b: readonly RunSignals[],
  measures = [measure('regressed')],
  design: 'sets' | 'pairs' = 'sets',
) {
  const runs = { a: a.map(({ run_id }) => run_id), b: b.map(({ run_id }) => run_id) };
  return explain({ design, runs, measures }, new Map([...a, ...b].map((run) => [run.run_id, run])), signalRules());
}

const waiting = (...values: number[]): Values[] => values.map((requests_waiting) => ({ requests_waiting }));

describe('signals that moved with a regression', () => {
  test('a queue that is longer in every run of B moved; p is 1 of the 70 arrangements of 4 + 4 runs', () => {
    const found = explained(side('a', waiting(1, 2, 3, 4)), side('b', waiting(11, 12, 13, 14)));
    expect(found).toMatchObject({ compared: 1, runs: { a: 4, b: 4 }, not_used: [] });
    expect(found?.signals).toMatchObject([
      { signal: 'requests_waiting', median_a: 2.5, median_b: 12.5, ratio: 5, moved_with: ['time_to_first_token p50'] },
    ]);
    expect(found?.signals[0]?.p).toBeCloseTo(1 / 70, 12);
    expect(found?.signals[0]?.look_at).toContain('--max-num-seqs');
  });

  test('a queue that is shorter did not move with a regression, but with an improvement', () => {
    const [a, b] = [side('a', waiting(11, 12, 13, 14)), side('b', waiting(1, 2, 3, 4))];
    expect(explained(a, b)?.signals).toEqual([]);
    expect(explained(a, b, [measure('improved')])?.signals).toHaveLength(1);
  });

  test('overlapping values did not move', () => {
    expect(explained(side('a', waiting(1, 2, 3, 4)), side('b', waiting(1.5, 2.5, 0.5, 5)))?.signals).toEqual([]);
  });

  test('the clearest comes first, and of equally clear ones the one that moved furthest', () => {
    const both = (requests_waiting: number, cache_hit_ratio: number): Values => ({ requests_waiting, cache_hit_ratio });
    const a = side('a', [both(10, 0.8), both(11, 0.81), both(12, 0.82), both(13, 0.83)]);
    const b = side('b', [both(14, 0.1), both(15, 0.11), both(16, 0.12), both(17, 0.13)]);
    expect(explained(a, b)?.signals.map(({ signal }) => signal)).toEqual(['cache_hit_ratio', 'requests_waiting']);
  });

  test('pairs are compared within each pair: 1 of 64 arrangements of 6 differences', () => {
    const a = side('a', waiting(1, 10, 20, 30, 40, 50));
    const b = side('b', waiting(1.5, 11, 22, 33, 44, 55));
    expect(explained(a, b, undefined, 'pairs')?.signals[0]?.p).toBeCloseTo(1 / 64, 12);
    expect(explained(a, b)?.signals).toEqual([]);
  });
});

describe('what is not compared', () => {
  const a = side('a', waiting(1, 2, 3, 4));
  const b = side('b', waiting(11, 12, 13, 14));

  test('nothing when no gating measure changed', () => {
    expect(explained(a, b, [measure('unchanged'), measure('undecided'), measure('regressed', false)])).toBeNull();
  });

  test('a signal that has nothing to do with the measure', () => {
    expect(explained(a, b, [measure('regressed', true, 'error_ratio')])).toMatchObject({ compared: 0, signals: [] });
  });

  test('a signal that one run lacks: missing is not zero', () => {
    expect(explained(a, [...b, ofVllm('b4', {})])).toMatchObject({ compared: 0, signals: [] });
  });

  test('a signal that is the same in all runs', () => {
    expect(explained(side('a', waiting(0, 0)), side('b', waiting(0, 0)))).toMatchObject({ compared: 0 });
  });

  test('runs without exact server metrics; of a pair both', () => {
    const inexact: RunSignals = { run_id: 'b4', values: [], problem: 'not_exact' };
    const withFifth = [...a, ...side('c', waiting(5))];
    expect(explained(withFifth, [...b, inexact])).toMatchObject({
      runs: { a: 5, b: 4 },
      not_used: [{ run_id: 'b4', problem: 'not_exact' }],
    });
    expect(explained(withFifth, [...b, inexact], undefined, 'pairs')).toMatchObject({ runs: { a: 4, b: 4 } });
  });
});

test('servers of different systems are compared by the quantity that they share', () => {
  const sglang = [11, 12, 13, 14].map((value, i): RunSignals => ({
    run_id: `b${i}`,
    values: [{ signal: 'requests_waiting', system: 'sglang', family: 'sglang:num_queue_reqs', value }],
    problem: null,
  }));
  const [signal] = explained(side('a', waiting(1, 2, 3, 4)), sglang)?.signals ?? [];
  expect(signal).toMatchObject({ family_a: 'vllm:num_requests_waiting', family_b: 'sglang:num_queue_reqs' });
  expect(signal?.look_at).toContain('--max-running-requests');
});
