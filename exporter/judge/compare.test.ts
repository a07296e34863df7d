import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compare } from './compare.ts';
import { defaultRules } from './rules.ts';
import { figure, FIVE, ONE, run, runsOf, TTFT } from './testing/runs.ts';

describe('how many runs can decide at all', () => {
  test.each([
    ['one measure', 5, 6, ONE],
    ['five measures', 7, 8, FIVE],
  ])('%s: %d pairs cannot, %d can', (_, fewer, enough, rules) => {
    const judged = (n: number) =>
      compare(runsOf('a', new Array<number>(n).fill(1)), runsOf('b', new Array<number>(n).fill(2)), {
        paired: true,
        rules,
      });
    expect(judged(fewer)).toMatchObject({
      verdict: 'undecided',
      reason: 'too_few_runs',
      needs: { design: 'pairs', pairs: enough, further: 1 },
    });
    expect(judged(fewer).measures[0]).toMatchObject({ detectable: null, effect: { low: 0, high: Infinity } });
    expect(judged(fewer).measures[0]?.sentence).toContain(
      `changed by +100 % (no interval), ${fewer} pairs, margin 5 %.`,
    );
    expect(judged(enough).verdict).toBe('regressed');
  });

  test.each([
    ['one measure', 3, 4, ONE],
    ['five measures', 4, 5, FIVE],
  ])('%s: sets of %d runs cannot, of %d can', (_, fewer, enough, rules) => {
    const judged = (n: number) =>
      compare(runsOf('a', new Array<number>(n).fill(1)), runsOf('b', new Array<number>(n).fill(2)), { rules });
    expect(judged(fewer)).toMatchObject({
      verdict: 'undecided',
      needs: { design: 'sets', furtherA: 1, furtherB: 1 },
    });
    expect(judged(enough).verdict).toBe('regressed');
  });
});

describe('the four verdicts', () => {
  const A = [1, 1.01, 0.99, 1.005, 0.995, 1.002];
  const judged = (factor: number, margin = 0.05) =>
    compare(
      runsOf('a', A),
      runsOf(
        'b',
        A.map((value) => value * factor),
      ),
      { rules: { ...ONE, margin } },
    );

  test('regressed: the interval excludes no change and the estimate reaches the margin', () => {
    const { verdict, reason, sentence, measures } = judged(1.2);
    expect({ verdict, reason, sentence }).toEqual({
      verdict: 'regressed',
      reason: 'decided',
      sentence: 'Regressed: time to first token p50 is worse by at least the margin.',
    });
    expect(measures[0]).toMatchObject({
      verdict: 'regressed',
      method: 'rank_sum_exact',
      runs: { a: 6, b: 6 },
      needs: null,
    });
    expect(measures[0]?.effect?.estimate).toBeCloseTo(1.2, 9);
    // Complete separation of 6 and 6: 2 ÷ C(12, 6).
    expect(measures[0]?.p?.raw).toBeCloseTo(2 / 924, 12);
    expect(measures[0]?.sentence).toMatch(
      /^Time to first token p50 is regressed; it changed by \+20 % \(95 % interval \+\d+\.\d % to \+\d+\.\d %\), 6 and 6 runs, margin 5 %\.$/,
    );
  });

  test('improved is the mirror', () => expect(judged(0.8).verdict).toBe('improved'));
  test('unchanged: the interval is within the margin', () => expect(judged(1.01).verdict).toBe('unchanged'));

  test('undecided: changed, but not as much as the margin', () => {
    expect(judged(1.045).measures[0]).toMatchObject({ verdict: 'undecided', reason: 'near_margin' });
  });

  test('throughput is better when higher', () => {
    const rules = { ...ONE, primary: [{ measure: 'output_token_throughput', stat: 'value' as const }] };
    const sets = (factor: number) =>
      A.map((value, i) => run(`${factor}-${i}`, [figure('output_token_throughput', 'value', 100 * value * factor)]));
    const slower = compare(sets(1), sets(0.8), { rules });
    expect(slower.verdict).toBe('regressed');
    expect(slower.measures[0]?.effect?.estimate).toBeCloseTo(0.8, 9);
    expect(compare(sets(1), sets(1.25), { rules }).verdict).toBe('improved');
  });

  test('the smallest effect that could have been seen is the one at which the verdict turns', () => {
    const noisy = [1, 1.1, 0.93, 1.04, 0.97, 1.06];
    const at = (factor: number) =>
      compare(
        runsOf('a', noisy),
        runsOf(
          'b',
          noisy.map((value) => value * factor),
        ),
        { rules: ONE },
      );
    const detectable = at(1).measures[0]?.detectable ?? NaN;
    expect(detectable).toBeGreaterThan(0.05);
    expect(at(1 + detectable * 1.001).verdict).toBe('regressed');
    expect(at(1 + detectable * 0.98).verdict).toBe('undecided');
  });
});

