import {
  type AnnotationSupport,
  type DataFrame,
  type DataQueryRequest,
  type DataQueryResponse,
  DataSourceApi,
  type DataSourceInstanceSettings,
  LoadingState,
  type ScopedVars,
  type TestDataSourceResponse,
  CustomVariableSupport,
  type MetricFindValue,
} from '@grafana/data';
import { getTemplateSrv, type TemplateSrv } from '@grafana/runtime';
import { from, type Observable } from 'rxjs';
import { ExporterApi, exporterError } from '../../exporter-api/exporter-api.ts';
import type { RunFilterQuery } from '../../../../core/api/runs.ts';
import type { StatusResponse } from '../../../../core/api/service.ts';
import { AnnotationEditor, VariableEditor } from './components/VariableEditor.tsx';
import { annotationsFrame, distributionFrame, measuresFrame, requestsFrame, runsFrame } from './frames.ts';
import {
  DEFAULT_QUERY,
  type RunsOptions,
  type RunsQuery,
  type ExporterDataSource,
  type RunsVariableQuery,
} from './types.ts';
import { t } from '../../text.ts';

/** Runs of llmbench, from the HTTP API of `llmbench serve` through Grafana's data proxy. */
export class RunsDataSource extends DataSourceApi<RunsQuery, RunsOptions> {
  readonly api: ExporterApi;
  override annotations: AnnotationSupport<RunsQuery> = {
    QueryEditor: AnnotationEditor,
    getDefaultQuery: () => ({ queryType: 'annotations', regions: ['run'] }),
    prepareQuery: ({ target }) => ({ ...DEFAULT_QUERY, refId: 'Anno', ...target, queryType: 'annotations' }),
  };

  constructor(settings: DataSourceInstanceSettings<RunsOptions>) {
    super(settings);
    this.api = new ExporterApi(settings.url ?? '');
    this.variables = new RunsVariableSupport(this.api);
  }

  override query(request: DataQueryRequest<RunsQuery>): Observable<DataQueryResponse> {
    return from(this.#response(request));
  }

  override filterQuery(query: RunsQuery): boolean {
    const needsRun = query.queryType && !['runs', 'annotations'].includes(query.queryType);
    return !query.hide && (!needsRun || Boolean(query.runId));
  }

  override getDefaultQuery(): Partial<RunsQuery> {
    return DEFAULT_QUERY;
  }

  override interpolateVariablesInQueries(queries: RunsQuery[], scopedVars: ScopedVars): RunsQuery[] {
    return queries.map((query) => interpolatedQuery(query, getTemplateSrv(), scopedVars));
  }

  override async testDatasource(): Promise<TestDataSourceResponse> {
    try {
      return { status: 'success', message: healthMessage(await this.api.status()) };
    } catch (error) {
      return { status: 'error', message: exporterError(error).message };
    }
  }

  async #response(request: DataQueryRequest<RunsQuery>): Promise<DataQueryResponse> {
    const responses = await Promise.allSettled(request.targets.map((target) => this.#frames(target, request)));
    const errors = responses.flatMap((response, i) =>
      response.status === 'rejected'
        ? [{ refId: request.targets[i]?.refId ?? '', message: exporterError(response.reason).message }]
        : []
    );
    return {
      data: responses.flatMap((response) => (response.status === 'fulfilled' ? response.value : [])),
      state: errors.length > 0 ? LoadingState.Error : LoadingState.Done,
      ...(errors.length > 0 && { errors }),
    };
  }

  async #frames(target: RunsQuery, { range, scopedVars }: DataQueryRequest<RunsQuery>): Promise<DataFrame[]> {
    const query = interpolatedQuery({ ...DEFAULT_QUERY, ...target }, getTemplateSrv(), scopedVars);
    const time = { from: range.from.valueOf(), to: range.to.valueOf() };
    switch (query.queryType) {
      case 'measures':
        return this.#perRun(query, async (runId) => measuresFrame(await this.api.run(runId)));
      case 'requests': {
        const value = query.value ?? 'time_to_first_token_seconds';
        return this.#perRun(query, async (runId) =>
          requestsFrame(
            await this.api.records(runId, {
              fields: ['sent_seconds', 'phase', 'outcome', 'reason', value],
              ...(!query.withWarmup && { phase: ['measure'] }),
            }),
            value
          )
        );
      }
      case 'distribution': {
        const measure = query.measure ?? 'time_to_first_token';
        return this.#perRun(query, async (runId) => distributionFrame(await this.api.distribution(runId, { measure })));
      }
      case 'annotations': {
        const regions = query.regions ?? ['run'];
        const response = await this.api.annotations({ ...asFilter(query), ...time, kind: regions });
        return [annotationsFrame(response, time.to)];
      }
      default: {
        const { runId: _runId, ...which } = query;
        const page = await this.api.runs({
          ...asFilter(which),
          ...(query.inTimeRange && time),
          limit: query.limit ?? DEFAULT_QUERY.limit ?? 100,
        });
        return [{ ...runsFrame(page.runs), refId: query.refId }];
      }
    }
  }

