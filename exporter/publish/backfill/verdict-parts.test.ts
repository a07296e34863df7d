import { expect, test } from '@jest/globals';
import { type DatedState, verdictParts } from './verdict-parts.ts';
import { stateOf } from '../../judge/scenario-state.ts';
import type { VerdictEntry } from '../../../core/api/verdict.ts';
import { OpenMetricsPages } from './openmetrics-pages.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 20);

/** A verdict on one run, so many hours after the start. */
function judged(hours: number, verdict: VerdictEntry['verdict'], run_id: string): DatedState {
  const at_ms = START_MS + hours * HOUR_MS;
  const newest: VerdictEntry = {
    ...{ schema_version: 1, scenario: 'chat', at: new Date(at_ms).toISOString(), verdict, reason: 'decided' },
    ...{ sentence: 's', needs: null, fingerprint: 'f', run_ids: [run_id], baseline_run_ids: ['b'], left_out: null },
    ...{ anchor_verdict: null, author: null, measures: [] },
  };
  const state = stateOf([newest], [{ schema_version: 1, scenario: 'chat', at: '', action: 'accept', run_ids: ['b'] }]);
  if (state === null) throw new Error('a verdict makes a state');
  return { at_ms, state };
}

const TIMELINE = [judged(1, 'unchanged', 'r1'), judged(4.01, 'regressed', 'r2')];
const OPTIONS = { extraLabels: { site: 'lab' }, now_ms: START_MS + 5 * HOUR_MS };

interface Sample {
  readonly minutes: number;
  readonly value: number | null;
}

/** Every sample of each series, by its name and what distinguishes it. */
function samples(parts: ReturnType<typeof verdictParts>): ReadonlyMap<string, readonly Sample[]> {
  const found = new Map<string, Sample[]>();
  for (const { series, start_ms } of parts.parts()) {
    for (const { layout, points } of series) {
      layout.series.forEach(({ labels }, i) => {
        const { __name__: name = '', site, scenario, ...own } = Object.fromEntries(labels);
        expect([site, scenario]).toEqual(['lab', 'chat']);
        const key = [name.replace('llmbench_scenario_', ''), ...Object.values(own)].join(' ');
        for (const { time_ms, values } of points) {
          expect(time_ms).toBeGreaterThanOrEqual(start_ms);
          const minutes = (time_ms - START_MS) / 60_000;
          found.set(key, [...(found.get(key) ?? []), { minutes, value: values?.[i] ?? null }]);
        }
      });
    }
  }
  return found;
}

test('each verdict holds, by a sample every four minutes, until the next one; the last one until now', () => {
  const found = samples(verdictParts([TIMELINE], OPTIONS));
  const regressed = found.get('verdict regressed') ?? [];
  expect(regressed[0]).toEqual({ minutes: 60, value: 0 });
  expect(regressed.find(({ value }) => value === 1)).toEqual({ minutes: 240.6, value: 1 });
  const gaps = regressed.slice(1).map(({ minutes }, i) => minutes - (regressed[i]?.minutes ?? 0));
  expect(Math.max(...gaps)).toBeCloseTo(4, 6);
  expect(regressed.at(-1)?.minutes).toBeCloseTo(296.6, 6);
  // A series that the next state lacks ends with it, and no other does.
  expect(found.get('judged_run_info r1')?.at(-1)).toEqual({ minutes: 240.6, value: null });
  expect([...found.values()].flat().filter(({ value }) => value === null)).toHaveLength(1);
});

test('the parts come in the order of time, one for two hours, and their pages have each metric once', () => {
  const parts = [...verdictParts([TIMELINE], OPTIONS).parts()];
  expect(parts.map(({ start_ms }) => (start_ms - START_MS) / HOUR_MS)).toEqual([0, 2, 4]);
  const pages = new OpenMetricsPages();
  for (const { series } of parts) series.forEach((each) => pages.add(each));
  for (const { text } of pages.takeUntil(Infinity)) {
    const names = text.split('\n').flatMap((line) => (line.startsWith('#') ? [] : [line.split(' ')[0] ?? '']));
    const changes = names.filter((name, i) => name !== names[i - 1]);
    expect(new Set(changes).size).toBe(changes.length);
  }
});

test('when there would be too many samples, verdicts are held for a shorter time and then end', () => {
  const all = verdictParts([TIMELINE], OPTIONS);
  expect([all.heldSeconds, all.samples]).toEqual([90 * 86_400, samplesOf(all)]);
  const few = verdictParts([TIMELINE], OPTIONS, 20);
  expect([few.heldSeconds, few.samples]).toEqual([0, samplesOf(few)]);
  expect(samples(few).get('verdict unchanged')).toEqual([
    ...[
      { minutes: 60, value: 1 },
      { minutes: 62, value: null },
    ],
    ...[
      { minutes: 240.6, value: 0 },
      { minutes: 242.6, value: null },
    ],
  ]);
});

function samplesOf(parts: ReturnType<typeof verdictParts>): number {
  return [...samples(parts).values()].flat().filter(({ value }) => value !== null).length;
}
