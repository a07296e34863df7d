import { firstNames, percentText, things } from '../../core/text/quantities.ts';
import { canonicalJson } from '../../core/run/canonical-json.ts';
import { mean, median } from '../../core/stats/percentiles.ts';
import type { AchievedLoad, RunFigures } from './run-figures.ts';
import { LOAD_TOLERANCE, type PreflightFinding } from '../../core/api/verdict.ts';

const MAX_NAMED = 3;

/** Difference of a share, 0 to 1. */
const SHARE_TOLERANCE = 0.02;

/** Relative, of the rate of servers that users load: chance alone moves it by some percent. */
const RATE_TOLERANCE = 0.1;
/** Relative, of their lengths. */
const RECORDED_TOLERANCE = 0.05;

const LOADS = [
  { check: 'input_tokens', what: 'input tokens per request', unit: 'tokens', share: false },
  { check: 'output_tokens', what: 'output tokens per request', unit: 'tokens', share: false },
  { check: 'cached_input_ratio', what: 'share of input tokens from a cache', unit: '', share: true },
  { check: 'request_rate', what: 'request rate per server', unit: 'requests/s', share: false },
] as const satisfies readonly { check: keyof AchievedLoad; what: string; unit: string; share: boolean }[];

/** The largest difference between two sets with which their loads count as the same. */
function toleranceOf(check: keyof AchievedLoad, runs: readonly RunFigures[]): number {
  if (check === 'cached_input_ratio') return SHARE_TOLERANCE;
  if (check === 'request_rate') return RATE_TOLERANCE;
  return areRecorded(runs) ? RECORDED_TOLERANCE : LOAD_TOLERANCE;
}

const areRecorded = (runs: readonly RunFigures[]): boolean => runs.every(({ client }) => client === 'none');

/** What differs between the sets on purpose, and is only reported. */
export type AcceptedDifference =
  | 'none'
  /** The names of the scenarios, and of a configuration what is no load: two engines under the same load. */
  | 'scenarios'
  /** Also any part of the configuration. */
  | 'configuration';

/** Parts of a configuration that are no load; figures of other definitions are not compared anyway. */
const NO_LOAD = { model: null, endpoint_type: null, measure_definitions: null };

/** What keeps two sets of runs from being compared, or differs on purpose. The sets are not empty. */
export function preflight(
  a: readonly RunFigures[],
  b: readonly RunFigures[],
  accepted: AcceptedDifference = 'none',
): readonly PreflightFinding[] {
  const runs = [...a, ...b];
  return [
    ...whole(runs),
    ...sameScenario(runs, accepted),
    ...sameFingerprint(runs, accepted),
    ...LOADS.flatMap((load) => sameLoad(a, b, load)),
    ...clientKeptUp(runs),
    ...alone(runs),
  ];
}

function whole(runs: readonly RunFigures[]): PreflightFinding[] {
  const found = runs.filter(({ missing_shards: missing = 0 }) => missing > 0);
  if (found.length === 0) return [];
  const sentence = `Shards are missing in ${things(found.length, 'runs')}: the load was smaller than planned.`;
  return [{ check: 'missing_shards', outcome: 'failed', run_ids: idsOf(found), sentence }];
}

function sameScenario(runs: readonly RunFigures[], accepted: AcceptedDifference): PreflightFinding[] {
  const names = [...new Set(runs.map(({ scenario }) => scenario))];
  if (names.length === 1) return [];
  const sentence = `The runs are of ${names.length} scenarios: ${firstNames(names, MAX_NAMED)}.`;
  // The scenario of a recorded window is a name that its import was given; its load is compared by what was measured.
  const isName = runs.every(({ client }) => client === 'none');
  const outcome = accepted === 'none' && !isName ? 'failed' : 'accepted';
  return [{ check: 'scenario', outcome, run_ids: idsOf(runs), sentence }];
}

function sameFingerprint(runs: readonly RunFigures[], accepted: AcceptedDifference): PreflightFinding[] {
  const unknown = runs.filter(({ fingerprint }) => fingerprint === '');
  if (unknown.length > 0 && accepted !== 'configuration') {
    const sentence = `The configuration of ${things(unknown.length, 'runs')} is not known, so it matches no other.`;
    return [{ check: 'fingerprint', outcome: 'failed', run_ids: idsOf(unknown), sentence }];
  }
  const groups = new Map<string, RunFigures[]>();
  for (const run of runs) groups.set(run.fingerprint, [...(groups.get(run.fingerprint) ?? []), run]);
  if (groups.size === 1) return [];
  const odd = [...groups.values()].sort((x, y) => y.length - x.length).slice(1);
  const difference = configurationDifference(describedConfigurations(runs));
  const differ = difference === '' ? '' : `; they differ in ${difference}`;
  const sentence = `The runs have ${groups.size} different configurations (fingerprints)${differ}.`;
  const isAccepted = accepted === 'configuration' || (accepted === 'scenarios' && isSameLoad(runs));
  return [{ check: 'fingerprint', outcome: isAccepted ? 'accepted' : 'failed', run_ids: idsOf(odd.flat()), sentence }];
}