  async #perRun(query: RunsQuery, load: (runId: string) => Promise<DataFrame>): Promise<DataFrame[]> {
    const frames = await Promise.all(runIds(query.runId).map(load));
    return frames.map((frame) => ({ ...frame, refId: query.refId }));
  }
}

/** What "Save & test" says when the exporter answers. */
function healthMessage({ version, runs }: StatusResponse): string {
  const { finished, running, damaged } = runs;
  // No plural forms: outside of the app only the texts in the source are there.
  const counts = [
    finished === 1
      ? t('source.health.one', '1 finished run')
      : t('source.health.finished', '{{finished}} finished runs', { finished }),
    ...(running > 0 ? [t('source.health.running', '{{running}} running', { running })] : []),
    ...(damaged > 0 ? [t('source.health.damaged', '{{damaged}} unreadable', { damaged })] : []),
  ];
  return t('source.health.connected', 'Connected to llmbench {{version}}: {{counts}}.', {
    version,
    counts: counts.join(', '),
  });
}

const LISTS = ['scenario', 'model', 'system', 'tool', 'status'] as const;

/** A query with the values of the dashboard's variables; a variable with several values becomes several. */
function interpolatedQuery(query: RunsQuery, variables: TemplateSrv, scopedVars: ScopedVars): RunsQuery {
  const values = (text: string) => variables.replace(text, scopedVars, 'csv').split(',').filter(Boolean);
  const lists = LISTS.flatMap((name) => {
    const given = query[name];
    return given ? [[name, given.flatMap(values)]] : [];
  });
  return {
    ...query,
    ...Object.fromEntries(lists),
    ...(query.runId !== undefined && { runId: values(query.runId).join(',') }),
  };
}

function runIds(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((id) => id.trim())
    .filter(Boolean);
}

/** The filter of a query. */
function asFilter(query: Pick<RunsQuery, (typeof LISTS)[number] | 'runId'>): RunFilterQuery {
  const ids = runIds(query.runId);
  return {
    ...Object.fromEntries(LISTS.flatMap((name) => (query[name]?.length ? [[name, query[name]]] : []))),
    ...(ids.length > 0 && { run_id: ids }),
  };
}

const MAX_RUNS = 1000;

/** Template variables: run ids (the newest first), or scenarios, models, systems and the like. */
class RunsVariableSupport extends CustomVariableSupport<ExporterDataSource, RunsVariableQuery> {
  override editor = VariableEditor;
  readonly #api: ExporterApi;

  constructor(api: ExporterApi) {
    super();
    this.#api = api;
    this.query = this.query.bind(this);
  }

  override query(request: DataQueryRequest<RunsVariableQuery>): Observable<DataQueryResponse> {
    return from(this.#values(request));
  }

  async #values({ targets, range }: DataQueryRequest<RunsVariableQuery>): Promise<DataQueryResponse> {
    const { values = 'runs', scenario, model } = targets[0] ?? {};
    const filter = { ...(scenario?.length && { scenario }), ...(model?.length && { model }) };
    const time = range ? { from: range.from.valueOf(), to: range.to.valueOf() } : {};
    const data: MetricFindValue[] =
      values === 'runs'
        ? (await this.#api.runs({ ...filter, ...time, limit: MAX_RUNS })).runs.map(({ run_id }) => ({ text: run_id }))
        : (await this.#api.values(values, filter)).values.map(({ value }) => ({ text: value }));
    return { data };
  }
}
