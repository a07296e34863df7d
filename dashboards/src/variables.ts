import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  CustomVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { OBJECTIVES, type LatencyObjective } from '../../core/objectives/rule-settings.ts';
import { limitAndBounds, limitSeries } from '../../prometheus/objectives.ts';
import { ofMeasured, ofMeasuredAmong, ofSystem, runMatcher, runTitles } from '../../prometheus/queries.ts';
import { DATASOURCE } from './datasource.ts';
import type { Histograms } from '../../prometheus/native-histograms.ts';
import { SELECTED_RUNS } from './queries/client.ts';

/** Opens with All: Grafana versions differ in what they take when nothing is said. */
const ALL = { selected: true, text: ['All'], value: ['$__all'] };

interface LabelVariableOptions {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** The series whose label values are offered. */
  readonly series: string;
  /** The label in question. */
  readonly of: string;
}

/** The values of a label that occur in the time range; several may be chosen. */
function labelVariable({ series, of, ...named }: LabelVariableOptions): QueryVariableBuilder {
  return queryVariable({ ...named, query: `label_values(${series}, ${of})` });
}

interface ResultVariableOptions {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** Its series are offered, as they are at the end of the time range. */
  readonly expr: string;
  /** Finds the groups `value` and `text` in a series as Grafana writes it: `{label="value",…} 1 0`, labels in alphabetical order. */
  readonly regex: string;
}

function resultVariable({ expr, regex, ...named }: ResultVariableOptions): QueryVariableBuilder {
  return queryVariable({ ...named, query: `query_result(${expr})` }).regex(regex);
}

function queryVariable(of: Pick<LabelVariableOptions, 'name' | 'label' | 'description'> & { readonly query: string }) {
  const { name, label, description, query } = of;
  return new QueryVariableBuilder(name)
    .label(label)
    .description(description)
    .datasource(DATASOURCE)
    .query({ query, refId: 'StandardVariableQuery' })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true);
}

/** One value that queries need and that no viewer chooses. */
export function hiddenVariable(options: Omit<ResultVariableOptions, 'label'>): VariableBuilder {
  const variable = resultVariable({ ...options, label: options.name })
    .multi(false)
    .sort(VariableSort.Disabled)
    .hide(VariableHide.HideVariable);
  // A value in a link would be that of another dashboard, or of another time.
  return { build: () => ({ ...variable.build(), skipUrlSync: true }) };
}

type VariableBuilder = Builder<VariableModel>;

/** Of variables that are rarely changed. Before Grafana 12.2, which has no such menu, they stand beside the others. */
export const IN_MENU = VariableHide.InControlsMenu;

export function datasourceVariable(): DatasourceVariableBuilder {
  return new DatasourceVariableBuilder('datasource')
    .label('Data source')
    .description('The Prometheus that scrapes the runs and their servers')
    .type('prometheus')
    .hide(IN_MENU);
}

/** Grafana's shortest step on dashboards without rates. */
export function shortestStepVariable(): CustomVariableBuilder {
  return new CustomVariableBuilder('scrape_interval')
    .label('Scrape interval')
    .description('How often this Prometheus scrapes the exporter')
    .values('2s,1s,5s,10s,15s,30s,60s')
    .current({ selected: true, text: '2s', value: '2s' })
    .hide(VariableHide.HideVariable);
}

const INTERVALS_SECONDS = [1, 2, 5, 10, 15, 30, 60];
/** Of runs in the shipped configuration; assumed where nothing was scraped. */
const USUAL_SECONDS = 2;

/**
 * The interval at which series were scraped in the hour before the end of the time range, the nearest choice first: it is
 * what Grafana makes the windows of rates of. `series` are selectors; the slowest counts.
 */
export function scrapeIntervalVariable(...series: readonly string[]): QueryVariableBuilder {
  const scrapes = (selector: string, window: string): string =>
    `max_over_time(count_over_time(${selector}[${window}])[1h:5s])`;
  // 14 s measure up to 5 s, and fit into a short run. A window of whole intervals might hold one scrape more than intervals.
  const measured = series.flatMap((each) => [`14 / (${scrapes(each, '14s')} >= 3)`, `119 / ${scrapes(each, '119s')}`]);
  const choices = INTERVALS_SECONDS.map(
    (seconds) => `label_replace(vector(${seconds}), "interval", "${seconds}s", "", "")`,
  );
  const interval = `(max(${measured.join(' or ')}) or on () vector(${USUAL_SECONDS}))`;
  return (
    resultVariable({
      name: 'scrape_interval',
      label: 'Scrape interval',
      description:
        'How often Prometheus scrapes what is shown, as measured: rates are taken over four of these at least',
      expr: `sort(abs(ln((${choices.join(' or ')}) / on () group_left () ${interval})))`,
      regex: '/interval="(?<value>[^"]+)"/',
    })
      .multi(false)
      .sort(VariableSort.Disabled)
      // It is measured, and takes room from what is chosen; `var-scrape_interval` in the address sets it.
      .hide(VariableHide.HideVariable)
  );
}

