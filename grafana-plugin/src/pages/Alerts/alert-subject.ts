import { regressionUrl, verdictUrl } from '../../components/run-link.ts';
import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import type { ActiveAlert } from './alert-rules.ts';

/** Labels that every alert has, or that only its rule is known by. */
const COMMON_LABELS = /^(alertname|severity|grafana_folder|__.*__)$/;

/** The labels that tell what the alert is about. */
export function subjectLabels({ labels }: Pick<ActiveAlert, 'labels'>): Array<[name: string, value: string]> {
  return Object.entries(labels)
    .filter(([name, value]) => !COMMON_LABELS.test(name) && value !== '')
    .sort(([a], [b]) => a.localeCompare(b));
}

/** What the rule's description ends with: `Runs: a, b.` */
const LISTED_RUNS = /\bRuns?: ([0-9A-Za-z-]{1,64}(?:, [0-9A-Za-z-]{1,64})*)\.\s*$/;

/** A description without the list of runs at its end, which is shown with their times where they are known. */
export function withoutRuns(description: string, known: ReadonlyMap<string, unknown>): string {
  const [, listed] = LISTED_RUNS.exec(description) ?? [];
  return listed?.split(', ').some((id) => known.has(id)) ? description.replace(LISTED_RUNS, '').trimEnd() : description;
}

/** The runs that the alert is about: of its labels, of its description, or that the exporter judged. */
export function alertRuns(
  { labels, annotations }: Pick<ActiveAlert, 'labels' | 'annotations'>,
  scenario: ListedScenario | undefined
): readonly string[] {
  const run = labels['run_id'];
  if (run) {
    return [run];
  }
  const [, listed] = LISTED_RUNS.exec(annotations['description'] ?? '') ?? [];
  return listed?.split(', ') ?? (openRegression(labels, scenario) ?? scenario?.verdict)?.run_ids ?? [];
}

/**
 * The comparison that the alert rests on: all runs of the open regression with their baseline, else those of the newest
 * verdict; null where nothing was judged or the exporter is not asked.
 */
export function alertCompareUrl(
  { labels }: Pick<ActiveAlert, 'labels'>,
  scenario: ListedScenario | undefined,
  search: string
): string | null {
  const open = openRegression(labels, scenario);
  if (open) {
    return regressionUrl(open, search);
  }
  // An exporter from before verdicts had their baseline leaves it out.
  return scenario?.verdict?.baseline_run_ids ? verdictUrl(scenario.verdict, search) : null;
}

function openRegression(labels: Record<string, string>, scenario: ListedScenario | undefined) {
  return labels['alertname'] === 'LlmScenarioRegressed' ? scenario?.open_regression : null;
}
