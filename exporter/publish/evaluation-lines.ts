import { metadataLines, sampleLines, type PageFormat } from '../../core/exposition/index.ts';

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
