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

const STREAMED = ['time_to_first_token', 'inter_token_latency', 'request_latency'] as const;
export type ReportLatency = (typeof STREAMED)[number];

/** The latencies that a result has; responses that were not streamed have only the last one. */
export function latenciesOf(result: Pick<ResultFile, 'measures'>): readonly ReportLatency[] {
  const isWhole =
    distributionOf(result, 'time_to_first_token')?.n === 0 && (distributionOf(result, 'request_latency')?.n ?? 0) > 0;
  return isWhole ? ['request_latency'] : STREAMED;
}

/** Why charts of tokens are missing; null where they are not. */
export function withoutStreamText(result: Pick<ResultFile, 'measures'>): string | null {
  if (latenciesOf(result) === STREAMED) return null;
  const why =
    (scalarOf(result, 'document_throughput')?.value ?? null) === null
      ? 'The responses were not streamed'
      : 'The endpoint reads documents and generates no tokens';
  return `${why}: there is no time to first token and no inter-token latency.`;
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
