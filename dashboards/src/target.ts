import type { DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { UID as BENCHMARK_UID, SCRAPE_INTERVAL } from './datasource.ts';

/** What a panel asks, and how it names each series that comes back. */
export interface Query {
  readonly expr: string;
  /** Legend with `{{label}}`. */
  readonly legend: string;
  /** Each series is one of a run and has its `run_id`: it leads to that run. */
  readonly perRun?: true;
  /** Each series is one of a server, by the recording rules. */
  readonly perServer?: true;
  /** Its value at the end of the time range is enough, also in a panel over time. */
  readonly instant?: true;
  /** A bound of another line: drawn thinner. */
  readonly dashed?: true;
  /** Traced requests are drawn as points beside the line, where Prometheus stores exemplars. */
  readonly exemplars?: true;
}

/** What is not said, Grafana takes as it is here: the data source of the panel, time series, PromQL as text. */
function dataquery({ expr, legend }: Query, refId: string): DataqueryBuilder {
  return new DataqueryBuilder().refId(refId).expr(expr).legendFormat(legend).interval(SCRAPE_INTERVAL);
}

/** A, B, C, … in the order of the queries. */
export function refId(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

/** Values over the time range. */
export function overTime(queries: readonly Query[]): DataqueryBuilder[] {
  return queries.map((query, index) => {
    const target = dataquery(query, refId(index));
    if (query.exemplars === true) target.exemplar(true);
    return query.instant === true ? target.instant() : target.range();
  });
}

/** One value per series, at the end of the time range. */
export function atTheEnd(queries: readonly Query[]): DataqueryBuilder[] {
  return queries.map((query, index) => dataquery(query, refId(index)).instant());
}

/** One row per series, at the end of the time range. */
export function asTable(query: Query): DataqueryBuilder {
  return dataquery(query, refId(0)).instant().format(PromQueryFormat.Table);
}

/** The same for each query, with the name that Grafana gives to the column of its values when the tables are joined. */
export function asTables(queries: readonly Query[]): { readonly field: string; readonly target: DataqueryBuilder }[] {
  return queries.map((query, index) => {
    const target = dataquery(query, refId(index)).instant().format(PromQueryFormat.Table);
    return { field: queries.length === 1 ? 'Value' : `Value #${refId(index)}`, target };
  });
}

/** The buckets of one histogram: the legend is the bucket's upper bound. */
export function asHeatmap(expr: string): DataqueryBuilder {
  return dataquery({ expr, legend: '{{le}}' }, refId(0)).range().format(PromQueryFormat.Heatmap);
}

interface Link {
  readonly title: string;
  readonly url: string;
  readonly targetBlank: boolean;
}

/** A page of the app; without the app, Grafana reports that there is no page. */
function appPage(path: string): Link {
  return { title: 'Open in the llmbench app', url: `/a/llmbench-observability-app/${path}`, targetBlank: false };
}

/** The page of a run, by the variable that holds its id. */
export function appPageOfRun(runId: string): Link {
  return appPage(`runs/\${${runId}}?\${__url_time_range}`);
}

/** The history of a scenario, in a table that has it. */
export const APP_PAGE_OF_SCENARIO = appPage('trends?scenario=${__data.fields.scenario}');

/** Leads from a series to its run; on hover it shows the run's id, which no legend has room for. */
export function runLinks(queries: readonly Query[]): { readonly refId: string; readonly links: DynamicConfigValue }[] {
  const link = {
    title: 'Run ${__field.labels.run_id}',
    url: `/d/${BENCHMARK_UID}?\${__url_time_range}&\${datasource:queryparam}&var-run=\${__field.labels.run_id}`,
    targetBlank: false,
  };
  const ofApp = appPageOfRun('__field.labels.run_id');
  return queries.flatMap(({ perRun }, index) =>
    perRun === true ? [{ refId: refId(index), links: { id: 'links', value: [link, ofApp] } }] : [],
  );
}