describe('several measures', () => {
  test('only primary measures gate; others are reported with their q', () => {
    const runs = (name: string, factor: number) =>
      [1, 1.01, 1.02, 1.03, 1.04].map((value, i) =>
        run(`${name}${i}`, [figure(TTFT, 'p50', value), figure('request_latency', 'p90', value * factor)]),
      );
    const judged = compare(runs('a', 1), runs('b', 2), { rules: ONE });
    expect(judged.measures.map(({ measure, gating, p }) => [measure, gating, p?.adjustment])).toEqual([
      [TTFT, true, 'holm'],
      ['request_latency', false, 'benjamini_hochberg'],
    ]);
    expect(judged.measures[1]?.verdict).toBe('regressed');
    expect(judged.verdict).not.toBe('regressed');
  });

  test('at most five gate', () => {
    const primary = Array.from({ length: 6 }, () => ({ measure: TTFT, stat: 'p50' as const }));
    expect(() => compare(runsOf('a', [1]), runsOf('b', [1]), { rules: { ...ONE, primary } })).toThrow(RangeError);
  });

  test('without rules at most five gate, goodput instead of throughput where it was measured', () => {
    expect(defaultRules([run('a', [])]).primary).toHaveLength(5);
    expect(defaultRules([run('a', [figure('goodput', 'value', 3)])]).primary.map(({ measure }) => measure)).toContain(
      'goodput',
    );
  });
});

test('without rules the latency and documents per second gate where texts are only read', () => {
  const { primary } = defaultRules([run('a', [figure('document_throughput', 'value', 3)])]);
  expect(primary.map(({ measure, stat }) => `${measure}:${stat}`)).toEqual([
    ...['request_latency:p50', 'request_latency:p90', 'document_throughput:value', 'error_ratio:value'],
  ]);
  // A run that generates has the measure, too, with no value.
  expect(defaultRules([run('a', [figure('document_throughput', 'value', null)])])).toEqual(defaultRules([]));
});

