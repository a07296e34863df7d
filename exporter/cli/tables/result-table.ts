import { SERVER_MEASURES } from '../../../core/measures/server-results.ts';
import type { MeasureResult, ResultFile } from '../../../core/run/result.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { costFacts } from './cost-lines.ts';
import { distributionTable } from './distribution-table.ts';
import { factLines, TO_FILE, type Print } from './facts.ts';
import { headline } from './headline.ts';
import { scalarOf } from './scalar-of.ts';
import { serverFacts } from './server-lines.ts';
import { stageTable } from './stage-table.ts';

/**
 * The result for a person at a terminal, in the words of the field: what people look for, then the distributions, then
 * what explains them.
 */
export function resultTable(result: ResultFile, print: Print = TO_FILE): string {
  const { width } = print;
  const details: readonly (readonly [name: string, text: string])[] = [
    ['window', `${quantity(result.window.seconds, 'seconds')} from the first request to the end of the last`],
    ...cacheHits(result.measures),
    ...stalls(result.measures),
    ...costFacts(result.measures),
    ...serverFacts(result),
  ];
  const stages = stageTable(result, width);
  const parts = [
    headline(result, print),
    ...(stages.length === 0 ? [] : [stages, ['all stages together:']]),
    distributionTable(result, width),
    details.flatMap(([name, text]) => factLines(name, text, width)),
  ];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Servers may count cached tokens without reporting them in `usage`. */
function cacheHits(measures: readonly MeasureResult[]): [name: string, text: string][] {
  const [usage, servers] = ['cached_input_ratio', SERVER_MEASURES.server_cached_input_ratio.measure].map((measure) =>
    scalarOf(measures, measure),
  );
  const parts = [
    ...(usage === undefined ? [] : [`${quantity(usage.value, 'ratio')} of the input tokens by usage`]),
    ...(servers?.value == null ? [] : [`${quantity(servers.value, 'ratio')} by the servers' counters`]),
  ];
  return parts.length === 0 ? [] : [['cache hits', parts.join(' · ')]];
}

function stalls(measures: readonly MeasureResult[]): [name: string, text: string][] {
  const found = scalarOf(measures, 'stall_ratio');
  return found === undefined
    ? []
    : [['stalls', `${quantity(found.value, 'ratio')} of the gaps between chunks (over 5 × their median)`]];
}
