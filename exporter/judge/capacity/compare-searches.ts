import type { CapacityFile } from '../../../core/run/capacity.ts';
import { readFigures, type LoadFigures } from '../load-figures.ts';
import { overallReason, overallSentence } from '../sentences.ts';
import { preflight, type AcceptedDifference } from '../preflight.ts';
import { rulesFor, type RuleChoices } from '../rule-choices.ts';
import type { RunFigures } from '../run-figures.ts';
import type { PreflightFinding } from '../../../core/api/verdict.ts';
import type { VerdictReport } from '../../../core/api/comparison.ts';
import { compareCapacities } from './compare-capacities.ts';
import { boundProbesOf } from './searches-of-runs.ts';

/** One side of a comparison of capacities. */
export interface ComparedSearches {
  readonly searches: readonly CapacityFile[];
  /** The probes that were selected. */
  readonly runIds: readonly string[];
}

/**
 * Compares the capacities that two sets of searches found. The probes at the bounds, on which the capacities rest, have to be
 * comparable as runs are, but for their loads. Throws an `ExpectedError` ('damaged').
 */
export async function compareSearches(
  load: LoadFigures,
  {
    a,
    b,
    rules,
    accepted,
  }: {
    readonly a: ComparedSearches;
    readonly b: ComparedSearches;
    readonly rules: RuleChoices;
    readonly accepted: AcceptedDifference | undefined;
  },
): Promise<VerdictReport> {
  const [probesA, probesB] = [await boundProbes(load, a.searches), await boundProbes(load, b.searches)];
  const findings = [
    ...sameQuestion([...a.searches, ...b.searches]),
    ...(probesA.length > 0 && probesB.length > 0 ? preflight(probesA, probesB, accepted) : []),
  ];
  const isForbidden = findings.some(({ outcome }) => outcome === 'failed');
  const chosen = rulesFor(rules, [...probesA, ...probesB]);
  const measure = compareCapacities(a.searches, b.searches, chosen, isForbidden);
  const { verdict, needs } = measure;
  return {
    design: 'sets',
    scenario: b.searches[0]?.scenario ?? '',
    verdict,
    reason: overallReason({ verdict, preflight: findings, measures: [measure] }),
    sentence: isForbidden ? overallSentence(verdict, [measure], findings) : measure.sentence,
    runs: { a: a.runIds, b: b.runIds },
    left_out: null,
    preflight: findings,
    measures: [measure],
    needs,
    scenarios: { a: scenariosOf(a.searches), b: scenariosOf(b.searches) },
    effect_meaning: measure.effect === null ? null : 'the ratio of the middles of the capacities of B and of A',
    explanation: null,
    next_command: null,
  };
}

const scenariosOf = (searches: readonly CapacityFile[]): readonly string[] => [
  ...new Set(searches.map(({ scenario }) => scenario)),
];

/** Searches for other objectives, or of another load, have other capacities. */
function sameQuestion(searches: readonly CapacityFile[]): PreflightFinding[] {
  const questions = searches.map(({ load, objectives }) => {
    const texts = objectives.map(({ text }) => text).sort();
    return `--find ${load.replace('_', '-')} with ${texts.join(' and ')}`;
  });
  const different = [...new Set(questions)];
  if (different.length === 1) return [];
  const sentence = `The searches differ: ${different.slice(0, 3).join('; ')}.`;
  return [{ check: 'fingerprint', outcome: 'failed', run_ids: [], sentence }];
}

/** The figures of the probes at the bounds, whose configurations are equal if they differ in what a search varies only. */
async function boundProbes(load: LoadFigures, searches: readonly CapacityFile[]): Promise<readonly RunFigures[]> {
  const atBounds = searches.flatMap(boundProbesOf);
  const holding = new Set(atBounds.flatMap(({ verdict, run_id }) => (verdict === 'holds' ? [run_id] : [])));
  const figures = await readFigures(
    load,
    atBounds.map(({ run_id }) => run_id),
  );
  // A client that is late can make a load fail, but not hold.
  return figures.map((run) => ({ ...atAnyLoad(run), ...(holding.has(run.run_id) ? { client: 'ok' as const } : {}) }));
}

/** What a search sets itself. */
const VARIED: ReadonlySet<string> = new Set(['load', 'stop', 'warmup']);

function atAnyLoad(run: RunFigures): RunFigures {
  const entries = Object.entries(run.configuration ?? {}).filter(([name]) => !VARIED.has(name));
  const configuration = Object.fromEntries(entries);
  return { ...run, configuration, fingerprint: run.fingerprint && JSON.stringify(configuration) };
}