describe('what is not comparable is undecided and says why', () => {
  const good = runsOf('a', [1, 1, 1, 1, 1, 1]);
  const slow = runsOf('b', [2, 2, 2, 2, 2, 2]);
  test.each([
    ['scenario', { scenario: 'other' }],
    ['fingerprint', { fingerprint: 'other' }],
    ['fingerprint', { fingerprint: '' }],
    ['client', { client: 'saturated' as const }],
    ['foreign_traffic', { foreign_traffic: true }],
    ['input_tokens', { load: { input_tokens: 103, output_tokens: 50, cached_input_ratio: 0.5, request_rate: null } }],
    [
      'cached_input_ratio',
      { load: { input_tokens: 100, output_tokens: 50, cached_input_ratio: 0.4, request_rate: null } },
    ],
  ])('%s', (check, changed) => {
    const judged = compare(
      good,
      slow.map((one) => ({ ...one, ...changed })),
      { rules: ONE },
    );
    expect(judged).toMatchObject({ verdict: 'undecided', reason: 'preflight' });
    expect(judged.preflight).toContainEqual(expect.objectContaining({ check, outcome: 'failed' }));
    expect(judged.sentence).toContain('Undecided, because the runs are not comparable.');
    expect(judged.measures[0]?.verdict).toBe('undecided');
  });

  test('configurations that differ are named', () => {
    const of = (runs: typeof good, concurrency: number) =>
      runs.map((one) => ({ ...one, fingerprint: `${concurrency}`, configuration: { load: { concurrency } } }));
    expect(compare(of(good, 8), of(slow, 32), { rules: ONE }).sentence).toContain(
      'The runs have 2 different configurations (fingerprints); they differ in load.concurrency (8, 32).',
    );
  });

  describe('two engines on purpose', () => {
    const engine = (runs: typeof good, name: string, more: object = {}) => {
      const configuration = { model: name, endpoint_type: 'chat', load: { concurrency: 8 }, ...more };
      return runs.map((one) => ({ ...one, scenario: name, fingerprint: JSON.stringify(configuration), configuration }));
    };
    const judged = (b: typeof slow, accepted?: 'scenarios' | 'configuration') =>
      compare(engine(good, 'x'), b, { rules: ONE, accepted });

    test('names of scenarios and models may differ, and are listed as accepted', () => {
      expect(judged(engine(slow, 'y')).verdict).toBe('undecided');
      const { verdict, preflight } = judged(engine(slow, 'y'), 'scenarios');
      expect(verdict).toBe('regressed');
      expect(preflight.map(({ check, outcome }) => [check, outcome])).toEqual([
        ['scenario', 'accepted'],
        ['fingerprint', 'accepted'],
      ]);
      expect(preflight[1]?.sentence).toContain('they differ in model (');
    });

    test('the load may not, nor what is not known of it', () => {
      const outcome = (b: typeof slow, accepted?: 'scenarios' | 'configuration') =>
        judged(b, accepted).preflight.find(({ check }) => check === 'fingerprint')?.outcome;
      const heavier = engine(slow, 'y', { load: { concurrency: 16 } });
      expect(outcome(heavier, 'scenarios')).toBe('failed');
      expect(outcome(heavier, 'configuration')).toBe('accepted');
      expect(
        outcome(
          engine(slow, 'y').map((one) => ({ ...one, configuration: null })),
          'scenarios',
        ),
      ).toBe('failed');
      expect(
        outcome(
          engine(slow, 'y').map((one) => ({ ...one, fingerprint: '' })),
          'scenarios',
        ),
      ).toBe('failed');
      const longer = slow.map((one) => ({ ...one, load: { ...one.load, input_tokens: 110 } }));
      expect(judged(engine(longer, 'y'), 'configuration').verdict).toBe('undecided');
    });
  });

  const datasetOf = (mean: number, prompt_variant: number): object => ({
    input_tokens: { mean, stddev: 0 },
    prompt_variant,
  });
  test.each([
    ['named by their options', datasetOf(64, 1), datasetOf(256, 2), 'dataset.input_tokens.mean (64, 256)'],
    ['named by the plan if their options are equal', datasetOf(64, 1), datasetOf(64, 2), 'dataset_plan_sha256'],
    ['named by the plan if the options of one are not known', null, datasetOf(64, 2), 'dataset_plan_sha256'],
  ])('datasets that differ are %s', (_name, a, b, expected) => {
    const of = (runs: typeof good, dataset: object | null, plan: string) =>
      runs.map((one) => ({
        ...one,
        fingerprint: plan,
        configuration: { load: { concurrency: 8 }, dataset_plan_sha256: plan.repeat(64) },
        dataset,
      }));
    expect(compare(of(good, a, 'a'), of(slow, b, 'b'), { rules: ONE }).sentence).toContain(
      `The runs have 2 different configurations (fingerprints); they differ in ${expected}.`,
    );
  });

  test('what is not known is said and forbids nothing', () => {
    const judged = compare(
      good,
      slow.map((one) => ({ ...one, client: 'unknown' as const })),
      { rules: ONE },
    );
    expect(judged.verdict).toBe('regressed');
    expect(judged.preflight).toEqual([expect.objectContaining({ check: 'client', outcome: 'unknown' })]);
  });
});

