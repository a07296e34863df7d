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

/** Job, model and instance of the servers, each narrowed by those before it. `family` is one that each server has. */
export function serverVariables(family: string, modelLabel: string): QueryVariableBuilder[] {
  const variables = [
    labelVariable({
      name: 'job',
      label: 'Job',
      description: 'Scrape job of the servers',
      series: family,
      of: 'job',
    }),
    labelVariable({
      name: 'model',
      label: 'Model',
      description: 'Model that the servers serve',
      series: `${family}{job=~"$job"}`,
      of: modelLabel,
    }),
    labelVariable({
      name: 'instance',
      label: 'Instance',
      description: 'Servers, by address',
      series: `${family}{job=~"$job",${modelLabel}=~"$model"}`,
      of: 'instance',
    }),
  ];
  return variables.map((variable) =>
    variable.sort(VariableSort.AlphabeticalAsc).includeAll(true).allValue('.+').current(ALL),
  );
}
