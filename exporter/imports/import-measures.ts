import { ownValue } from '../../core/text/own-value.ts';
import {
  ALL_TOKEN_DEFINITIONS,
  isForeign,
  INPUT_TOKEN_DEFINITIONS,
  TOKENIZER_DEFINITIONS,
  UNKNOWN_SOURCE_DEFINITIONS,
} from '../../core/measures/foreign-definitions.ts';
import { quantity, significant } from '../../core/text/quantities.ts';
import type { TokenSource } from '../../core/run/record.ts';
import { PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';
import type { MeasureResult } from '../../core/run/result.ts';
import type { ImportNotes } from './import-notes.ts';
import type { StatedResult } from './importer.ts';
import { statedDistribution, statedScalar } from './stated/stated-measures.ts';

/** Rounding of the floats that tools write; a difference above it is a disagreement. */
const TOLERANCE = 1e-6;
/** Relative difference of a figure by another definition that is noted. */
const VISIBLE = 1e-3;

/** Who counted the tokens of the records. */
export interface TokenSources {
  readonly input: TokenSource | null;
  readonly output: TokenSource | null;
}

/** Measures computed from records, with the definition that the source of their tokens gives them. */
export function bySource(measures: readonly MeasureResult[], sources: TokenSources): MeasureResult[] {
  return measures.map((result) => {
    const definition = definitionOf(result, sources);
    return definition === result.definition ? result : { ...result, definition };
  });
}

function definitionOf(result: MeasureResult, { input, output }: TokenSources): string {
  const { definition } = result;
  const sources = ALL_TOKEN_DEFINITIONS.has(definition)
    ? [input, output]
    : [INPUT_TOKEN_DEFINITIONS.has(definition) ? input : output];
  if (sources.includes('tokenizer')) return ownValue(TOKENIZER_DEFINITIONS, definition) ?? definition;
  // Without a value there are no tokens that somebody counted.
  const isUnknown = sources.includes(null) && !isEmpty(result);
  return (isUnknown ? ownValue(UNKNOWN_SOURCE_DEFINITIONS, definition) : undefined) ?? definition;
}

/**
 * What result.json holds of an import: what the records give, and what only the tool itself states. The tool's figures
 * are checked against those of the records: differences are noted.
 */
export function mergedMeasures(
  computed: readonly MeasureResult[],
  stated: StatedResult,
  notes: ImportNotes,
): MeasureResult[] {
  const merged = new Map(computed.map((result) => [keyOf(result), result]));
  for (const theirs of oursFirst(stated.measures)) {
    const ours = merged.get(keyOf(theirs));
    if (ours === undefined || isEmpty(ours)) merged.set(keyOf(theirs), theirs);
    else if (ours.definition !== theirs.definition) noteConversion(ours, theirs, notes);
    else noteDifferences(ours, theirs, stated.tolerance?.(theirs) ?? TOLERANCE, notes);
  }
  return [...merged.values()];
}

/**
 * The same where the records are a sample of the run: only what the tool states is a value, and what the sample would
 * give is unknown. `recorded`: ok requests among the records.
 */
export function measuresBesideSample(
  computed: readonly MeasureResult[],
  stated: StatedResult,
  recorded: number,
  notes: ImportNotes,
): MeasureResult[] {
  const merged = new Map<string, MeasureResult>();
  for (const theirs of oursFirst(stated.measures)) {
    if (!merged.has(keyOf(theirs))) merged.set(keyOf(theirs), theirs);
  }
  const unknown = computed.filter((result) => !merged.has(keyOf(result)));
  for (const result of unknown) merged.set(keyOf(result), withoutValue(result));
  notes.add(
    `the records are a sample, ${recorded} of ${stated.requests.ok ?? NaN} ok requests: only figures that the tool states ` +
      'are values, the other measures are null',
  );
  return [...merged.values()];
}

/**
 * Of two figures that the tool states (its own count of tokens, and the server's) the one by our definition is used.
 */
function oursFirst(measures: readonly MeasureResult[]): MeasureResult[] {
  return measures.toSorted((a, b) => Number(isForeign(a)) - Number(isForeign(b)));
}

function withoutValue(result: MeasureResult): MeasureResult {
  const { measure, definition, unit, population, clock, origin } = result;
  const identity = { measure, definition, unit, population, clock, origin };
  return result.kind === 'scalar' ? statedScalar(identity, null) : statedDistribution(identity, { n: null });
}

/** What of a run a measure is, whatever its definition: there is one of it in a result. */
function keyOf({ measure, clock, population, origin }: MeasureResult): string {
  return [measure, clock, population, origin].join(' ');
}

function isEmpty(result: MeasureResult): boolean {
  return result.kind === 'scalar' ? result.value === null : result.n === 0;
}

function noteConversion(ours: MeasureResult, theirs: MeasureResult, notes: ImportNotes): void {
  const [own, other] = [headline(ours), headline(theirs)];
  if (own === null || other === null) return;
  const what = ours.kind === 'scalar' ? '' : 'mean ';
  if (own === other || relative(own, other) <= VISIBLE) return;
  const short = [quantity(own, ours.unit), quantity(other, theirs.unit)];
  // With the digits in which they differ.
  const [now = '', before = ''] = short[0] === short[1] ? [digits(own, ours), digits(other, theirs)] : short;
  notes.conversion(`${ours.measure} ${what}${now} (${theirs.definition}: ${before})`);
}

const digits = (value: number, { unit }: MeasureResult): string => `${Number(value.toPrecision(5))} ${unit}`;

function headline(result: MeasureResult): number | null {
  return result.kind === 'scalar' ? result.value : result.mean;
}

function noteDifferences(ours: MeasureResult, theirs: MeasureResult, tolerance: number, notes: ImportNotes): void {
  const own = new Map(figuresOf(ours));
  const different = figuresOf(theirs).flatMap(([name, stated]) => {
    const computed = own.get(name) ?? null;
    return stated === null || computed === null || isClose(stated, computed, tolerance)
      ? []
      : [{ name, stated, computed }];
  });
  const [worst] = different.sort((a, b) => relative(b.stated, b.computed) - relative(a.stated, a.computed));
  if (worst === undefined) return;
  const more = different.length > 1 ? ` (and ${different.length - 1} more of its figures)` : '';
  notes.disagreement(
    `${ours.measure} ${worst.name}: the file states ${figure(worst.stated, worst.name, theirs)}, ` +
      `its records give ${figure(worst.computed, worst.name, theirs)}${more}`,
  );
}

function figure(value: number, name: string, { unit }: MeasureResult): string {
  return name === 'n' ? significant(value) : `${Number(value.toPrecision(9))} ${unit}`;
}

function figuresOf(result: MeasureResult): (readonly [string, number | null])[] {
  if (result.kind === 'scalar') return [['value', result.value]];
  const { n, mean, std, min, max, percentiles } = result;
  return [
    ['n', n],
    ['mean', mean],
    ['std', std],
    ['min', min],
    ['max', max],
    ...PERCENTILE_NAMES.map((name) => [name, percentiles[name].value] as const),
  ];
}

function relative(a: number, b: number): number {
  return Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
}

/** Below a nanosecond, or its like in other units, rounding is all there is. */
const SMALLEST = 1e-9;

function isClose(a: number, b: number, tolerance: number): boolean {
  return Math.abs(a - b) <= SMALLEST || relative(a, b) <= tolerance;
}
