import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import { formerNames } from '../../../catalog/former-names.ts';
import { compareVersions, isVersion, releasesBefore } from '../../../catalog/versions.ts';
import { withFormerNames } from '../../../prometheus/former-names.ts';
import { runMatcher } from '../../../prometheus/queries.ts';
import { selectors } from '../../../prometheus/promql.ts';
import { SELECTED_RUNS } from '../queries/client.ts';
import type { Query } from '../target.ts';
import { hiddenVariable, presentSeries } from '../variables.ts';
import { Families, type Family } from './families.ts';
import type { PanelSpec, Signal } from './panel-spec.ts';

/** The servers of a dashboard. */
export interface Servers {
  readonly system: string;
  /** A family that each of them has from its start. */
  readonly presence: string;
  readonly otherPresence?: readonly string[];
}

const OF_SERVERS = 'job=~"$job",instance=~"$instance"';
/** Hidden variable of what all panels of a dashboard would have to ask alike. */
const KNOWN_OF_SERVERS = 'why';
/** Of that variable: a release, or nothing. That no page was scraped is a sentence. */
const RELEASE_OR_NOTHING = '[^ ]*';

/** What is known of the servers of a dashboard: that no page of theirs was scraped, else the release of the chosen runs. */
export function serversVariable(servers: Servers): Builder<VariableModel> {
  const { system, presence } = servers;
  const unscraped = `absent_over_time(${presentSeries(servers, OF_SERVERS)}[$__range])`;
  const runs = `llmbench_run_info{${runMatcher(SELECTED_RUNS)},system="${system}"}`;
  const releases = `group by (system_version) (last_over_time(${runs}[$__range]))`;
  return hiddenVariable({
    name: KNOWN_OF_SERVERS,
    description: 'What empty panels say: that no server was scraped, or which release the selected run used',
    expr: `${reason(unscraped, noPageOf(new Families([system]).get(presence)))} or on () ${reason(releases, '$1', 'system_version', '(.*)')}`,
    regex: '/why="(?<value>[^"]+)"/',
  });
}

/**
 * Why a panel over time is empty: a series without a value whose name says it. Nothing where the panel has data. In this
 * order: no page was scraped, the release of the chosen run lacks the families, the page lacks them, nothing was observed.
 */
export function emptyReason({ signals }: PanelSpec, { system }: Servers): Query {
  const families = [...new Set(signals.flatMap((signal) => signal.families))];
  const [first] = families;
  if (first === undefined) throw new Error('a panel of a server without families');
  const targets = targetsOf(signals);
  const absent = absentQuery(signals, targets);
  if (targets !== OF_SERVERS) return reasonQuery(reason(absent, onNoPageOf(first)));

  const known = reason(absent, `$${KNOWN_OF_SERVERS}`);
  const since = families.every((family) => family.system === system) ? firstReleaseOf(families) : null;
  const older = since === null ? known : ofOlderRelease(known, first.page.title, since);
  const lacking = reason(older, notOnPage(families), 'why', RELEASE_OR_NOTHING);
  const idle = idleQuery(signals);
  return reasonQuery(idle === null ? lacking : `(${lacking} or on () ${reason(idle, IDLE)})`);
}

const IDLE = 'nothing was observed in the time range';

/** 1 unless all families of one of the signals are there: a quotient requires both of its sides. */
function absentQuery(signals: readonly Signal[], targets: string): string {
  const all = (families: readonly Family[]): string =>
    `absent_over_time({__name__=~"${namePattern(families)}",${targets}}[$__range])`;
  const single = new Set(signals.flatMap(({ families }) => (families.length === 1 ? families : [])));
  const several = signals.filter(({ families }) => families.length > 1);
  const lacking = [
    ...(single.size === 0 ? [] : [all([...single])]),
    ...new Set(several.map(({ families }) => `(${families.map((family) => all([family])).join(' or ')})`)),
  ];
  return lacking.join(' and ');
}

function reasonQuery(reasons: string): Query {
  return { expr: `NaN * ${reasons}`, legend: 'No data: {{why}}', instant: true };
}

function reason(query: string, text: string, label = '', pattern = ''): string {
  const quoted = text.replaceAll('"', "'").replaceAll('\\', '');
  return `label_replace(${query}, "why", "${quoted}", "${label}", "${pattern}")`;
}

/** Matchers of the targets that the panel reads: exporters are chosen by a variable of their own. */
function targetsOf(signals: readonly Signal[]): string {
  const [first] = signals.flatMap(({ expr }) => selectors(expr));
  const matchers = (first?.matchers ?? []).filter(({ label }) => label === 'job' || label === 'instance');
  return matchers.map(({ label, operator, value }) => `${label}${operator}"${value}"`).join(',');
}