/** Only runs that are scraped or pushed have counters: of those that are written afterwards there are edges, without an interval. */
export const SAMPLES_OF_RUNS = `llmbench_requests_total{${runMatcher(SELECTED_RUNS)},phase="measure",outcome="ok"}`;

/** Runs and the chosen servers, on dashboards that show both. */
export function scrapesOfRuns(): string[] {
  return [SAMPLES_OF_RUNS, 'up{instance=~"$instance"}'];
}

/** Scenario, then the runs of it. The newest run of the time range comes first, and is what the dashboard opens with. */
export function runVariables(): QueryVariableBuilder[] {
  return [
    labelVariable({
      name: 'scenario',
      label: 'Scenario',
      description: 'The named recipe of a run',
      series: 'llmbench_run_info',
      of: 'scenario',
    })
      .sort(VariableSort.AlphabeticalAsc)
      .includeAll(true)
      .allValue('.*')
      .current(ALL),
    runVariable('The runs that were scraped in the time range', runTitles('$scenario')),
  ];
}

/** The runs that measured a server of the system; all of them if none did, or without a system. */
export function runOfSystemVariable(system: string | null): QueryVariableBuilder {
  const all = runTitles('.*');
  if (system === null) return runVariable('The runs that were scraped in the time range', all);
  return runVariable('The runs that measured such a server, else all that were scraped', ofSystem(all, system));
}

function runVariable(description: string, expr: string): QueryVariableBuilder {
  return resultVariable({
    name: 'run',
    label: 'Run',
    description: `${description}, by start and scenario, the newest first`,
    expr,
    regex: '/run_id="(?<value>[^"]+)".*title="(?<text>.*)"/',
  }).sort(VariableSort.AlphabeticalDesc);
}

/** Scenarios of the exporter, also those that have not been judged. */
export function scenarioVariable(): QueryVariableBuilder {
  return labelVariable({
    name: 'scenario',
    label: 'Scenario',
    description: 'The named recipe of a run',
    series: 'llmbench_scenario_last_completed_timestamp_seconds',
    of: 'scenario',
  })
    .sort(VariableSort.AlphabeticalAsc)
    .includeAll(true)
    .allValue('.*')
    .current(ALL);
}

/** The chosen scenarios that have been judged, in the order of the query: a panel is repeated for each. */
export function judgedVariable(expr: string): QueryVariableBuilder {
  return resultVariable({
    name: 'judged',
    label: 'Judged',
    description: 'The chosen scenarios with an effect, the worst first',
    expr,
    regex: '/scenario="(?<value>[^"]+)"/',
  })
    .sort(VariableSort.Disabled)
    .includeAll(true)
    .current(ALL)
    .hide(VariableHide.HideVariable);
}

/** What chooses servers: a family that each of them has, and where the model's name is read; null: none is reported. */
interface ServerSource {
  readonly presence: string;
  /** Of servers that lack it: families of which they have one instead. */
  readonly otherPresence?: readonly string[];
  readonly model: { readonly family: string; readonly label: string } | null;
}

/** The series by which servers are found. */
export function presentSeries({ presence, otherPresence = [] }: Omit<ServerSource, 'model'>, matchers: string): string {
  if (otherPresence.length === 0) return `${presence}{${matchers}}`;
  return `{__name__=~"${[presence, ...otherPresence].join('|')}",${matchers}}`;
}

/** Job, model and instance of the servers, each narrowed by those before it. All models: also series that name none. */
export function serverVariables({ presence, model }: ServerSource): QueryVariableBuilder[] {
  const instance = labelVariable({
    name: 'instance',
    label: 'Instance',
    description: 'Servers, by address',
    series: narrowed({ presence, model }),
    of: 'instance',
  });
  return [...jobAndModel({ presence, model }), withAll(instance, '.+')];
}

