import { describe, expect, test } from '@jest/globals';
import type { Objective } from '../../../core/run/objectives.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import { judgeObjective, objectiveTest } from './objective-test.ts';
import { probeSize } from './probe-watch.ts';

const slo = (change: Partial<Objective> = {}): Objective => ({
  measure: 'time_to_first_token',
  stat: 'p95',
  comparison: '<',
  limit: 0.3,
  unit: 'seconds',
  ...change,
});
const TTFT = objectiveTest(slo(), []);

/** Independent values, of which a share is beyond the limit of 0.3. */
function values(n: number, beyond: number, seed: string): Float64Array {
  const random = seededRandom(seed);
  return Float64Array.from({ length: n }, () => (random() < beyond ? 0.31 : 0.29) + random() * 0.001);
}

describe('a percentile by the share of values beyond its limit', () => {
  test('few values decide if all are far from the limit', () => {
    const random = seededRandom('far');
    const near = Float64Array.from({ length: 40 }, () => 0.1 + random() * 0.01);
    expect(judgeObjective(TTFT, near, 0.002)).toMatchObject({ verdict: 'holds', isConclusive: false, n: 40 });
    const late = near.map((value) => value + 1);
    expect(judgeObjective(TTFT, late, 0.002)).toMatchObject({ verdict: 'fails', isConclusive: true, beyond: 40 });
    // 0.95^120 is 0.0021, 0.95^130 is 0.0013.
    const many = Float64Array.from({ length: 130 }, () => 0.1 + random() * 0.01);
    expect(judgeObjective(TTFT, many, 0.002)).toMatchObject({ verdict: 'holds', isConclusive: true });
  });

  test('a share near the allowed one is undecided', () => {
    expect(judgeObjective(TTFT, values(200, 0.05, 'near'), 0.002).verdict).toBe('undecided');
  });

  test('the percentile is that of the values', () => {
    // numpy.percentile([0.1, 0.2, 0.3, 0.4, 0.5], 95) is 0.48.
    expect(judgeObjective(TTFT, Float64Array.of(0.5, 0.1, 0.4, 0.2, 0.3), 0.002).value).toBeCloseTo(0.48, 12);
  });

  test.each([
    { share: 0.06, wrong: 'holds' },
    { share: 0.04, wrong: 'fails' },
  ] as const)(
    'with $share beyond, at most 1 of 40 conclusive probes $wrong, although each is judged at every look',
    ({ share, wrong }) => {
      const { looks, level } = probeSize([TTFT], 0, null);
      const probes = Array.from({ length: 300 }, (_, seed) => {
        const all = values(looks.at(-1) ?? 0, share, `${share} ${seed}`);
        const judged = looks.map((n) => judgeObjective(TTFT, all.subarray(0, n), level));
        return judged.find(({ verdict, isConclusive }) => verdict !== 'undecided' && isConclusive)?.verdict;
      });
      expect(probes.filter((verdict) => verdict === wrong).length).toBeLessThanOrEqual(300 / 40);
    },
  );

  test('a failed request is beyond every limit', () => {
    const failed = { outcome: 'error', sent_ns: 0, end_ns: 1, chunk_offsets_ns: [] } as never;
    expect(TTFT.value(failed)).toBe(Infinity);
    const upside = objectiveTest(slo({ measure: 'output_token_throughput_per_user', stat: 'p5', comparison: '>' }), []);
    expect([upside.value(failed), upside.allowedBeyond]).toEqual([-Infinity, 0.05]);
  });
});

test('requests that depend on each other count less', () => {
  const waves = Float64Array.from({ length: 400 }, (_, i) => (Math.floor(i / 40) % 2 === 0 ? 0.29 : 0.31));
  expect(judgeObjective(TTFT, waves, 0.002).effectiveN).toBeLessThan(40);
});

describe('a mean', () => {
  const mean = objectiveTest(slo({ stat: 'mean' }), []);

  test('by its distance from the limit in standard errors', () => {
    const far = Float64Array.from({ length: 50 }, (_, i) => 0.2 + (i % 7) * 0.01);
    expect(judgeObjective(mean, far, 0.002).verdict).toBe('holds');
    expect(
      judgeObjective(
        mean,
        far.map((value) => value + 0.2),
        0.002,
      ).verdict,
    ).toBe('fails');
  });

  test('is undecided with few values, and at the limit', () => {
    expect(judgeObjective(mean, Float64Array.of(0.1, 0.1, 0.1), 0.002).verdict).toBe('undecided');
    const random = seededRandom('mean');
    const around = Float64Array.from({ length: 100 }, () => 0.2 + random() * 0.2);
    expect(judgeObjective(mean, around, 0.002).verdict).toBe('undecided');
  });
});

describe('a ratio', () => {
  const errors = objectiveTest(
    slo({ measure: 'error_ratio', stat: null, comparison: '<=', limit: 0.01, unit: 'ratio' }),
    [],
  );

  test('no error in 700 requests is at most 1 %: 0.99^700 < 0.001; in 100 it is not', () => {
    expect(judgeObjective(errors, new Float64Array(700), 0.001)).toMatchObject({ verdict: 'holds', value: 0 });
    expect(judgeObjective(errors, new Float64Array(100), 0.001).verdict).toBe('undecided');
  });

  test('five errors in 20 requests are more', () => {
    const random = seededRandom('errors');
    const some = Float64Array.from({ length: 20 }, () => Number(random() < 0.4));
    expect(judgeObjective(errors, some, 0.001).verdict).toBe('fails');
  });
});

describe('objectives that a search cannot decide', () => {
  test.each([
    [slo({ measure: 'request_throughput', stat: null, comparison: '>' }), 'request_throughput cannot be decided'],
    [slo({ stat: 'max' }), 'the max of time_to_first_token cannot be decided by a sample'],
    [slo({ measure: 'inter_chunk_latency' }), 'one value per request'],
    [slo({ measure: 'error_ratio', stat: null, comparison: '<=', limit: 0 }), 'requires a limit between'],
    [slo({ measure: 'good_request_ratio', stat: null, comparison: '>=', limit: 0.9 }), 'requires --goodput'],
  ])('%#', (objective, message) => {
    expect(() => objectiveTest(objective, [])).toThrow(message);
  });
});
