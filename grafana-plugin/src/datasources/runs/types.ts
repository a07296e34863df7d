import type { DataSourceApi, DataSourceJsonData } from '@grafana/data';
import type { DataQuery } from '@grafana/schema';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { RequestMeasure, DistributionName } from '../../../../core/api/run-data.ts';
import type { AnnotationKind, ValueName } from '../../../../core/api/runs.ts';

export const QUERY_KINDS = ['runs', 'measures', 'requests', 'distribution', 'annotations'] as const;
export type QueryKind = (typeof QUERY_KINDS)[number];

export type RegionKind = AnnotationKind;

/** A query of this data source; which members count depends on `queryType`. Run ids may be template variables. */
export interface RunsQuery extends DataQuery {
  queryType?: QueryKind;
  /** runs, annotations: alternatives of each; empty = all. */
  scenario?: string[];
  model?: string[];
  system?: string[];
  tool?: string[];
  status?: string[];
  /** runs: only those that touch the dashboard's time range. */
  inTimeRange?: boolean;
  /** runs: most rows. */
  limit?: number;
  /** measures, requests, distribution, annotations: a run id, several with commas, or a variable. */
  runId?: string;
  /** requests: what each point shows. */
  value?: RequestMeasure;
  /** requests: the warm-up too. */
  withWarmup?: boolean;
  /** distribution. */
  measure?: DistributionName;
  /** annotations: regions of whole runs, of their phases, of the stages of their loads. */
  regions?: RegionKind[];
}

export const DEFAULT_QUERY: Partial<RunsQuery> = {
  queryType: 'runs',
  inTimeRange: false,
  limit: 100,
  value: 'time_to_first_token_seconds',
  measure: 'time_to_first_token',
  regions: ['run'],
};

/** A template variable's query: run ids, or the values that runs can be filtered by. */
export interface RunsVariableQuery extends DataQuery {
  values?: 'runs' | ValueName;
  scenario?: string[];
  model?: string[];
}

export interface RunsOptions extends DataSourceJsonData {
  /** Name of the header that carries the token; its value is in the secure data. */
  httpHeaderName1?: string;
  tlsSkipVerify?: boolean;
}

export interface RunsSecrets {
  basicAuthPassword?: string;
  /** `Bearer …`, sent by Grafana's proxy only. */
  httpHeaderValue1?: string;
}

/** What the editors know of the data source. */
export interface ExporterDataSource extends DataSourceApi<RunsQuery, RunsOptions> {
  readonly api: ExporterApi;
}
