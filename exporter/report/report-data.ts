import { stageLoadText } from '../../core/run/load.ts';
import type { PhaseName } from '../../core/run/record.ts';
import type { DistributionResult, ResultFile, ScalarResult } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { RequestView } from './request-view.ts';
import type { ReportServers } from './server-signals.ts';

/** The data of a report. */
export interface ReportData {
  readonly run: RunFile;
  readonly result: ResultFile;
  /** Null if no record could be read; the notes have the reason. */
  readonly requests: RequestView | null;
  /** Null if no server metrics were collected. */
  readonly servers: ReportServers | null;
  /** What could not be read, one line each. */
  readonly notes: readonly string[];
}

/** A distribution of the result; undefined if it has none. */
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

/** A scalar of the result; null if unknown. */
export function scalarOf({ measures }: Pick<ResultFile, 'measures'>, measure: string): ScalarResult | undefined {
  return measures.find((m): m is ScalarResult => m.kind === 'scalar' && m.measure === measure);
}

/** The phases in seconds since the run's start; without phases of unknown start or end. */
export function phaseSpans({ start, phases }: RunFile): { phase: PhaseName; from: number; to: number }[] {
  if (start === null) return [];
  const zero = Date.parse(start);
  return phases.flatMap(({ phase, start: from, end: to }) =>
    from === null || to === null
      ? []
      : [{ phase, from: (Date.parse(from) - zero) / 1000, to: (Date.parse(to) - zero) / 1000 }],
  );
}

/** The stages of the load in seconds since the run's start; without those that had not begun. */
export function stageSpans(
  { start }: RunFile,
  { stages }: ResultFile,
): { stage: number; text: string; from: number; to: number }[] {
  if (start === null) return [];
  const zero = Date.parse(start);
  return stages.flatMap(({ stage, load, start: from, end: to }) =>
    from === null || to === null
      ? []
      : [
          {
            ...{ stage, text: stageLoadText(load) },
            ...{ from: (Date.parse(from) - zero) / 1000, to: (Date.parse(to) - zero) / 1000 },
          },
        ],
  );
}