/** Whether the configurations are known and differ in nothing that is load. */
function isSameLoad(runs: readonly RunFigures[]): boolean {
  const loads = runs.flatMap(({ configuration }) =>
    configuration ? [canonicalJson({ ...configuration, ...NO_LOAD })] : [],
  );
  return loads.length === runs.length && new Set(loads).size === 1;
}

/** The configurations, with the options of datasets that differ instead of the hash of the plan. */
function describedConfigurations(runs: readonly RunFigures[]): readonly object[] {
  // Runs of one plan may send different texts.
  const datasets = runs.flatMap(({ dataset }) => (dataset ? [{ ...dataset, prompt_variant: null }] : []));
  if (datasets.length < runs.length || configurationDifference(datasets) === '')
    return runs.flatMap(({ configuration }) => configuration ?? []);
  return runs.map(({ configuration }, i) => ({ ...configuration, dataset_plan_sha256: null, dataset: datasets[i] }));
}

function sameLoad(
  a: readonly RunFigures[],
  b: readonly RunFigures[],
  { check, what, unit, share }: (typeof LOADS)[number],
): PreflightFinding[] {
  const all = [...a, ...b];
  // Of windows of servers the mean is the load of the whole time, which chance moves less than it moves that of a slice.
  const average = areRecorded(all) ? mean : median;
  const typical = (set: readonly RunFigures[]): number | null => {
    const known = set.flatMap(({ load }) => (load[check] === null ? [] : [load[check]]));
    return known.length === 0 ? null : average(known);
  };
  const from = typical(a);
  const to = typical(b);
  // A closed loop offers no rate, and not every server reports cached tokens.
  if (from === null && to === null) return [];
  if (from === null || to === null) {
    const sentence = `The ${what} ${from === null ? 'of the baseline' : 'of the compared runs'} is not known.`;
    return [{ check, outcome: 'unknown', run_ids: idsOf(from === null ? a : b), sentence }];
  }
  const tolerance = toleranceOf(check, all);
  const differs = share ? Math.abs(to - from) > tolerance : Math.abs(Math.log(to / from)) > tolerance;
  // Both 0 is equal, and the logarithm of their ratio not a number.
  if (!differs || from === to) return [];
  const text = (value: number): string =>
    share ? `${(100 * value).toFixed(1)} %` : `${Number(value.toPrecision(4))} ${unit}`;
  const limit = check === 'request_rate' ? `, by more than ${percentText(tolerance)}` : '';
  const sentence = `The ${what} changed from ${text(from)} to ${text(to)}${limit}: the load is not the same.`;
  return [{ check, outcome: 'failed', run_ids: idsOf(all), sentence }];
}

function clientKeptUp(runs: readonly RunFigures[]): PreflightFinding[] {
  const finding = (state: 'saturated' | 'unknown', outcome: 'failed' | 'unknown', text: string): PreflightFinding[] => {
    const found = runs.filter(({ client }) => client === state);
    if (found.length === 0) return [];
    return [
      { check: 'client', outcome, run_ids: idsOf(found), sentence: `${text} in ${things(found.length, 'runs')}.` },
    ];
  };
  return [
    ...finding('saturated', 'failed', 'The client itself was saturated'),
    ...finding('unknown', 'unknown', 'Whether the client kept up is not known'),
  ];
}

function alone(runs: readonly RunFigures[]): PreflightFinding[] {
  const found = runs.filter(({ foreign_traffic: foreign }) => foreign === true);
  if (found.length === 0) return [];
  const sentence = `Others used the measured servers during ${things(found.length, 'runs')}.`;
  return [{ check: 'foreign_traffic', outcome: 'failed', run_ids: idsOf(found), sentence }];
}

function idsOf(runs: readonly RunFigures[]): readonly string[] {
  return runs.map(({ run_id }) => run_id);
}

/** Names that one sentence has; further ones are counted. */
const MAX_NAMED_DIFFERENCES = 5;
/** Longer values, such as hashes, say nothing to a reader. */
const MAX_VALUE = 24;
const NONE = 'none';

/** What differs between configurations, for a sentence: `load.concurrency (8, 32)`. Empty when nothing that is known does. */
export function configurationDifference(configurations: readonly object[]): string {
  const leaves = configurations.map((configuration) => new Map(leavesOf(configuration, '')));
  const names = [...new Set(leaves.flatMap((each) => [...each.keys()]))];
  const different = names.flatMap((name) => {
    const values = [...new Set(leaves.map((each) => each.get(name) ?? NONE))];
    if (values.length === 1) return [];
    const isShort = values.every((value) => value.length <= MAX_VALUE);
    return [isShort ? `${name} (${values.join(', ')})` : name];
  });
  const more = different.length - MAX_NAMED_DIFFERENCES;
  return [...different.slice(0, MAX_NAMED_DIFFERENCES), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Each value that is not an object, as JSON, by its path. */
function leavesOf(value: unknown, path: string): readonly (readonly [path: string, json: string])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [[path, value === null ? NONE : JSON.stringify(value)]];
  }
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, path === '' ? name : `${path}.${name}`));
}
