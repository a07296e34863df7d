import {
  CustomVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './datasource.ts';

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
function labelVariable({ name, label, description, series, of }: LabelVariableOptions): QueryVariableBuilder {
  const query = `label_values(${series}, ${of})`;
  return new QueryVariableBuilder(name)
    .label(label)
    .description(description)
    .datasource(DATASOURCE)
    .query({ query, refId: 'StandardVariableQuery' })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true);
}

export function datasourceVariable(): DatasourceVariableBuilder {
  return new DatasourceVariableBuilder('datasource')
    .label('Data source')
    .description('The Prometheus that scrapes the runs and their servers')
    .type('prometheus');
}

export function scrapeIntervalVariable(): CustomVariableBuilder {
  return new CustomVariableBuilder('scrape_interval')
    .label('Scrape interval')
    .description('How often this Prometheus scrapes runs and servers: rates are taken over four of these at least')
    .values('2s,1s,5s,10s,15s,30s,1m')
    .current({ selected: true, text: '2s', value: '2s' });
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
    labelVariable({
      name: 'run',
      label: 'Run',
      description: 'The runs that were scraped in the time range, the newest first',
      series: 'llmbench_run_info{scenario=~"$scenario"}',
      of: 'run_id',
    }).sort(VariableSort.AlphabeticalDesc),
  ];
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

/**
 * Job, model and instance of the servers, each narrowed by those before it. `presence` is a family that each server has;
 * `model` is where the model's name is read. All models: also series that name none.
 */
export function serverVariables(
  presence: string,
  model: { readonly family: string; readonly label: string } | null,
): QueryVariableBuilder[] {
  const narrowed = model?.family === presence ? `job=~"$job",${model.label}=~"$model"` : 'job=~"$job"';
  const job = labelVariable({
    name: 'job',
    label: 'Job',
    description: 'Scrape job of the servers',
    series: presence,
    of: 'job',
  });
  const instance = labelVariable({
    name: 'instance',
    label: 'Instance',
    description: 'Servers, by address',
    series: `${presence}{${narrowed}}`,
    of: 'instance',
  });
  const all = (variable: QueryVariableBuilder, value = '.+'): QueryVariableBuilder =>
    variable.sort(VariableSort.AlphabeticalAsc).includeAll(true).allValue(value).current(ALL);
  if (model === null) return [all(job), all(instance)];
  const models = labelVariable({
    name: 'model',
    label: 'Model',
    description: 'Model that the servers serve',
    series: `${model.family}{job=~"$job"}`,
    of: model.label,
  });
  return [all(job), all(models, '.*'), all(instance)];
}

/** System, model and instance of the series that the recording rules make of all servers; these carry no job. */
export function recordedVariables(presence: string): QueryVariableBuilder[] {
  const narrowing = ['', '{system=~"$system"}', '{system=~"$system",model=~"$model"}'];
  const variables = [
    { name: 'system', label: 'System', description: 'Kind of server', of: 'system' },
    { name: 'model', label: 'Model', description: 'Model that the servers serve', of: 'model' },
    { name: 'instance', label: 'Instance', description: 'Servers, by address', of: 'instance' },
  ];
  return variables.map((variable, index) =>
    labelVariable({ ...variable, series: `${presence}${narrowing[index] ?? ''}` })
      .sort(VariableSort.AlphabeticalAsc)
      .includeAll(true)
      // A gateway reports no model.
      .allValue(variable.name === 'model' ? '.*' : '.+')
      .current(ALL),
  );
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
  const series = choice.of === 'instance' ? family : `${family}{job=~"$job",instance=~"$instance"}`;
  return labelVariable({ ...choice, series })
    .sort(VariableSort.NaturalAsc)
    .includeAll(true)
    .allValue('.*')
    .current(ALL);
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

/** A service level objective: panels draw it as a line and say which share of the requests keeps it. */
export interface Objective {
  readonly name: string;
  readonly label: string;
  /** Its bucket bounds are what may be chosen: at any other value the share would be a guess. */
  readonly histogram: string;
  /** The bound that it opens with, written as the server writes it. */
  readonly value: string;
}

export function objectiveVariable({ name, label, histogram, value }: Objective): QueryVariableBuilder {
  const series = histogram.startsWith('llmbench_')
    ? `${histogram}_bucket{run_id=~"$run"}`
    : `${histogram}_bucket{job=~"$job",instance=~"$instance"}`;
  return labelVariable({
    name,
    label,
    description: `Service level objective; the choices are the bucket bounds of ${histogram}`,
    series,
    of: 'le',
  })
    .multi(false)
    .regex('/^[0-9.e-]+$/')
    .sort(VariableSort.NumericalAsc)
    .current({ selected: true, text: value, value });
}
