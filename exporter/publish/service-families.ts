import { metadataLines, sampleLines, type PageFormat, type FamilyInput } from '../../core/exposition/index.ts';
import type { ResultFile } from '../../core/run/result.ts';
import { resultsByUnit } from './finished-run.ts';
import { queriedSeries } from './result-samples.ts';

/** Since the start of the process. */
interface EvaluationCounts {
  readonly evaluations: number;
  readonly failures: number;
  readonly missed: number;
}

const FAMILIES = [
  {
    name: 'llmbench_scenario_evaluations_total',
    help: 'Evaluations of a scheduled scenario (serve --scenarios-file), with those that failed.',
    count: 'evaluations',
  },
  {
    name: 'llmbench_scenario_evaluation_failures_total',
    help: 'Evaluations of a scheduled scenario that failed, such as without an answer of Prometheus. They are tried again until the next window is due.',
    count: 'failures',
  },
  {
    name: 'llmbench_scenario_windows_missed_total',
    help: 'Windows of a scheduled scenario that were not evaluated before the next one was due.',
    count: 'missed',
  },
] as const;

/** The lines of the evaluations of each scheduled scenario, without the end of a page. */
export function evaluationLines(counts: ReadonlyMap<string, EvaluationCounts>, format: PageFormat): string {
  return FAMILIES.map(({ name, help, count }) => {
    const samples = [...counts].map(([scenario, own]) => ({ labels: { scenario }, value: own[count] }));
    const family = { name, help, type: 'counter', samples } as const;
    return metadataLines(family, format) + sampleLines(family);
  }).join('');
}

const READABLE = {
  name: 'llmbench_storage_readable',
  help: 'Whether the object storage of the runs could be read at the last look: 1 or 0. Absent without object storage.',
  type: 'gauge',
} as const;

/** The lines of `llmbench_storage_readable`, without the end of a page. */
export function storageReadableLines(isReadable: boolean, format: PageFormat): string {
  const family = { ...READABLE, samples: [{ labels: {}, value: isReadable ? 1 : 0 }] };
  return metadataLines(family, format) + sampleLines(family);
}

/** What a probe of a scenario found. */
interface ProbedScenario {
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
