import type { FamilyInput } from '../../../core/exposition/index.ts';
import {
  layoutOf,
  valuesOf,
  type TimedSeries,
  type PushedFamily,
  type SeriesLabels,
  type SeriesPoint,
} from '../remote-write/pushed-series.ts';
import { scenarioFamilies } from '../scenario-families.ts';
import { PAGE_MS, type BackfillPart } from './openmetrics-pages.ts';
import { readEntries } from '../../store/scenarios/append-log.ts';
import type { ScenarioPaths } from '../../store/scenarios/scenario-folders.ts';
import { stateOf, type ScenarioState } from '../../judge/scenario-state.ts';
import { readVerdictFile } from '../../judge/verdict-log.ts';

/** A state of a scenario and since when. */
export interface DatedState {
  /** Milliseconds since the epoch. */
  readonly at_ms: number;
  readonly state: ScenarioState;
}

/** Every state that a scenario has had, oldest first: each line of its two files makes one. */
export async function readScenarioTimeline(paths: ScenarioPaths): Promise<readonly DatedState[]> {
  const { entries: changes } = await readEntries(paths.baseline);
  const { entries: verdicts } = await readVerdictFile(paths.verdicts);
  const times = [...verdicts, ...changes].map(({ at }) => timeOf(at)).filter(Number.isFinite);
  const until = (time_ms: number) => ({
    verdicts: verdicts.filter(({ at }) => timeOf(at) <= time_ms),
    changes: changes.filter(({ at }) => timeOf(at) <= time_ms),
  });
  return [...new Set(times)]
    .sort((x, y) => x - y)
    .flatMap((at_ms) => {
      const known = until(at_ms);
      const state = stateOf(known.verdicts, known.changes);
      return state === null ? [] : [{ at_ms, state }];
    });
}

function timeOf(at: unknown): number {
  return typeof at === 'string' ? Date.parse(at) : NaN;
}

export interface VerdictParts {
  readonly samples: number;
  /** How long a state is written again and again unless a later one follows; less when there are too many samples. */
  readonly heldSeconds: number;
  /** In the order of time. */
  parts(): Generator<BackfillPart>;
}

/** Well within Prometheus' look-back of five minutes. */
const EVERY_MS = 240_000;
const MAX_SAMPLES = 2_000_000;
/** How long a state is held, from the longest; the first that keeps the number of samples is used. */
const HOLDS_MS = [90, 30, 7, 2, 1, 0.25, 0].map((days) => days * 86_400_000);

/**
 * The states of scenarios as series with times: each from when it was decided until the next one, or until now. A receiver
 * shows a sample for five minutes, so the states in between are samples as well.
 */
export function verdictParts(
  timelines: readonly (readonly DatedState[])[],
  { extraLabels, now_ms }: { readonly extraLabels: Readonly<Record<string, string>>; readonly now_ms: number },
  mostSamples: number = MAX_SAMPLES,
): VerdictParts {
  const held = timelines.map((timeline) =>
    timeline.map((dated, i) => heldOf(dated, timeline[i + 1], now_ms, extraLabels)),
  );
  const samplesAt = (hold_ms: number): number =>
    held.flat().reduce((sum, state) => sum + state.series.size * timesOf(state, hold_ms).length, 0);
  const hold_ms = HOLDS_MS.find((each) => samplesAt(each) <= mostSamples) ?? 0;
  return {
    samples: samplesAt(hold_ms),
    heldSeconds: hold_ms / 1000,
    *parts() {
      const moments = held.flatMap((states) => states.flatMap((state, i) => momentsOf(state, states[i + 1], hold_ms)));
      const pages = Map.groupBy(moments, ({ time_ms }) => Math.floor(time_ms / PAGE_MS));
      for (const page of [...pages.keys()].sort((x, y) => x - y)) {
        yield { start_ms: page * PAGE_MS, series: asTimedSeries(pages.get(page) ?? []) };
      }
    },
  };
}

interface HeldSeries {
  readonly family: PushedFamily;
  readonly labels: SeriesLabels;
  readonly value: number;
}

