import { ABSENT, counted, quantity, quantityRange, significant } from '../../../core/text/quantities.ts';
import { OUTCOMES } from '../../../core/run/record.ts';
import { FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import type { DistributionResult, MeasureResult, ResultFile, ScalarResult } from '../../../core/run/result.ts';
import { SERVER_MEASURES } from '../../../core/measures/server-results.ts';
import { wrapped } from '../../../core/text/wrapped.ts';
import { aligned } from './aligned.ts';
import { serverLines } from './server-lines.ts';

const COLUMNS = ['n', 'effective n', 'mean', 'p50', 'p90', 'p99', 'p99 95 % interval', 'max'] as const;

/** The distributions of the table; short names are the field's. */
const ROWS: readonly (readonly [measure: string, clock: DistributionResult['clock'], name: string])[] = [
  ['time_to_first_token', 'sent', 'time to first token'],
  ['time_to_first_output_token', 'sent', 'time to first output'],
  ['inter_token_latency', 'sent', 'inter token latency (TPOT)'],
  ['inter_chunk_latency', 'sent', 'inter chunk latency'],
  ['request_latency', 'sent', 'request latency'],
  ['request_latency', 'due', 'request latency from due'],
  ['schedule_delay', 'due', 'schedule delay'],
  ['input_sequence_length', 'sent', 'input length'],
  ['output_sequence_length', 'sent', 'output length'],
];

/** Repeated over all requests when some failed. */
const WITH_FAILED = ['time_to_first_token', 'request_latency'];

const SCALARS = [
  'request_throughput',
  'output_token_throughput',
  'total_token_throughput',
  'goodput',
  'error_ratio',
  'cached_input_ratio',
  'stall_ratio',
] as const;

/** Width of the names before the values. */
const NAME_WIDTH = 12;
const LEAST_TEXT = 40;

/** Dropped from a table that is wider than the terminal, in this order. */
const LESS_NEEDED: readonly (typeof COLUMNS)[number][] = ['effective n', 'p99 95 % interval', 'mean', 'n'];

/**
 * The result for a person at a terminal, in the words of the field. `width` is how many characters a line may have:
 * columns of the table that do not fit are left out.
 */
export function resultTable(result: ResultFile, width = Infinity): string {
  const { requests, window } = result;
  const failed = Object.entries(result.errors).map(([reason, n]) => `${reason} ${n}`);
  const facts = [
    `requests    ${OUTCOMES.map((outcome) => `${outcome} ${requests[outcome] ?? 'unknown'}`).join(' · ')}` +
      (failed.length > 0 ? `  (${failed.join(', ')})` : ''),
    `window      ${quantity(window.seconds, 'seconds')} from the first request to the end of the last`,
    ...SCALARS.flatMap((measure) => scalarLine(result.measures, measure)),
    ...cachedByServers(result.measures),
    `client      ${result.client.verdict}${result.client.why === null ? '' : `: ${result.client.why}`}`,
    ...serverLines(result),
  ];
  const lines = [...facts.flatMap((line) => hung(line, width)), '', ...distributionTable(result, width)];
  return `${lines.join('\n')}\n`;
}

/** Continues a long line below its text, not below its name. */
function hung(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  const [first = '', ...more] = wrapped(line.slice(NAME_WIDTH), Math.max(LEAST_TEXT, width - NAME_WIDTH));
  const indent = ' '.repeat(NAME_WIDTH);
  return [`${line.slice(0, NAME_WIDTH)}${first.trimEnd()}`, ...more.map((text) => `${indent}${text.trim()}`)];
}

function scalarLine(measures: readonly MeasureResult[], measure: string): string[] {
  const found = measures.find((m): m is ScalarResult => m.kind === 'scalar' && m.measure === measure);
  return found === undefined ? [] : [`${measure.replaceAll('_', ' ').padEnd(24)}${quantity(found.value, found.unit)}`];
}

/** Shown beside the `usage` figure: servers may count cached tokens without reporting them in `usage`. */
function cachedByServers(measures: readonly MeasureResult[]): string[] {
  const name = SERVER_MEASURES.server_cached_input_ratio.measure;
  const found = measures.find((m): m is ScalarResult => m.kind === 'scalar' && m.measure === name);
  if (found === undefined || found.value === null) return [];
  return [`${'server-side cache hits'.padEnd(24)}${quantity(found.value, found.unit)}`];
}

function distributionTable(result: ResultFile, width: number): string[] {
  const someFailed = FAILED_OUTCOMES.some((outcome) => (result.requests[outcome] ?? 0) > 0);
  const rows = ROWS.flatMap(([measure, clock, name]) => {
    const of = (population: 'ok' | 'all'): string[][] => {
      const found = distribution(result.measures, measure, clock, population);
      if (found === undefined || found.n === 0 || isNoNews(found, result.measures)) return [];
      return [[population === 'ok' ? name : '  including failed, as infinite', ...cells(found)]];
    };
    const again = someFailed && clock === 'sent' && WITH_FAILED.includes(measure);
    return [...of('ok'), ...(again ? of('all') : [])];
  });
  if (rows.length === 0) return ['no successful request'];
  const lines = narrowed([['', ...COLUMNS], ...rows], width);
  const tooFew = lines.some((line) => line.includes(TOO_FEW));
  return tooFew ? [...lines, '', `${TOO_FEW}: fewer than five independent values are expected beyond the p99`] : lines;
}

/** The lines of the table with as many columns as fit. */
function narrowed(table: readonly (readonly string[])[], width: number): string[] {
  for (let dropped = 0; ; dropped++) {
    const without = new Set<string>(LESS_NEEDED.slice(0, dropped));
    const kept = (table[0] ?? []).map((name) => !without.has(name));
    const lines = aligned(table.map((row) => row.filter((_, column) => kept[column] === true)));
    if (dropped === LESS_NEEDED.length || lines.every((line) => line.length <= width)) return lines;
  }
}

/** Without reasoning, first output and first token are the same: one line is enough. */
function isNoNews({ measure, n, mean }: DistributionResult, measures: readonly MeasureResult[]): boolean {
  if (measure !== 'time_to_first_output_token') return false;
  const first = distribution(measures, 'time_to_first_token', 'sent', 'ok');
  return first?.n === n && first.mean === mean;
}

function distribution(
  measures: readonly MeasureResult[],
  measure: string,
  clock: DistributionResult['clock'],
  population: 'ok' | 'all',
): DistributionResult | undefined {
  return measures.find(
    (m): m is DistributionResult =>
      m.kind === 'distribution' && m.measure === measure && m.clock === clock && m.population === population,
  );
}

const TOO_FEW = 'too few';

function cells(measure: DistributionResult): string[] {
  const { mean, max, percentiles, unit, n, effective_n } = measure;
  return [
    counted(n),
    effective_n === null ? ABSENT : significant(Math.floor(effective_n)),
    quantity(mean, unit),
    quantity(percentiles.p50.value, unit),
    quantity(percentiles.p90.value, unit),
    quantity(percentiles.p99.value, unit),
    interval(measure),
    quantity(max, unit),
  ];
}

function interval({ percentiles: { p99 }, effective_n, unit }: DistributionResult): string {
  if (p99.ci95 !== null) return quantityRange(p99.ci95, unit);
  if (p99.bounds !== null) return `[${quantityRange(p99.bounds, unit)}]`;
  return p99.value === null || effective_n === null ? ABSENT : TOO_FEW;
}
