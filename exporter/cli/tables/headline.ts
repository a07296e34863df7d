import { OUTCOMES } from '../../../core/run/record.ts';
import type { RequestCounts } from '../../../core/run/request-counts.ts';
import type { MeasureResult, ResultFile, ScalarResult } from '../../../core/run/result.ts';
import { ABSENT, quantity, significant } from '../../../core/text/quantities.ts';
import { factLines, verdictLines, type Print } from './facts.ts';
import { sloLines } from './gate-lines.ts';
import { scalarOf } from './scalar-of.ts';
import { serverVerdict } from './server-lines.ts';

/** What people look for first: requests, throughput, errors, goodput, objectives, and whether to trust the numbers. */
export function headline(result: ResultFile, print: Print): string[] {
  const { requests, cool_down: coolDown, errors, measures, client, slos, servers } = result;
  const { width } = print;
  const failed = Object.entries(errors).map(([reason, n]) => `${reason} ${n}`);
  const reasons = failed.length === 0 ? '' : ` (${failed.join(', ')})`;
  const outcomes = (counts: RequestCounts): string =>
    OUTCOMES.map((outcome) => `${outcome} ${counts[outcome] ?? 'unknown'}`).join(' · ');
  const goodput = scalarOf(measures, 'goodput');
  return [
    ...factLines('requests', outcomes(requests), width),
    ...(coolDown === undefined ? [] : factLines('cool-down', `${outcomes(coolDown)}, not measured`, width)),
    ...factLines('throughput', throughputs(measures), width),
    ...factLines('errors', `${scalarText(measures, 'error_ratio')}${reasons}`, width),
    ...(goodput === undefined ? [] : factLines('goodput', goodputText(goodput, measures), width)),
    ...sloLines(slos, print),
    ...verdictLines('client', client.verdict, client.why === null ? '' : `: ${client.why}`, print),
    ...serverVerdict(servers, print),
  ];
}

function throughputs(measures: readonly MeasureResult[]): string {
  const tokens = (measure: string, of: string): string => {
    const value = scalarOf(measures, measure)?.value ?? null;
    return `${value === null ? ABSENT : significant(value)} ${of}tokens/s`;
  };
  return [
    `${scalarText(measures, 'request_throughput')}`,
    tokens('output_token_throughput', 'output '),
    `${tokens('total_token_throughput', '')} in total`,
  ].join(' · ');
}

function goodputText({ value, unit }: ScalarResult, measures: readonly MeasureResult[]): string {
  const ratio = scalarOf(measures, 'good_request_ratio');
  return `${quantity(value, unit)}${ratio === undefined ? '' : ` · ${quantity(ratio.value, 'ratio')} of the requests`}`;
}

function scalarText(measures: readonly MeasureResult[], measure: string): string {
  const found = scalarOf(measures, measure);
  return found === undefined ? ABSENT : quantity(found.value, found.unit);
}
