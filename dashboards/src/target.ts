import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from '@grafana/grafana-foundation-sdk/prometheus';
import { DATASOURCE, SCRAPE_INTERVAL } from './datasource.ts';

/** What a panel asks, and how it names each series that comes back. */
export interface Query {
  readonly expr: string;
  /** Legend with `{{label}}`. */
  readonly legend: string;
}

function dataquery({ expr, legend }: Query, refId: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .refId(refId)
    .datasource(DATASOURCE)
    .editorMode(QueryEditorMode.Code)
    .expr(expr)
    .legendFormat(legend)
    .interval(SCRAPE_INTERVAL);
}

/** A, B, C, … in the order of the queries. */
function refId(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

/** Values over the time range. */
export function overTime(queries: readonly Query[]): DataqueryBuilder[] {
  return queries.map((query, index) => dataquery(query, refId(index)).range().format(PromQueryFormat.TimeSeries));
}

/** One value per series, at the end of the time range. */
export function atTheEnd(queries: readonly Query[]): DataqueryBuilder[] {
  return queries.map((query, index) => dataquery(query, refId(index)).instant().format(PromQueryFormat.TimeSeries));
}

/** One row per series, at the end of the time range. */
export function asTable(query: Query): DataqueryBuilder {
  return dataquery(query, refId(0)).instant().format(PromQueryFormat.Table);
}

/** The buckets of one histogram: the legend is the bucket's upper bound. */
export function asHeatmap(expr: string): DataqueryBuilder {
  return dataquery({ expr, legend: '{{le}}' }, refId(0)).range().format(PromQueryFormat.Heatmap);
}
