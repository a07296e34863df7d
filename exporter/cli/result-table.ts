import type { DistributionResult, MeasureResult, ResultFile, ScalarResult } from '../../core/run/result.ts';
import { ABSENT, quantity } from './quantities.ts';
import { serverLines } from './server-lines.ts';

const COLUMNS = ['n', 'mean', 'p50', 'p90', 'p99', 'p99 95 % interval', 'max'] as const;
const ORDER = [
  'time_to_first_token',
  'inter_token_latency',
  'inter_chunk_latency',
  'request_latency',
  'schedule_delay',
] as const;
const SCALARS = [
  'request_throughput',
  'output_token_throughput',
  'goodput',
  'good_request_ratio',
  'error_ratio',
  'cached_input_ratio',
] as const;

/** The result for a person at a terminal, in the words of the field. */
export function resultTable(result: ResultFile): string {
  const { requests, window } = result;
  const failed = Object.entries(result.errors).map(([reason, n]) => `${reason} ${n}`);
  const lines = [
    `requests    ok ${requests.ok} · error ${requests.error} · timeout ${requests.timeout} · cancelled ${requests.cancelled}` +
      (failed.length > 0 ? `  (${failed.join(', ')})` : ''),
    `window      ${quantity(window.seconds, 'seconds')} from the first request to the end of the last`,
    ...SCALARS.flatMap((measure) => scalarLine(result.measures, measure)),
    `client      ${result.client.verdict}${result.client.why === null ? '' : `: ${result.client.why}`}`,
    ...serverLines(result),
    '',
    ...distributionTable(result.measures),
  ];
  return `${lines.join('\n')}\n`;
}

function scalarLine(measures: readonly MeasureResult[], measure: string): string[] {
  const found = measures.find((m): m is ScalarResult => m.kind === 'scalar' && m.measure === measure);
  return found === undefined ? [] : [`${measure.replaceAll('_', ' ').padEnd(24)}${quantity(found.value, found.unit)}`];
}

function distributionTable(measures: readonly MeasureResult[]): string[] {
  const rows = ORDER.flatMap((name) => {
    const found = measures.find(
      (m): m is DistributionResult => m.kind === 'distribution' && m.measure === name && m.population === 'ok',
    );
    return found === undefined ? [] : [[name.replaceAll('_', ' '), ...cells(found)]];
  });
  return aligned([['', ...COLUMNS], ...rows]);
}

function cells(measure: DistributionResult): string[] {
  const { mean, max, percentiles, unit, n } = measure;
  const interval = percentiles.p99.ci95;
  return [
    n.toLocaleString('en-US'),
    quantity(mean, unit),
    quantity(percentiles.p50.value, unit),
    quantity(percentiles.p90.value, unit),
    quantity(percentiles.p99.value, unit),
    interval === null ? `${ABSENT} (n too small)` : `${quantity(interval[0], unit)} to ${quantity(interval[1], unit)}`,
    quantity(max, unit),
  ];
}

/** The first column to the left, the others to the right. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
