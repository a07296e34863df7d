import { formerNames } from '../../../catalog/former-names.ts';
import type { Exposure } from '../../../catalog/types.ts';
import { compareVersions, isVersion, releasesBefore } from '../../../catalog/versions.ts';
import { withFormerNames } from '../../../prometheus/former-names.ts';
import { runMatcher } from '../../../prometheus/queries.ts';
import { selectors } from '../../../prometheus/promql.ts';
import { SELECTED_RUNS } from '../queries/client.ts';
import type { Query } from '../target.ts';
import type { Family } from './families.ts';
import type { PanelSpec } from './panel-spec.ts';
import type { Signal } from './signal.ts';

/** The servers of a dashboard. */
export interface Servers {
  readonly system: string;
  /** A family that each of them has from its start. */
  readonly presence: string;
}

const OF_SERVERS = 'job=~"$job",instance=~"$instance"';

/**
 * Why a panel over time is empty: a series without a value whose name says it. Nothing where the panel has data. In this
 * order: no page was scraped, the release of the chosen run lacks the families, the page lacks them, nothing was observed.
 */
export function emptyReason(panel: PanelSpec, { system, presence }: Servers): Query {
  const families = [...new Set(panel.signals.flatMap((signal) => signal.families))];
  const targets = targetsOf(panel.signals);
  const there = thereQuery(panel.signals, targets);
  const unscraped = `no page of ${pageOf(families)}`;
  if (targets !== OF_SERVERS) return reasonQuery(reason(`absent(${there})`, unscraped));

  const scraped = `group(last_over_time(${presence}{${OF_SERVERS}}[$__range]))`;
  const older = olderRelease(system, families);
  const idle = idleQuery(panel.signals);
  // The first that holds.
  const lacking = [
    reason(`absent(${scraped})`, unscraped),
    ...(older === null ? [] : [reason(older.query, older.text, ['system_version', '(.*)'])]),
    reason(scraped, notOnPage(families)),
  ].join(' or on () ');
  const unused = idle === null ? [] : [reason(`(${there}) unless on () (${idle})`, IDLE)];
  return reasonQuery([`(${lacking}) unless on () (${there})`, ...unused].join(' or '));
}

const IDLE = 'nothing was observed in the time range';

/** Whether all families of one of the signals are there: a quotient requires both of its sides. */
function thereQuery(signals: readonly Signal[], targets: string): string {
  const one = (families: readonly Family[]): string =>
    `group(last_over_time({__name__=~"${families.flatMap(sampleNames).join('|')}",${targets}}[$__range]))`;
  const single = new Set(signals.flatMap(({ families }) => (families.length === 1 ? families : [])));
  const several = signals.filter(({ families }) => families.length > 1);
  return [
    ...(single.size === 0 ? [] : [one([...single])]),
    ...new Set(several.map(({ families }) => families.map((family) => one([family])).join(' and '))),
  ].join(' or ');
}

function reasonQuery(reasons: string): Query {
  return { expr: `NaN * (${reasons})`, legend: '{{why}}', instant: true };
}

function reason(query: string, text: string, [label, pattern] = ['why', '']): string {
  const quoted = text.replaceAll('"', "'").replaceAll('\\', '');
  return `label_replace(${query}, "why", "No data: ${quoted}", "${label}", "${pattern}")`;
}

/** Matchers of the targets that the panel reads: exporters are chosen by a variable of their own. */
function targetsOf(signals: readonly Signal[]): string {
  const [first] = signals.flatMap(({ expr }) => selectors(expr));
  const matchers = (first?.matchers ?? []).filter(({ label }) => label === 'job' || label === 'instance');
  return matchers.map(({ label, operator, value }) => `${label}${operator}"${value}"`).join(',');
}

/** Names of samples that show that a family is there, under any of its names: of a histogram also that of a native one. */
function sampleNames({ name, type }: Family): string[] {
  const counted = type === 'histogram' || type === 'summary';
  return [name, ...formerNames(name).map((former) => former.name)].flatMap((each) =>
    counted ? [`${each}_count`, each] : [each],
  );
}

function pageOf(families: readonly Family[]): string {
  const [first] = families;
  if (first === undefined) throw new Error('a panel of a server without families');
  const { title, endpoint, switch: pageSwitch } = first.page;
  const needs = pageSwitch === null ? '' : `; it needs ${pageSwitch}`;
  return `${title} was scraped in the time range (port ${endpoint.port}, path ${endpoint.path})${needs}`;
}

/** The chosen runs whose server is older than all families of the panel; null where every release has one of them. */
function olderRelease(system: string, families: readonly Family[]): { query: string; text: string } | null {
  const first = families.every((family) => family.system === system) ? firstReleaseOf(families) : null;
  if (first === null) return null;
  const versions = releasesBefore(first).replaceAll('\\', '\\\\');
  const runs = `llmbench_run_info{${runMatcher(SELECTED_RUNS)},system="${system}",system_version=~"${versions}"}`;
  return {
    query: `group by (system_version) (last_over_time(${runs}[$__range]))`,
    text: `${families[0]?.page.title ?? system} $1 does not expose this, ${first} and later do`,
  };
}

/** The first release that has one of the families under any of its names; null when all releases do, or it is not known. */
function firstReleaseOf(families: readonly Family[]): string | null {
  const all = families.flatMap(({ name, since }) => [since, ...formerNames(name).map((former) => former.since)]);
  return all.every(isVersion) ? (all.toSorted(compareVersions)[0] ?? null) : null;
}

function notOnPage(families: readonly Family[]): string {
  const since = firstReleaseOf(families);
  const parts = [
    ...(since === null ? [] : [`${families[0]?.page.title ?? ''} exposes this since ${since}`]),
    ...conditions(families, 'switch', 'not enabled, needs'),
    ...conditions(families, 'on_use', 'not used yet'),
  ];
  return parts.length === 0 ? 'the page of these servers lacks it' : parts.join(' · ');
}

function conditions(families: readonly Family[], exposure: Exposure, words: string): string[] {
  const texts = families.filter(({ exposed }) => exposed === exposure).map(({ when }) => when.replace(/\.$/, ''));
  return texts.length === 0 ? [] : [`${words}: ${[...new Set(texts)].join(' · ')}`];
}

/** Finds the panel's observations, where all that it shows is a percentile or a quotient of them; null where it is not. */
function idleQuery(signals: readonly Signal[]): string | null {
  const isQuotient = ({ expr }: Signal): boolean => /histogram_quantile| \/ /.test(expr);
  const counted = signals
    .flatMap((signal) => signal.families)
    .filter(({ type }) => type !== 'gauge' && type !== 'info');
  if (counted.length === 0 || !signals.every(isQuotient)) return null;
  const samples = [...new Set(counted.map(({ name, type }) => (type === 'counter' ? name : `${name}_count`)))];
  // Within a function, a sum of native histograms may take the place of that of classic ones.
  const grown = samples.map((name) => `abs(sum(increase(${name}{${OF_SERVERS}}[$__range]))) > 0`);
  return grown.map(withFormerNames).join(' or ');
}
