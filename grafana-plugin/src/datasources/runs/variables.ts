import {
  CustomVariableSupport,
  type DataQueryRequest,
  type DataQueryResponse,
  type MetricFindValue,
} from '@grafana/data';
import { from, type Observable } from 'rxjs';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { VariableEditor } from './components/VariableEditor.tsx';
import type { ExporterDataSource, RunsVariableQuery } from './types.ts';

const MOST_RUNS = 1000;

/** Template variables: run ids (the newest first), or scenarios, models, systems and the like. */
export class RunsVariableSupport extends CustomVariableSupport<ExporterDataSource, RunsVariableQuery> {
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
        ? (await this.#api.runs({ ...filter, ...time, limit: MOST_RUNS })).runs.map(({ run_id }) => ({ text: run_id }))
        : (await this.#api.values(values, filter)).values.map(({ value }) => ({ text: value }));
    return { data };
  }
}
