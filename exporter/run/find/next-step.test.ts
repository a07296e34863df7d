import { describe, expect, test } from '@jest/globals';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import {
  RESOLUTION_RATIO,
  boundsOf,
  nextStep,
  type LoadRange,
  type ProbeOutcome,
  type SearchStep,
} from './next-step.ts';
import type { ProbeVerdict } from '../../../core/run/capacity.ts';

const CONCURRENCY: LoadRange = { load: 'concurrency', start: 1, min: 1, max: 1024 };
const RATE: LoadRange = { load: 'request_rate', start: 1, min: 0.01, max: 1000 };

type Found = Extract<SearchStep, { kind: 'end' }>;

/** Performs a search against a server that gives this verdict at a load. */
function search(
  range: LoadRange,
  verdictAt: (load: number, repeat: number) => ProbeVerdict,
): { readonly found: Found; readonly outcomes: readonly ProbeOutcome[] } {
  const outcomes: ProbeOutcome[] = [];
  for (;;) {
    const step = nextStep(range, outcomes);
    if (step.kind === 'end') return { found: step, outcomes };
    outcomes.push({ load: step.load, verdict: verdictAt(step.load, step.repeat), isConclusive: true });
  }
}

const upTo =
  (capacity: number) =>
  (load: number): ProbeVerdict =>
    load <= capacity ? 'holds' : 'fails';

describe('a server that is always right', () => {
  test('the loads double, then the interval is halved, then both ends and a load above are confirmed', () => {
    const { found, outcomes } = search(CONCURRENCY, upTo(5));
    expect(outcomes.map(({ load }) => load)).toEqual([1, 2, 4, 8, 6, 5, 5, 6]);
    expect(found).toEqual({ kind: 'end', end: 'found', holds: 5, fails: 6, confirmed: true });
  });

  test.each(Array.from({ length: 64 }, (_, i) => i + 1))(
    'concurrency %i is found, within the resolution',
    (capacity) => {
      const { found } = search(CONCURRENCY, upTo(capacity));
      const { holds, fails } = found as Found & { holds: number; fails: number };
      expect(found.end).toBe('found');
      expect(holds).toBeLessThanOrEqual(capacity);
      expect(fails).toBeGreaterThan(capacity);
      expect(fails - holds === 1 || fails / holds <= RESOLUTION_RATIO).toBe(true);
    },
  );

  test('a rate below the start is found by halving', () => {
    const { found, outcomes } = search(RATE, upTo(0.3));
    expect(outcomes.slice(0, 3).map(({ load }) => load)).toEqual([1, 0.5, 0.25]);
    expect(found.end).toBe('found');
    expect(found.holds).toBeLessThanOrEqual(0.3);
    expect(found.fails).toBeGreaterThan(0.3);
  });

  test('the failing bound is the first step of doubling: a load above it is tried too', () => {
    const { found, outcomes } = search(CONCURRENCY, upTo(1));
    expect(outcomes.map(({ load }) => load)).toEqual([1, 2, 1, 2, 4]);
    expect(found).toMatchObject({ end: 'found', holds: 1, fails: 2 });
  });

  test('the highest load holds', () => {
    const { found } = search({ ...CONCURRENCY, max: 20 }, upTo(1000));
    expect(found).toEqual({ kind: 'end', end: 'not_reached', holds: 20, fails: null, confirmed: true });
  });

  test('the lowest load fails', () => {
    const { found } = search({ ...CONCURRENCY, start: 4 }, () => 'fails');
    expect(found).toEqual({ kind: 'end', end: 'none_holds', holds: null, fails: 1, confirmed: true });
  });
});

describe('what one probe cannot decide', () => {
  test('an undecided load stays between the bounds', () => {
    const verdict = (load: number): ProbeVerdict => (load < 9.8 ? 'holds' : load > 10.2 ? 'fails' : 'undecided');
    const { found } = search({ ...RATE, start: 5 }, verdict);
    expect(found.end).toBe('found');
    const { holds, fails } = found as Found & { holds: number; fails: number };
    expect([holds <= 10, fails >= 10, fails / holds <= RESOLUTION_RATIO]).toEqual([true, true, true]);
  });

  test('an undecided load is tried again if the bounds are too far apart without it', () => {
    const verdict = (load: number, repeat: number): ProbeVerdict =>
      (load === 25 || load === 26) && repeat < 2 ? 'undecided' : upTo(24)(load);
    const { found } = search(CONCURRENCY, verdict);
    expect(found).toMatchObject({ end: 'found', holds: 24, fails: 25 });
  });

  test('a wide range without decisions is reported as undecided, with its bounds', () => {
    const verdict = (load: number): ProbeVerdict => (load < 8 ? 'holds' : load > 20 ? 'fails' : 'undecided');
    const { found } = search(RATE, verdict);
    expect(found.end).toBe('undecided');
    expect(found.holds).toBeLessThan(8);
    expect(found.fails).toBeGreaterThan(20);
  });

  test('a wrong probe is outvoted by repeats', () => {
    // The first probe of 8 fails although 11 hold.
    const { found } = search(CONCURRENCY, (load, repeat) => (load === 8 && repeat === 0 ? 'fails' : upTo(11)(load)));
    expect(found).toMatchObject({ end: 'found', holds: 11, fails: 12 });
  });
});