/** Names of samples that show that a family is there, under any of its names: of a histogram also that of a native one. */
function namePattern(families: readonly Family[]): string {
  const namesOf = ({ name }: Family): string[] => [name, ...formerNames(name).map((former) => former.name)];
  const isCounted = ({ type }: Family): boolean => type === 'histogram' || type === 'summary';
  const counted = families.filter(isCounted).flatMap(namesOf);
  const plain = families.filter((family) => !isCounted(family)).flatMap(namesOf);
  const names = [
    ...(plain.length === 0 ? [] : [either(plain)]),
    ...(counted.length === 0 ? [] : [`${either(counted)}(_count)?`]),
  ];
  return names.join('|');
}

/** `a_(b|c)` for `a_b` and `a_c`. */
function either(names: readonly string[]): string {
  const [first = '', ...others] = names;
  if (others.length === 0) return first;
  const differs = [...first].findIndex((letter, index) => others.some((name) => name[index] !== letter));
  const common = differs === -1 ? first.length : differs;
  return `${first.slice(0, common)}(${names.map((name) => name.slice(common)).join('|')})`;
}

function noPageOf({ page: { title, endpoint, switch: pageSwitch } }: Family): string {
  const needs = pageSwitch === null ? '' : `; it needs ${pageSwitch}`;
  // A legend has room for its first words only.
  return `not scraped: ${title} (port ${endpoint.port}, path ${endpoint.path})${needs}`;
}

/** Of a page that is chosen apart, such as that of an exporter, it is not known whether it was scraped. */
function onNoPageOf({ exposed, page: { title, endpoint } }: Family): string {
  const unused = exposed === 'on_use' ? ', or not used yet' : '';
  return `on no scraped page of ${title}${unused} (port ${endpoint.port}, path ${endpoint.path})`;
}

/** The reason that the release of the chosen run is older than all families of the panel, where that is so. */
function ofOlderRelease(known: string, title: string, since: string): string {
  const older = releasesBefore(since).replaceAll('\\', '\\\\');
  return reason(known, `${title} $1 does not expose this, ${since} and later do`, 'why', `(${older})`);
}

/** The first release that has one of the families under any of its names; null when all releases do, or it is not known. */
function firstReleaseOf(families: readonly Family[]): string | null {
  const all = families.flatMap(({ name, since }) => [since, ...formerNames(name).map((former) => former.since)]);
  return all.every(isVersion) ? (all.toSorted(compareVersions)[0] ?? null) : null;
}

function notOnPage(families: readonly Family[]): string {
  const since = firstReleaseOf(families);
  const switches = families.filter(({ exposed }) => exposed === 'switch').map(switchOf);
  const parts = [
    ...(since === null ? [] : [`${families[0]?.page.title ?? ''} exposes this since ${since}`]),
    ...(switches.length === 0 ? [] : [`not enabled, needs: ${[...new Set(switches)].join(' · ')}`]),
    ...(families.some(({ exposed }) => exposed === 'on_use') ? ['not used yet'] : []),
  ];
  return parts.length === 0 ? 'no scraped page has this' : parts.join(' · ');
}

/** What enables a family on a page that is there; the description of the panel has the details that follow or are in brackets. */
function switchOf({ when, page }: Family): string {
  const [what = ''] = when.split(';');
  const ofPage = page.switch === null ? [] : [`${page.switch} with `, `${page.switch} and `];
  const prefix = ofPage.find((each) => what.startsWith(each)) ?? '';
  return what
    .slice(prefix.length)
    .replace(/ \([^()]*\)$/, '')
    .replace(/\.$/, '');
}

/** 1 unless something was observed, of a panel whose values are all percentiles or quotients of observations; else null. */
function idleQuery(signals: readonly Signal[]): string | null {
  const isQuotient = ({ expr }: Signal): boolean => /histogram_quantile| \/ /.test(expr);
  const counted = signals
    .flatMap((signal) => signal.families)
    .filter(({ type }) => type !== 'gauge' && type !== 'info');
  if (counted.length === 0 || !signals.every(isQuotient)) return null;
  const samples = [...new Set(counted.map(({ name, type }) => (type === 'counter' ? name : `${name}_count`)))];
  // Within a function, a sum of native histograms may take the place of that of classic ones.
  const grown = samples.map((name) => withFormerNames(`abs(sum(increase(${name}{${OF_SERVERS}}[$__range]))) > 0`));
  return `absent(${grown.join(' or ')})`;
}
