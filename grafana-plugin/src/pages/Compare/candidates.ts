import type { RunSummary } from '../../../../core/api/runs.ts';
import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import { t } from '../../text.ts';

/** Two sets of runs that are worth comparing. */
export interface Candidate {
  /** Equal for those that say the same. */
  key: string;
  title: string;
  a: readonly string[];
  b: readonly string[];
  /** Whether the sets are of scenarios with different names. */
  acrossScenarios: boolean;
}

const MAX_CANDIDATES = 12;
/** Of a side, where nothing was judged. */
const MAX_RUNS = 3;

/**
 * What was judged first, then the newest runs of what was not against those before, then two systems under the same load.
 * `runs` are completed ones, the newest first.
 */
export function candidates(scenarios: readonly ListedScenario[], runs: readonly RunSummary[]): Candidate[] {
  const judged = scenarios.flatMap((scenario) => judgedCandidate(scenario) ?? []);
  const alike = groups(runs, ({ scenario, fingerprint, system }) => JSON.stringify([scenario, fingerprint, system]));
  const newest = alike.flatMap((own) => newestCandidate(own) ?? []);
  const systems = groups(runs, ({ fingerprint }) => fingerprint).flatMap((own) => systemsCandidate(own) ?? []);
  const all = [...judged, ...systems, ...newest];
  // Of the steps of sweeps the newest; the page Sweeps has all of them.
  return all.filter(({ key }, i) => all.findIndex((other) => other.key === key) === i).slice(0, MAX_CANDIDATES);
}

function judgedCandidate({ scenario, open_regression: open, verdict }: ListedScenario): Candidate | null {
  const [a = [], b = []] = open
    ? [open.baseline_run_ids, open.run_ids]
    : [verdict?.baseline_run_ids, verdict?.run_ids.filter((id) => id !== verdict.left_out)];
  return a.length === 0 || b.length === 0
    ? null
    : {
        key: scenario,
        title: open
          ? t('candidates.regression', '{{scenario}}: runs since the regression against the baseline', {
              scenario,
            })
          : t('candidates.judged', '{{scenario}}: newest judged runs against the baseline', {
              scenario,
            }),
        ...{ a, b, acrossScenarios: false },
      };
}

function newestCandidate(own: readonly RunSummary[]): Candidate | null {
  const count = Math.min(MAX_RUNS, Math.floor(own.length / 2));
  const scenario = own[0]?.scenario ?? '';
  return count === 0
    ? null
    : {
        key: scenario,
        title:
          count === 1
            ? t('candidates.newest-one', '{{scenario}}: newest run against the one before', { scenario })
            : t('candidates.newest', '{{scenario}}: newest {{runs}} runs against the {{runs}} before', {
                scenario,
                runs: count,
              }),
        a: ids(own.slice(count, 2 * count)),
        b: ids(own.slice(0, count)),
        acrossScenarios: false,
      };
}

/** Of the two systems that ran last. */
function systemsCandidate(own: readonly RunSummary[]): Candidate | null {
  const [b, a] = groups(
    own.filter(({ system }) => system !== null),
    ({ system }) => system ?? ''
  ).map((runs) => runs.slice(0, MAX_RUNS));
  const [first, second] = [a?.[0], b?.[0]];
  return !a || !b || !first || !second
    ? null
    : {
        key: JSON.stringify([first, second].map(({ system, scenario }) => [system, scenario])),
        title: t('candidates.systems', '{{b}} against {{a}} under the same load ({{load}})', {
          b: second.system,
          a: first.system,
          load: second.load ?? '',
        }),
        ...{ a: ids(a), b: ids(b) },
        acrossScenarios: new Set([...a, ...b].map(({ scenario }) => scenario)).size > 1,
      };
}

function ids(runs: readonly RunSummary[]): string[] {
  return runs.map(({ run_id }) => run_id);
}

/** In the order of their first runs. */
function groups(runs: readonly RunSummary[], of: (run: RunSummary) => string): RunSummary[][] {
  const found = new Map<string, RunSummary[]>();
  for (const run of runs) {
    found.set(of(run), [...(found.get(of(run)) ?? []), run]);
  }
  return [...found.values()];
}