interface HeldState {
  readonly from_ms: number;
  /** When the next state begins, or now. */
  readonly until_ms: number;
  /** By its labels. */
  readonly series: ReadonlyMap<string, HeldSeries>;
}

/** Some series at one time; `value` null: the series ends. */
interface Moment {
  readonly time_ms: number;
  readonly samples: readonly { readonly key: string; readonly series: HeldSeries; readonly value: number | null }[];
}

function heldOf(
  { at_ms, state }: DatedState,
  next: DatedState | undefined,
  now_ms: number,
  extraLabels: Readonly<Record<string, string>>,
): HeldState {
  const families: readonly FamilyInput[] = scenarioFamilies([state]);
  const layout = layoutOf(families, extraLabels, null);
  const values = valuesOf(families);
  const series = layout.series.flatMap(({ family: at, labels }, i) => {
    const family = layout.families[at];
    return family === undefined ? [] : [[JSON.stringify(labels), { family, labels, value: values[i] ?? NaN }] as const];
  });
  return { from_ms: at_ms, until_ms: next?.at_ms ?? Math.max(now_ms, at_ms + 1), series: new Map(series) };
}

function timesOf({ from_ms, until_ms }: HeldState, hold_ms: number): readonly number[] {
  const count = Math.max(1, Math.ceil(Math.min(until_ms - from_ms, hold_ms) / EVERY_MS));
  return Array.from({ length: count }, (_, i) => from_ms + i * EVERY_MS);
}

function momentsOf(state: HeldState, next: HeldState | undefined, hold_ms: number): Moment[] {
  const all = [...state.series].map(([key, series]) => ({ key, series }));
  const written = timesOf(state, hold_ms).map((time_ms): Moment => ({
    time_ms,
    samples: all.map((each) => ({ ...each, value: each.series.value })),
  }));
  const cut_ms = state.from_ms + hold_ms;
  const end = (time_ms: number, ended: typeof all): Moment => ({
    time_ms,
    samples: ended.map((each) => ({ ...each, value: null })),
  });
  if (cut_ms < state.until_ms)
    return [...written, end(cut_ms + EVERY_MS / 2, all)].filter(({ time_ms }) => time_ms < state.until_ms);
  if (next === undefined) return written;
  const gone = all.filter(({ key }) => !next.series.has(key));
  return gone.length === 0 ? written : [...written, end(state.until_ms, gone)];
}

/** Series with the same times are one layout; each is in one of them, with all of its points. */
function asTimedSeries(moments: readonly Moment[]): readonly TimedSeries[] {
  const bySeries = new Map<string, { readonly series: HeldSeries; readonly points: [number, number | null][] }>();
  for (const { time_ms, samples } of moments) {
    for (const { key, series, value } of samples) {
      const found = bySeries.get(key) ?? { series, points: [] };
      bySeries.set(key, found);
      found.points.push([time_ms, value]);
    }
  }
  const alike = Map.groupBy(bySeries.values(), ({ points }) =>
    JSON.stringify(points.map(([time_ms, value]) => [time_ms, value === null])),
  );
  return [...alike.values()].map(together);
}

type PointsOfSeries = { readonly series: HeldSeries; readonly points: readonly (readonly [number, number | null])[] };

function together(group: readonly PointsOfSeries[]): TimedSeries {
  const families = [...new Map(group.map(({ series: { family } }) => [family.name, family])).values()];
  const place = new Map(families.map(({ name }, i) => [name, i]));
  const layout = {
    families,
    series: group.map(({ series: { family, labels } }) => ({ family: place.get(family.name) ?? 0, labels })),
    nativeSeries: [],
    created_ms: null,
  };
  const points = (group[0]?.points ?? []).map(([time_ms, ending], i): SeriesPoint => {
    if (ending === null) return { time_ms, values: null, native: null };
    return { time_ms, values: group.map((each) => each.points[i]?.[1] ?? NaN), native: [] };
  });
  return { layout, points };
}
