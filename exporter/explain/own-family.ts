import { readFileSync } from 'node:fs';
import { catalogs } from '../../catalog/load.ts';
import type { FamilyMatch } from '../../catalog/types.ts';
import { DISTRIBUTION_MEASURES } from '../../core/measures/measures.ts';
import { measureOfName, wholeName, serverFamily } from '../../core/measures/names.ts';
import { RUN_SCALARS } from '../../core/measures/scalar-results.ts';
import { CAPACITY_MEASURES } from '../../core/measures/scalar-measures.ts';
import { wrapped } from '../../core/text/words.ts';

/** A measure of the client, by the name of a metric of llmbench's own, of the measure, or of the field's short word. */
interface OwnMetric {
  readonly measure: string;
  readonly unit: string;
  readonly definition: string;
  readonly formula: string;
  readonly direction: string;
}

/** What of a metric's name is not the measure's: the prefix, the unit, the sample's suffix. */
const AROUND_MEASURE =
  /^(?:llmbench_(?:result_)?)?(.+?)(?:_(?:seconds|tokens|ratio|requests_per_second|tokens_per_second|documents_per_second|images|images_per_second|bytes|joules|watts|joules_per_token|cost_per_million_tokens))?(?:_(?:bucket|sum|count))?$/;

/** Null when the name is of no measure of ours. */
export function ownMetric(name: string): OwnMetric | null {
  const lower = name.toLowerCase();
  return ownMeasure(lower) ?? ownMeasure(AROUND_MEASURE.exec(lower)?.[1] ?? lower);
}

function ownMeasure(base: string): OwnMetric | null {
  const { measure: wanted, clock } = measureOfName(wholeName(base));
  const candidates = [...DISTRIBUTION_MEASURES, ...RUN_SCALARS, ...Object.values(CAPACITY_MEASURES)];
  const found = candidates.find((each) => each.measure === wanted && (!('clock' in each) || each.clock === clock));
  if (found === undefined) return null;
  const { measure, unit, definition, formula, direction } = found;
  return { measure, unit, definition, formula, direction };
}

export function ownMetricText({ measure, unit, definition, formula, direction }: OwnMetric): string {
  const better = direction === 'none' ? 'describes the load and is not judged' : `${direction} is better`;
  return [
    `${measure}: a measure of llmbench's own`,
    `  ${formula}`,
    '',
    `  unit         ${unit}`,
    `  definition   ${definition}`,
    `  ${better}`,
    '',
  ].join('\n');
}

/** A family that llmbench publishes itself. */
interface PublishedFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** Null for facts and switches, which are 0 or 1. */
  readonly unit: string | null;
  readonly labels: readonly string[];
  /** Of a run under way, of finished runs or of a probe. */
  readonly pages: readonly ('live' | 'finished' | 'probe')[];
}

/** What `catalog/llmbench.json` has; made of the pages that llmbench serves. */
export interface OwnFamilies {
  readonly families: readonly PublishedFamily[];
  /** The meaning of each label. */
  readonly labels: Readonly<Record<string, string>>;
}

/** One of these families as `explain` reports it. */
export interface OwnFamily extends Omit<PublishedFamily, 'labels'> {
  readonly labels: Readonly<Record<string, string>>;
  /** What a latency's histogram counts; null for families of no measure. */
  readonly measure: OwnMetric | null;
}

const CATALOG = new URL('../../catalog/llmbench.json', import.meta.url);
const LABEL_WIDTH = 13;

const PAGES = {
  live: 'the page of a running benchmark (`llmbench run --metrics-port`), and remote write',
  finished: 'the page of finished runs (`llmbench serve`), and `llmbench backfill`',
  probe: 'the response of `/probe?scenario=…` (`llmbench serve --allow-runs`)',
} as const;

/** The names of all families that llmbench publishes. */
export const ownFamilyNames = (): readonly string[] => read().families.map(({ name }) => name);

/**
 * Also by the name of a sample (`_bucket`, `_sum`, `_count`), and of a counter without `_total`. Null: none of ours.
 */
export function ownFamily(name: string): OwnFamily | null {
  const { families, labels: meanings } = read();
  const names = [name, name.replace(/_(bucket|sum|count)$/, ''), `${name}_total`];
  const found = names.flatMap((each) => families.find((family) => family.name === each) ?? [])[0];
  if (found === undefined) return null;
  const labels = Object.fromEntries(found.labels.map((label) => [label, meanings[label] ?? '']));
  return { ...found, labels, measure: found.type === 'histogram' ? ownMetric(found.name) : null };
}

function read(): OwnFamilies {
  return JSON.parse(readFileSync(CATALOG, 'utf8')) as OwnFamilies;
}

/** For a terminal; lines of at most `columns` characters where words allow it. */
export function ownFamilyText({ name, type, help, unit, labels, pages, measure }: OwnFamily, columns: number): string {
  const rows: readonly (readonly [label: string, text: string])[] = [
    ['system', "llmbench's own"],
    ['type', type],
    ['unit', unit ?? 'none: 0 or 1'],
    ...(measure === null
      ? []
      : ([
          ['measure', `${measure.measure}: ${measure.formula}`],
          ['definition', measure.definition],
        ] as const)),
    ...Object.entries(labels).map(([label, says], i) => [i === 0 ? 'labels' : '', `${label}: ${says}`] as const),
    ...(Object.keys(labels).length === 0 ? [['labels', 'none'] as const] : []),
    ...pages.map((page, i) => [i === 0 ? 'served by' : '', PAGES[page]] as const),
  ];
  const lines = rows.flatMap(([label, text]) =>
    wrapped(text, columns - LABEL_WIDTH - 2).map((line, i) => `  ${(i === 0 ? label : '').padEnd(LABEL_WIDTH)}${line}`),
  );
  return [name, ...wrapped(help, columns - 2).map((line) => `  ${line}`), '', ...lines, ''].join('\n');
}

/** The servers' families that are published for a run as `llmbench_server_…`, by that name or one of its samples. */
export function republishedFamilies(name: string): readonly FamilyMatch[] {
  const base = name.replace(/_(quantile|bucket|sum|count)$/, '');
  return catalogs().flatMap((catalog) =>
    catalog.families.flatMap((family) => {
      const type = family.type === 'counter' || family.type === 'histogram' ? family.type : 'gauge';
      const published = serverFamily(family.name, type, family.unit).name;
      return published === name || published === base ? [{ catalog, family }] : [];
    }),
  );
}

/** The prefix of the server's family in the explanation. */
export const REPUBLISHED =
  "what llmbench computed of the server's family below for exactly the measure phase of a run (labels run_id, system, " +
  'target and its own): the increase of a counter, the mean and the maximum of a gauge, the difference of a histogram ' +
  'with _quantile beside it; in base units';
