import {
  ALL_TOKEN_DEFINITIONS,
  isForeign,
  INPUT_TOKEN_DEFINITIONS,
  TOKENIZER_DEFINITIONS,
  UNKNOWN_SOURCE_DEFINITIONS,
} from '../../core/measures/foreign-definitions.ts';
import { quantity, significant } from '../../core/measures/quantities.ts';
import type { TokenSource } from '../../core/run/record.ts';
import { PERCENTILE_NAMES } from '../../core/run/result.ts';
import type { MeasureResult } from '../../core/run/result.ts';
import type { ImportNotes } from './import-notes.ts';
import type { StatedResult } from './importer.ts';

/** Rounding of the floats that tools write; a difference above it is a disagreement. */
const TOLERANCE = 1e-6;

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
  if (sources.includes('tokenizer')) return TOKENIZER_DEFINITIONS[definition] ?? definition;
  // Without a value there are no tokens that somebody counted.
  const isUnknown = sources.includes(null) && !isEmpty(result);
  return (isUnknown ? UNKNOWN_SOURCE_DEFINITIONS[definition] : undefined) ?? definition;
}

/**
 * What result.json holds of an import: what the records give, and what only the tool itself can say. The tool's figures
 * are checked against the records': differences are noted. When the records are fewer than the requests that the tool
 * counted they are a sample, and the tool's figures stand.
 */
export function mergedMeasures(
  computed: readonly MeasureResult[],
  stated: StatedResult,
  isSample: boolean,
  notes: ImportNotes,
): MeasureResult[] {
  const merged = new Map(computed.map((result) => [keyOf(result), result]));
  const fromRecords = new Set(computed);
  // Of two that the tool states (its own count of tokens, and the server's) the one by our definition stands.
  for (const theirs of stated.measures.toSorted((a, b) => Number(isForeign(a)) - Number(isForeign(b)))) {
    const ours = merged.get(keyOf(theirs));
    const gives = ours === undefined || isEmpty(ours) || (isSample && fromRecords.has(ours));
    if (gives) merged.set(keyOf(theirs), theirs);
    else if (ours.definition !== theirs.definition) noteConversion(ours, theirs, notes);
    else noteDifferences(ours, theirs, stated.tolerance?.(theirs) ?? TOLERANCE, notes);
  }
  return [...merged.values()];
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
  const [now, before] = [quantity(own, ours.unit), quantity(other, theirs.unit)];
  // A difference that cannot be seen is none to speak of.
  if (now !== before) notes.conversion(`${ours.measure} ${what}${now} (${theirs.definition}: ${before})`);
}

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
    `${ours.measure} ${worst.name}: the file says ${figure(worst.stated, worst.name, theirs)}, ` +
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
