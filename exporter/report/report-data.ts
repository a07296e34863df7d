import type { PhaseName } from '../../core/run/record.ts';
import type { DistributionResult, ResultFile, ScalarResult } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { ServerSeries } from './read-servers.ts';
import type { RequestView } from './request-view.ts';
import type { ServerSignal } from './server-signals.ts';

/** Everything that a report shows. */
export interface ReportData {
  readonly run: RunFile;
  readonly result: ResultFile;
  /** Null when no record could be read; the reason stands among the notes. */
  readonly requests: RequestView | null;
  /** Null when nothing was collected from servers. */
  readonly servers: { readonly signals: readonly ServerSignal[]; readonly series: readonly ServerSeries[] } | null;
  /** What could not be read, one line each. */
  readonly notes: readonly string[];
}

/** A distribution of the result; absent when it has none. */
export function distributionOf(
  { measures }: Pick<ResultFile, 'measures'>,
  measure: string,
  population: 'ok' | 'all' = 'ok',
  clock: DistributionResult['clock'] = 'sent',
): DistributionResult | undefined {
  return measures.find(
    (m): m is DistributionResult =>
      m.kind === 'distribution' && m.measure === measure && m.population === population && m.clock === clock,
  );
}

/** A scalar of the result; null when it is not known. */
export function scalarOf({ measures }: Pick<ResultFile, 'measures'>, measure: string): ScalarResult | undefined {
  return measures.find((m): m is ScalarResult => m.kind === 'scalar' && m.measure === measure);
}

/** The phases as seconds since the run's start; without those that have no edges. */
export function phaseSpans({ start, phases }: RunFile): { phase: PhaseName; from: number; to: number }[] {
  if (start === null) return [];
  const zero = Date.parse(start);
  return phases.flatMap(({ phase, start: from, end: to }) =>
    from === null || to === null
      ? []
      : [{ phase, from: (Date.parse(from) - zero) / 1000, to: (Date.parse(to) - zero) / 1000 }],
  );
}