describe('sets of which one follows the other in time', () => {
  const A = [1, 1.02, 0.99, 1.01, 0.98, 1.015, 0.985, 1.005, 0.995, 1.01];
  const after = (b: readonly number[], day = 10) => compare(runsOf('a', A), runsOf('b', b, day), { rules: ONE });
  /** The same order of values in both sets. */
  const times = (factor: number) => A.map((value) => value * factor);

  test('a machine that gets slower by 1 % a run is no change, and pairs are proposed', () => {
    const drifting = (from: number) => A.map((value, i) => value * 1.01 ** (from + i));
    const judged = compare(runsOf('a', drifting(0)), runsOf('b', drifting(10), 10), { rules: ONE });
    expect(judged).toMatchObject({
      ...{ verdict: 'undecided', reason: 'time_order', needs: { design: 'pairs', pairs: 6, further: 6 } },
    });
    expect(judged.sentence).toContain('a trend of the machine or runs that depend on each other could be the change');
    // By ranks alone the interval excludes no change: that is why the reason is the order.
    expect(judged.measures[0]?.effect?.low).toBeGreaterThan(1);
    // B first is the same question.
    const before = compare(runsOf('a', drifting(10), 10), runsOf('b', drifting(0)), { rules: ONE });
    expect(before).toMatchObject({ verdict: 'undecided', reason: 'time_order' });
  });

  test('a change that no trend of the runs explains is found, in both directions, and none stays unchanged', () => {
    expect(after(times(1.1)).verdict).toBe('regressed');
    expect(after(times(0.9)).verdict).toBe('improved');
    expect(after(times(1)).verdict).toBe('unchanged');
  });

  test('what could have been seen counts the order', () => {
    const detectable = after(times(1)).measures[0]?.detectable ?? NaN;
    expect(after(times(1 + detectable * 1.001)).verdict).toBe('regressed');
    expect(after(times(1 + detectable * 0.98)).verdict).toBe('undecided');
  });

  test('runs made in turns, and pairs, are judged by ranks alone', () => {
    const drifting = (from: number, factor: number) =>
      A.map((value, i) => run(`${from}${i}`, [figure(TTFT, 'p50', value * factor * 1.01 ** (2 * i))], 2 * i + from));
    expect(compare(drifting(0, 1), drifting(1, 1.3), { rules: ONE }).verdict).toBe('regressed');
    const paired = compare(runsOf('a', A), runsOf('b', times(1.06), 10), { paired: true, rules: ONE });
    expect(paired.verdict).toBe('regressed');
  });

  test('without the time of a run no trend can be seen, which is said', () => {
    const undated = (runs: ReturnType<typeof runsOf>) => runs.map((one) => ({ ...one, start: null }));
    const judged = compare(undated(runsOf('a', A)), undated(runsOf('b', times(1.1))), { rules: ONE });
    expect(judged.verdict).toBe('regressed');
    expect(judged.preflight).toEqual([expect.objectContaining({ check: 'time_order', outcome: 'unknown' })]);
    expect(judged.preflight[0]?.sentence).toBe(
      'When 20 runs were made is not known: a trend between the sets would look like a change.',
    );
  });
});

describe('failures', () => {
  const set = (name: string, latency: number, withFailures: number, errors: number) =>
    [0.99, 1, 1.01, 1.02, 0.98, 1.005].map((noise, i) =>
      run(`${name}${i}`, [
        figure('request_latency', 'p50', latency * noise),
        { ...figure('request_latency', 'p50', withFailures * noise), population: 'all' as const },
        figure('error_ratio', 'value', errors),
      ]),
    );
  const primary = [
    { measure: 'request_latency', stat: 'p50' as const },
    { measure: 'error_ratio', stat: 'value' as const },
  ];
  const rules = { ...ONE, primary, margins: { error_ratio: 0.01 } };

  test('failing fast is no improvement: it is a regression of the error share', () => {
    const judged = compare(set('a', 1, 1, 0), set('b', 0.5, Infinity, 0.6), { rules });
    expect(judged.verdict).toBe('regressed');
    expect(judged.measures.slice(0, 2).map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ['undecided', 'failures'],
      ['regressed', 'decided'],
    ]);
    // 1 − 0.6 of the requests succeed.
    expect(judged.measures[1]?.effect?.estimate).toBeCloseTo(0.4, 9);
  });

  test('no errors on either side is unchanged', () => {
    expect(compare(set('a', 1, 1, 0), set('b', 1, 1, 0), { rules }).measures[1]).toMatchObject({
      verdict: 'unchanged',
      effect: { low: 1, estimate: 1, high: 1 },
    });
  });

  test('every request failed', () => {
    const judged = compare(set('a', 1, 1, 0), set('b', 1, Infinity, 1), { rules });
    expect(judged.measures[1]).toMatchObject({ verdict: 'regressed' });
    expect(judged.measures[1]?.effect?.estimate).toBeCloseTo(0, 12);
  });
});

