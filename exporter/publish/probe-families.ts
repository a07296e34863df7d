import type { FamilyInput } from '../../core/exposition/index.ts';
import type { ResultFile } from '../../core/run/result.ts';
import { resultsByUnit } from './finished-run.ts';
import { queriedSeries } from './result-samples.ts';

/** What a probe of a scenario found. */
export interface ProbedScenario {
  readonly isSuccess: boolean;
  /** From the request of the probe to its response. */
  readonly durationSeconds: number;
  /** Null if the run has none. */
  readonly result: ResultFile | null;
}

/**
 * The metrics of one probe. They have no label of the run, so that each probe continues the same series; what is unknown is
 * missing.
 */
export function probeFamilies({ isSuccess, durationSeconds, result }: ProbedScenario): readonly FamilyInput[] {
  const gauge = (name: string, help: string, value: number): FamilyInput => ({
    ...{ name: `llmbench_probe_${name}`, help, type: 'gauge', samples: [{ labels: {}, value }] },
  });
  const results = (result === null ? [] : resultsByUnit(result, {})).map(([unit, samples]): FamilyInput => {
    const help = `Exact results of the probe with unit ${unit.replaceAll('_', ' ')}; one sample per measure and statistic.`;
    return { name: `llmbench_probe_result_${unit}`, help, type: 'gauge', samples };
  });
  return [
    gauge('success', '1 if the run of the probe completed in time and met its objectives, else 0.', Number(isSuccess)),
    gauge('duration_seconds', 'Time from the request of the probe to its response.', durationSeconds),
    ...queriedSeries(results),
  ];
}