/** The same; as it opens, All instances are the servers whose metrics the chosen runs have read, if they read any of these. */
export function measuredServerVariables(servers: ServerSource): (CustomVariableBuilder | QueryVariableBuilder)[] {
  const seen = `last_over_time(${narrowed(servers)}[$__range])`;
  const instance = resultVariable({
    name: 'instance',
    label: 'Instance',
    description: 'Servers, by address',
    expr: `group by (instance) (${ofMeasuredAmong(seen, SELECTED_RUNS, '$servers')})`,
    regex: '/instance="(?<value>.+)"/',
  });
  return [serversVariable(), ...jobAndModel(servers), withAll(instance)];
}

function narrowed(servers: ServerSource): string {
  const { presence, model } = servers;
  return presentSeries(servers, `job=~"$job"${model?.family === presence ? `,${model.label}=~"$model"` : ''}`);
}

function jobAndModel({ presence, model }: ServerSource): QueryVariableBuilder[] {
  const job = labelVariable({
    name: 'job',
    label: 'Job',
    description: 'Scrape job of the servers',
    series: presence,
    of: 'job',
  });
  job.hide(IN_MENU);
  if (model === null) return [withAll(job, '.+')];
  const models = labelVariable({
    name: 'model',
    label: 'Model',
    description: 'Model that the servers serve',
    series: `${model.family}{job=~"$job"}`,
    of: model.label,
  });
  return [withAll(job, '.+'), withAll(models, '.*')];
}

/** Without a value for All, All of them are those that are offered. */
function withAll(variable: QueryVariableBuilder, value?: string): QueryVariableBuilder {
  const all = variable.sort(VariableSort.AlphabeticalAsc).includeAll(true).current(ALL);
  return value === undefined ? all : all.allValue(value);
}

/** For whose values a heatmap is repeated. */
export const HEATMAP_INSTANCE = 'heatmap_instance';

/** The chosen instances that have the histogram in the time range, under any of its names: no other has a heatmap. */
export function heatmapVariable(buckets: readonly string[]): QueryVariableBuilder {
  const names = buckets.flatMap((name) => [name, name.replace(/_bucket$/, '')]).join('|');
  const variable = labelVariable({
    name: HEATMAP_INSTANCE,
    label: 'Heatmap',
    description: 'The chosen instances that have the histogram',
    series: `{__name__=~"${names}",job=~"$job",instance=~"$instance"}`,
    of: 'instance',
  });
  return withAll(variable).hide(VariableHide.HideVariable);
}

/**
 * Which servers, then system, model and instance of the series that the recording rules make of them; these carry no job. As
 * it opens, these are the servers whose metrics the chosen runs have read.
 */
export function recordedVariables(presence: string): (CustomVariableBuilder | QueryVariableBuilder)[] {
  const narrowing = ['', '{system=~"$system"}', '{system=~"$system",model=~"$model"}'];
  const variables = [
    { name: 'system', label: 'System', description: 'Kind of server' },
    { name: 'model', label: 'Model', description: 'Model that the servers serve' },
    { name: 'instance', label: 'Instance', description: 'Servers, by address' },
  ].map((variable, index) => {
    const recorded = `last_over_time(${presence}${narrowing[index] ?? ''}[$__range])`;
    return resultVariable({
      ...variable,
      expr: `group by (${variable.name}) (${ofMeasured(recorded, SELECTED_RUNS, '$servers')})`,
      regex: `/${variable.name}="(?<value>.+)"/`,
    })
      .sort(VariableSort.AlphabeticalAsc)
      .includeAll(true)
      .current(ALL);
  });
  const [system, model, instance] = variables as [QueryVariableBuilder, QueryVariableBuilder, QueryVariableBuilder];
  // A gateway reports no model. Instances have no value for All: All of them are those that are offered.
  return [serversVariable(), system.allValue('.+').hide(IN_MENU), model.allValue('.*').hide(IN_MENU), instance];
}

/** Its value is matched against the targets of the runs. */
function serversVariable(): CustomVariableBuilder {
  const [ofRun, all] = ['Of the run', 'All'];
  return new CustomVariableBuilder('servers')
    .label('Servers')
    .description(
      'Of the run: those whose metrics the chosen runs read, under the same host and port. All are shown if the runs read none',
    )
    .values(`${ofRun} : .+,${all} : none`)
    .current({ selected: true, text: ofRun, value: '.+' });
}