describe('values of 0', () => {
  const gaps = (name: string, values: readonly number[]) =>
    values.map((value, i) => run(`${name}${i}`, [figure('inter_chunk_latency', 'p50', value)]));
  const rules = { ...ONE, primary: [{ measure: 'inter_chunk_latency', stat: 'p50' as const }] };
  const six = (value: number) => new Array<number>(6).fill(value);

  test('a time of 0 in some runs has no ratio to the others', () => {
    expect(compare(gaps('a', [0, 0, 0, 0.01, 0.01, 0]), gaps('b', six(0.01)), { rules }).measures[0]).toMatchObject({
      ...{ verdict: 'undecided', reason: 'unbounded', effect: null },
      sentence: 'Inter-chunk latency p50 is undecided: 4 of 12 runs have 0 s, which has no ratio to the others.',
    });
  });

  test('times that are all 0 are equal', () => {
    expect(compare(gaps('a', six(0)), gaps('b', six(0)), { rules }).measures[0]).toMatchObject({
      ...{ verdict: 'unchanged', effect: { low: 1, estimate: 1, high: 1 } },
    });
  });

  test('a throughput that falls to 0 has regressed, by −100 %', () => {
    const primary = [{ measure: 'output_token_throughput', stat: 'value' as const }];
    const sets = (name: string, value: number) =>
      six(value).map((each, i) => run(`${name}${i}`, [figure('output_token_throughput', 'value', each)]));
    const judged = compare(sets('a', 100), sets('b', 0), { rules: { ...ONE, primary } });
    expect(judged.measures[0]).toMatchObject({ verdict: 'regressed', effect: { low: 0, estimate: 0, high: 0 } });
    expect(judged.measures[0]?.sentence).toContain('changed by −100 %');
  });
});

describe('what figures cannot carry', () => {
  test('a run without a value of a gating measure is not passed over', () => {
    const b = [...runsOf('b', [1, 1, 1, 1, 1]), run('b5', [figure(TTFT, 'p50', null)])];
    expect(compare(runsOf('a', [1, 1, 1, 1, 1, 1]), b, { rules: ONE }).measures[0]).toMatchObject({
      verdict: 'undecided',
      reason: 'missing_values',
    });
  });

  test('another definition is another figure', () => {
    const other = { ...figure(TTFT, 'p50', 1), definition: 'other' };
    const judged = compare(
      runsOf('a', [1, 1, 1, 1]),
      [0, 1, 2, 3].map((i) => run(`b${i}`, [other])),
      { rules: ONE },
    );
    expect(judged.verdict).toBe('undecided');
    expect(judged.measures.map(({ reason }) => reason)).toEqual(['missing_values', 'missing_values']);
  });

  test('p99 needs 2,000 effective values in each run', () => {
    const rules = { ...ONE, primary: [{ measure: TTFT, stat: 'p99' as const }] };
    const set = (name: string, effective_n: number | null) =>
      [1, 1, 1, 1].map((value, i) => run(`${name}${i}`, [{ ...figure(TTFT, 'p99', value), n: 9000, effective_n }]));
    expect(compare(set('a', 2000), set('b', 2000), { rules }).verdict).toBe('unchanged');
    expect(compare(set('a', 2000), set('b', 1000), { rules }).measures[0]).toMatchObject({
      reason: 'few_values',
      needs: { design: 'requests', times: 2 },
    });
    expect(compare(set('a', 2000), set('b', null), { rules }).measures[0]).toMatchObject({
      reason: 'few_values',
      needs: null,
    });
  });

  test('buckets that hold both answers refuse the verdict, finer ones give it', () => {
    const set = (name: string, values: readonly (readonly [number, number])[]) =>
      values.map((value, i) => run(`${name}${i}`, [figure(TTFT, 'p50', value)]));
    const in5 = (low: number, high: number) => new Array<readonly [number, number]>(5).fill([low, high]);
    expect(compare(set('a', in5(0.1, 0.2)), set('b', in5(0.1, 0.2)), { rules: ONE }).measures[0]).toMatchObject({
      verdict: 'undecided',
      reason: 'buckets',
      needs: { design: 'buckets', effect: 0.05 },
    });
    expect(compare(set('a', in5(0.1, 0.2)), set('b', in5(0.2, 0.4)), { rules: ONE }).verdict).toBe('undecided');
    expect(compare(set('a', in5(0.1, 0.2)), set('b', in5(0.4, 0.8)), { rules: ONE }).verdict).toBe('regressed');
    // The same shift is not resolved: with these buckets a factor of 2 · 2 · 1.05 is the least that is.
    const same = compare(set('a', in5(0.1, 0.2)), set('b', in5(0.1, 0.2)), { rules: ONE }).measures[0];
    expect(same?.detectable).toBeCloseTo(2 * 1.05 - 1, 9);
  });
});

