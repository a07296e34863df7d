import { expect, test } from '@jest/globals';
import type { VerdictEntry } from '../../core/api/verdict.ts';
import { compare } from './compare.ts';
import { isPast } from './check-pairs.ts';
import type { RunFigures } from './run-figures.ts';
import { stateOf } from './scenario-state.ts';
import { figure, run, TTFT } from './testing/runs.ts';
import { verdictEntry } from './verdict-log.ts';

const NOISE = [1.01, 0.97, 1.02, 1.0, 0.96, 1.03, 0.99, 1.02, 0.98, 1.01, 0.98, 1.03];
const STABLE = [1.0, 1.02, 0.98, 1.01, 0.99, 1.0, 1.02, 0.97, 1.01, 1.0, 0.99, 1.01];

function slices(name: string, hour: number, values: readonly number[], rate = 1): RunFigures[] {
  return values.map((ttft, place) => {
    const figures = [TTFT, 'inter_token_latency'].map((measure) => figure(measure, 'mean', ttft));
    const ofServer = figures.map((each) => ({ ...each, origin: 'server' as const }));
    const made = run(`${name}-${hour}-${place}`, ofServer, (hour + place / 12) / 24);
    return { ...made, scenario: name, client: 'none', load: { ...made.load, request_rate: rate } };
  });
}

/** The judgment on an hour of a canary that is slower by a factor than the stable version. */
const hourOf = (hour: number, slower: number, rate = 1) =>
  compare(
    slices('prod-baseline', hour, STABLE),
    slices(
      'prod',
      hour,
      NOISE.map((noise) => slower * noise),
      rate,
    ),
    { paired: true, accepted: 'scenarios' },
  );

function entryOf(hour: number, judgment: ReturnType<typeof hourOf>, recovered: boolean | null): VerdictEntry {
  const judged = { ...judgment, window: judgment, anchor: null };
  const entry = verdictEntry(judged, {
    ...{ fingerprint: 'f', runIds: judgment.runs.b, firstStart: null, author: null, detect: null },
    recovery: recovered === null ? null : { recovered, further: null },
  });
  return { ...entry, design: 'pairs', at: new Date(Date.UTC(2026, 0, 1, hour)).toISOString() };
}

test('an hour without the change ends a regression, although it excludes no small change', () => {
  const found = hourOf(1, 1.2);
  expect([found.verdict, found.preflight.map(({ outcome }) => outcome)]).toEqual(['regressed', ['accepted']]);
  const entries = [entryOf(1, found, null)];
  const open = stateOf(entries, [])?.open;
  if (!open) throw new Error('no regression is open');
  const usual = hourOf(2, 1);
  expect(isPast(usual, entries, open)).toBe(true);
  expect(stateOf([...entries, entryOf(2, usual, true)], [])).toMatchObject({ open: null, state: 'recovered' });
});

test.each([
  ['as slow', 1.2, 1],
  ['less slow, by more than the margin', 1.1, 1],
  ['under another load', 1, 2],
])('an hour that is %s does not, and joins it with the slices beside it', (_, slower, rate) => {
  const entries = [entryOf(1, hourOf(1, 1.2), null)];
  const open = stateOf(entries, [])?.open;
  if (!open) throw new Error('no regression is open');
  const next = hourOf(2, slower, rate);
  expect(isPast(next, entries, open)).toBe(false);
  const after = stateOf([...entries, entryOf(2, next, false)], [])?.open;
  expect([after?.run_ids.length, after?.baseline_run_ids.length]).toEqual([24, 24]);
});
