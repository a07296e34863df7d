import { describe, expect, test } from '@jest/globals';
import { compare } from './compare.ts';
import { defaultRules } from './rules.ts';
import { figure, run, TTFT } from './testing/runs.ts';
import type { Figure, RunFigures } from './run-figures.ts';

const ofServer = (measure: string, value: number): Figure => ({ ...figure(measure, 'mean', value), origin: 'server' });

/** A slice of an hour; `load` is what differs from one request per second. */
function slice(place: number, ttft: number, load: Partial<RunFigures['load']> = {}): RunFigures {
  const made = run(`${ttft}-${place}`, [ofServer(TTFT, ttft), ofServer('inter_token_latency', 0.01)], place / 288);
  return { ...made, client: 'none', load: { ...made.load, request_rate: 1, ...load } };
}
const slices = (values: readonly number[], load?: Partial<RunFigures['load']>): RunFigures[] =>
  values.map((value, place) => slice(place, value, load));

/** Chance from slice to slice, without an order. */
const NOISE = [1.01, 0.97, 1.02, 1.0, 0.96, 1.03, 0.99, 1.02, 0.98, 1.01, 0.98, 1.03];
const STABLE = [1.0, 1.02, 0.98, 1.01, 0.99, 1.0, 1.02, 0.97, 1.01, 1.0, 0.99, 1.01];
const inPairs = (a: readonly RunFigures[], b: readonly RunFigures[]) => compare(a, b, { paired: true });

describe('windows of what servers recorded', () => {
  test('are judged by the means of the servers, those of a client beside servers by the client', () => {
    expect(defaultRules(slices([1])).primary).toEqual([
      { measure: TTFT, stat: 'mean' },
      { measure: 'inter_token_latency', stat: 'mean' },
    ]);
    const onlyLatency = run('e2e', [ofServer('request_latency', 1), ofServer('output_token_throughput', 100)]);
    expect(defaultRules([onlyLatency]).primary).toEqual([{ measure: 'request_latency', stat: 'mean' }]);
    const beside = run('client', [figure(TTFT, 'p50', 1), ofServer(TTFT, 1)]);
    expect(defaultRules([beside]).origin).toBeUndefined();
  });

  test('of a slower server beside another one have regressed', () => {
    const judged = inPairs(slices(STABLE), slices(NOISE.map((noise) => 1.2 * noise)));
    expect([judged.verdict, judged.measures.find(({ measure }) => measure === TTFT)?.verdict]).toEqual([
      'regressed',
      'regressed',
    ]);
    expect(judged.preflight).toEqual([]);
  });

  test('of equal servers have not', () => {
    expect(inPairs(slices(STABLE), slices(NOISE)).verdict).not.toBe('regressed');
  });

  test('that differ by what lasts from slice to slice are undecided, as few of them say little about it', () => {
    // Slow for a while and back: the signed ranks alone exclude chance.
    const wave = [1.01, 1.04, 1.09, 1.15, 1.2, 1.24, 1.25, 1.23, 1.18, 1.12, 1.06, 1.02];
    const judged = inPairs(slices(STABLE), slices(wave));
    const ttft = judged.measures.find(({ measure }) => measure === TTFT);
    expect([ttft?.effect?.low ?? 0, ttft?.verdict, ttft?.reason]).toEqual([
      expect.any(Number),
      'undecided',
      'dependent_slices',
    ]);
    expect(ttft?.effect?.low).toBeGreaterThan(1);
  });

  describe('beside days of A', () => {
    const wave = [1.01, 1.04, 1.09, 1.15, 1.2, 1.24, 1.25, 1.23, 1.18, 1.12, 1.06, 1.02];
    const dayOf = (place: number, level: number, load: Partial<RunFigures['load']> = {}): RunFigures[] =>
      slices(
        STABLE.map((value) => level * value),
        load,
      ).map((each) => ({ ...each, run_id: `${each.run_id}-${place}` }));
    const steady = [0.99, 1, 1.01, 1.02, 0.98, 1].map((level, i) => dayOf(i, level));
    const beside = (days: readonly (readonly RunFigures[])[]) => {
      const { verdict, measures, preflight } = compare(slices(STABLE), slices(wave), { paired: true, days });
      return {
        verdict,
        reason: measures[0]?.reason,
        findings: preflight.map(({ sentence, outcome }) => [outcome, sentence]),
      };
    };

    test('that hardly differ, what lasts within the hour is a change', () => {
      expect(beside(steady)).toEqual({
        verdict: 'regressed',
        reason: 'decided',
        findings: [['accepted', 'How much A varies without a change is known from 6 other days.']],
      });
    });

    test('that differ as much it is none', () => {
      const varying = [0.9, 1, 1.1, 1.15, 0.85, 1].map((level, i) => dayOf(i, level));
      expect(beside(varying)).toMatchObject({ verdict: 'undecided', reason: 'dependent_slices' });
    });

    test('with another load say nothing', () => {
      const busy = steady.map((day, i) => (i < 2 ? dayOf(i, 1, { request_rate: 2 }) : day));
      expect(beside(busy)).toEqual({
        verdict: 'undecided',
        reason: 'dependent_slices',
        findings: [
          [
            'unknown',
            'How much A varies without a change is not known: that takes 5 other days with its load, and it has 4. ' +
              '2 days with another load are left out.',
          ],
        ],
      });
    });
  });

  test.each([
    [
      { request_rate: 1.3 },
      'The request rate per server changed from 1 requests/s to 1.3 requests/s, by more than 10 %',
    ],
    [{ input_tokens: 130 }, 'The input tokens per request changed from 100 tokens to 130 tokens'],
    [{ cached_input_ratio: 0.4 }, 'The share of input tokens from a cache changed from 50.0 % to 40.0 %'],
  ])('under another load %j are undecided, with its change', (load, sentence) => {
    const judged = inPairs(
      slices(STABLE),
      slices(
        NOISE.map((noise) => 1.2 * noise),
        load,
      ),
    );
    expect([judged.verdict, judged.reason]).toEqual(['undecided', 'preflight']);
    expect(judged.preflight.map((finding) => finding.sentence)).toEqual([expect.stringContaining(sentence)]);
  });

  test('may differ in the rate by chance', () => {
    expect(inPairs(slices(STABLE), slices(NOISE, { request_rate: 1.05, input_tokens: 103 })).preflight).toEqual([]);
  });
});