const latencies = fc.array(fc.integer({ min: 80, max: 130 }), { minLength: 5, maxLength: 8 });
const MIRROR = {
  regressed: 'improved',
  improved: 'regressed',
  unchanged: 'unchanged',
  undecided: 'undecided',
  suspect: 'suspect',
};

test('swapping A and B mirrors the verdict', () => {
  fc.assert(
    fc.property(latencies, latencies, (x, y) => {
      const there = compare(runsOf('a', x), runsOf('b', y), { rules: ONE }).measures[0];
      const back = compare(runsOf('b', y), runsOf('a', x), { rules: ONE }).measures[0];
      expect(back?.verdict).toBe(MIRROR[there?.verdict ?? 'undecided']);
      expect((back?.effect?.low ?? NaN) * (there?.effect?.high ?? NaN)).toBeCloseTo(1, 9);
      expect(back?.p?.raw).toBeCloseTo(there?.p?.raw ?? NaN, 12);
    }),
  );
});

test('the unit does not matter', () => {
  fc.assert(
    fc.property(latencies, latencies, fc.constantFrom(1e-6, 0.125, 4, 1024), (x, y, scale) => {
      const scaled = (values: readonly number[]): number[] => values.map((value) => value * scale);
      const one = compare(runsOf('a', x), runsOf('b', y), { rules: ONE }).measures[0];
      const other = compare(runsOf('a', scaled(x)), runsOf('b', scaled(y)), { rules: ONE }).measures[0];
      expect(other?.effect?.estimate).toBeCloseTo(one?.effect?.estimate ?? NaN, 9);
      expect(other?.effect?.low).toBeCloseTo(one?.effect?.low ?? NaN, 9);
    }),
  );
});

test('making B slower never improves the verdict', () => {
  const ORDER = ['improved', 'unchanged', 'undecided', 'regressed'];
  fc.assert(
    fc.property(latencies, latencies, fc.integer({ min: 0, max: 100 }), (x, y, percent) => {
      const judged = (values: readonly number[]) =>
        compare(runsOf('a', x), runsOf('b', values), { rules: ONE }).measures[0];
      const before = judged(y);
      const after = judged(y.map((value) => value * (1 + percent / 100)));
      if (before?.verdict === 'regressed') expect(after?.verdict).toBe('regressed');
      if (after?.verdict === 'improved') expect(before?.verdict).toBe('improved');
      expect(ORDER).toContain(after?.verdict);
    }),
  );
});

test('a change of one model is found and named beside those of all together, which alone decide', () => {
  const ofModel = (value: number) => ({
    ...figure(TTFT, 'p50', value),
    breakdown: 'model=b',
  });
  const sets = [1, 2].map((factor) =>
    Array.from({ length: 6 }, (_, i) =>
      run(`${factor}-${i}`, [figure(TTFT, 'p50', 1 + i / 1000), ofModel(factor + i / 1000)]),
    ),
  );
  const [a = [], b = []] = sets;
  const { verdict, measures } = compare(a, b, { rules: ONE });
  expect(verdict).toBe('unchanged');
  expect(measures).toMatchObject([
    { gating: true, verdict: 'unchanged' },
    { gating: false, verdict: 'regressed', sentence: expect.stringContaining('Time to first token p50 of model b') },
  ]);
});