/** A further choice within the servers, such as a worker. */
export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** Family and label that the values come from. */
  readonly family: string;
  readonly of: string;
}

export function choiceVariable({ family, ...choice }: Choice): QueryVariableBuilder {
  // A choice of instances is one of targets with a job of their own.
  const ofTargets = choice.of === 'instance';
  const series = ofTargets ? family : `${family}{job=~"$job",instance=~"$instance"}`;
  const variable = labelVariable({ ...choice, series })
    .sort(VariableSort.NaturalAsc)
    .includeAll(true)
    .allValue('.*')
    .current(ALL);
  return ofTargets ? variable.hide(IN_MENU) : variable;
}

/** One family of those that the chosen targets expose; `matcher` says of which kind. */
export function familyVariable(name: string, label: string, matcher: string): QueryVariableBuilder {
  return labelVariable({
    name,
    label,
    description: `${label}s of the chosen targets`,
    series: `{${matcher},job=~"$job",instance=~"$instance"}`,
    of: '__name__',
  })
    .multi(false)
    .sort(VariableSort.AlphabeticalAsc);
}

/** The series of the chosen targets whose name has none of the suffixes of classic samples: gauges and native histograms. */
const WITHOUT_SUFFIX = families('__name__!~"ALERTS.*|.+_(total|bucket|sum|count|created|info)"', '(.+)');

/** Series of the chosen targets with the name of their family, which the pattern finds, in the label `family`. */
function families(matchers: string, pattern: string): string {
  const series = `last_over_time({${matchers},job=~"$job",instance=~"$instance"}[$__range])`;
  return `label_replace(${series}, "family", "$1", "__name__", "${pattern}")`;
}

/** One histogram of those that the chosen targets expose, by the name of the family, whether it is classic or native. */
export function histogramVariable(): QueryVariableBuilder {
  const classic = families('__name__=~".+_bucket",le="+Inf"', '(.+)_bucket');
  // Only histograms have a count.
  return familyOf('histogram', 'Histogram', `${classic} or histogram_count(${WITHOUT_SUFFIX})`);
}

/** One gauge of those that the chosen targets expose: no native histogram, which has a name of the same form. */
export function gaugeVariable(): QueryVariableBuilder {
  // Only numbers can be compared.
  return familyOf('gauge', 'Gauge', `${WITHOUT_SUFFIX} <= Inf`);
}

function familyOf(name: string, label: string, series: string): QueryVariableBuilder {
  return resultVariable({
    name,
    label,
    description: `${label}s of the chosen targets`,
    expr: `group by (family) (${series})`,
    regex: '/family="(?<value>[^"]+)"/',
  })
    .multi(false)
    .sort(VariableSort.AlphabeticalAsc);
}

/** A service level objective: panels draw it as a line and say which share of the requests keeps it. */
export interface Objective {
  readonly name: string;
  readonly label: string;
  /** Its bucket bounds are among the choices: at these the share of the values within the objective is exact. */
  readonly histogram: string;
  readonly measure: LatencyObjective['measure'];
  /** How many units of the histogram are a second; 1 unless set. */
  readonly perSecond?: number;
}

/** The limit of the rules comes first, and is what the dashboard opens with. */
export function objectiveVariable(
  { name, label, histogram, measure, perSecond = 1 }: Objective,
  histograms: Histograms,
): QueryVariableBuilder {
  const chosen = histogram.startsWith('llmbench_') ? 'run_id=~"$run"' : 'job=~"$job",instance=~"$instance"';
  const buckets = `last_over_time(${histogram}_bucket{${chosen},le!="+Inf"}[$__range])`;
  const native = histograms === 'either' ? `last_over_time(${histogram}{${chosen}}[$__range])` : null;
  const objective = OBJECTIVES.find((each) => each.measure === measure);
  if (objective === undefined) throw new Error(`there is no objective for ${measure}`);
  return resultVariable({
    name,
    label,
    description: `Service level objective; the choices are ${limitSeries(measure)} and the bucket bounds of ${histogram}, the nearest first. Another number can be set in the address, as in var-${name}=0.3`,
    expr: limitAndBounds(buckets, objective, { perSecond, native }),
    regex: '/bound="(?<value>[^"]+)"/',
  })
    .multi(false)
    .sort(VariableSort.Disabled)
    .hide(IN_MENU);
}