test('a load that holds above one that fails is reported as not monotonic, when repeats say the same', () => {
  const resonance = (load: number): ProbeVerdict => (load >= 4 && load < 8 ? 'fails' : upTo(100)(load));
  const { found, outcomes } = search(CONCURRENCY, resonance);
  expect(found).toMatchObject({ end: 'not_monotonic', holds: 3, fails: 4 });
  expect(outcomes.filter(({ load, verdict }) => load > 4 && verdict === 'holds').length).toBeGreaterThanOrEqual(2);
});

test('a verdict that only guides the search is confirmed by two that are conclusive', () => {
  const outcomes: ProbeOutcome[] = [
    { load: 1, verdict: 'holds', isConclusive: false },
    { load: 2, verdict: 'fails', isConclusive: true },
  ];
  for (const repeat of [1, 2]) {
    expect(nextStep(CONCURRENCY, outcomes)).toEqual({ kind: 'probe', load: 1, repeat, isConfirming: true });
    outcomes.push({ load: 1, verdict: 'holds', isConclusive: true });
  }
  expect(nextStep(CONCURRENCY, outcomes)).toMatchObject({ kind: 'probe', load: 2, repeat: 1 });
});

test('the answer so far is known at every step', () => {
  const outcomes: ProbeOutcome[] = [
    { load: 1, verdict: 'holds', isConclusive: true },
    { load: 2, verdict: 'holds', isConclusive: true },
    { load: 4, verdict: 'fails', isConclusive: true },
  ];
  expect(boundsOf(outcomes.slice(0, 0))).toEqual({ holds: null, fails: null, confirmed: false });
  expect(boundsOf(outcomes.slice(0, 2))).toEqual({ holds: 2, fails: null, confirmed: false });
  expect(boundsOf(outcomes)).toEqual({ holds: 2, fails: 4, confirmed: false });
});

describe('noise: every probe is wrong in 1 of 40 cases, and undecided near the truth', () => {
  /** Truths from 3 to 400, each search with its own noise. */
  const searches = (range: LoadRange): { found: Found; outcomes: readonly ProbeOutcome[]; truth: number }[] =>
    Array.from({ length: 100 }, (_, seed) => {
      const random = seededRandom(`search ${seed}`);
      const truth = 3 * (400 / 3) ** random();
      const verdictAt = (load: number): ProbeVerdict => {
        const distance = Math.log(load / truth) / 0.02;
        if (random() < 1 - Math.min(1, distance * distance)) return 'undecided';
        const isWrong = random() < 0.025;
        return distance < 0 !== isWrong ? 'holds' : 'fails';
      };
      return { ...search(range, verdictAt), truth };
    });

  test.each([CONCURRENCY, RATE])('the bounds enclose the truth in at least 95 of 100 searches: $load', (range) => {
    const enclosed = searches(range).filter(
      ({ found: { holds, fails }, truth }) => (holds ?? 0) <= truth && (fails ?? Infinity) >= truth,
    );
    expect(enclosed.length).toBeGreaterThanOrEqual(95);
  });

  test.each([CONCURRENCY, RATE])('the bounds are as fine as the undecided loads allow: $load', (range) => {
    for (const { found, outcomes } of searches(range)) {
      const { end, holds, fails } = found as Found & { holds: number; fails: number };
      const between = outcomes.filter(({ load }) => load > holds && load < fails);
      expect(end).toBe(fails / holds <= RESOLUTION_RATIO || fails - holds === 1 ? 'found' : 'undecided');
      expect(end === 'found' || between.length > 0).toBe(true);
    }
  });

  test.each([CONCURRENCY, RATE])('doublings, at most four halvings and the repeats: $load', (range) => {
    const probes = searches(range).map(({ outcomes }) => outcomes.length);
    expect(Math.max(...probes)).toBeLessThanOrEqual(40);
    expect(probes.reduce((sum, n) => sum + n, 0) / probes.length).toBeLessThanOrEqual(16);
  });
});
