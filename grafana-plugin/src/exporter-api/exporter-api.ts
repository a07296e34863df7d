import { t } from '@grafana/i18n';
import { getBackendSrv } from '@grafana/runtime';
import { lastValueFrom } from 'rxjs';
import { ExporterError, exporterError } from './exporter-error.ts';
import type { OverviewQuery, OverviewResponse } from '../../../core/api/overview.ts';
import type { CompareResponse, CompareQuery } from '../../../core/api/comparison.ts';
import type {
  DistributionResponse,
  DistributionQuery,
  QuantityName,
  RecordsResponse,
  RecordsQuery,
  SeriesResponse,
  SeriesQuery,
} from '../../../core/api/run-data.ts';
import type {
  AnnotationsResponse,
  AnnotationsQuery,
  RunFilterQuery,
  RunResponse,
  RunsResponse,
  RunsQuery,
  ValueName,
  ValuesResponse,
} from '../../../core/api/runs.ts';
import type {
  BaselineChange,
  ChangedBaseline,
  ScenarioResponse,
  ScenariosResponse,
  ScenarioQuery,
} from '../../../core/api/scenarios.ts';
import type { PageQuery, StatusResponse } from '../../../core/api/service.ts';
import type { StoredSweep, SweepsResponse } from '../../../core/api/sweeps.ts';
import type { ServersFile } from '../../../core/run/servers-file.ts';

type Parameters = Record<string, string | number | readonly string[] | null | undefined>;

/** Client of the exporter's HTTP API behind Grafana's data proxy. Every method rejects with an `ExporterError`. */
export class ExporterApi {
  readonly #url: string;

  /** `url` is the URL of the data source's proxy. */
  constructor(url: string) {
    this.#url = url.replace(/\/$/, '');
  }

  async status(): Promise<StatusResponse> {
    const status = await this.#get<StatusResponse>('status');
    if (status?.api_version !== 'v1') {
      throw new ExporterError(
        t(
          'source.problem.not-llmbench',
          'The server at this URL is not llmbench: enter the URL of llmbench serve, without a path.'
        ),
        200
      );
    }
    return status;
  }

  overview(request: OverviewQuery, signal?: AbortSignal): Promise<OverviewResponse> {
    return this.#get('overview', { ...request }, signal);
  }

  runs(request: RunsQuery = {}, signal?: AbortSignal): Promise<RunsResponse> {
    return this.#get('runs', { ...request }, signal);
  }

  run(runId: string, signal?: AbortSignal): Promise<RunResponse> {
    return this.#get(`runs/${encodeURIComponent(runId)}`, {}, signal);
  }

  /** `servers.json` with only the series of these quantities. */
  servers(runId: string, quantity: readonly QuantityName[], signal?: AbortSignal): Promise<ServersFile> {
    return this.#get(`runs/${encodeURIComponent(runId)}/servers`, { quantity }, signal);
  }

  records(runId: string, request: RecordsQuery, signal?: AbortSignal): Promise<RecordsResponse> {
    return this.#get(`runs/${encodeURIComponent(runId)}/records`, { ...request }, signal);
  }

  distribution(runId: string, request: DistributionQuery, signal?: AbortSignal): Promise<DistributionResponse> {
    return this.#get(`runs/${encodeURIComponent(runId)}/distribution`, { ...request }, signal);
  }

  series(runId: string, request: SeriesQuery, signal?: AbortSignal): Promise<SeriesResponse> {
    return this.#get(`runs/${encodeURIComponent(runId)}/series`, { ...request }, signal);
  }

  /** The verdict on the runs of `b` against those of `a`; 404 where a selector matches no run. */
  compare(request: CompareQuery, signal?: AbortSignal): Promise<CompareResponse> {
    return this.#get('compare', { ...request }, signal);
  }

  scenarios(request: PageQuery, signal?: AbortSignal): Promise<ScenariosResponse> {
    return this.#get('scenarios', { ...request }, signal);
  }

  /** The baseline, verdicts, runs and change points of a scenario: 404 where it has neither runs nor a baseline. */
  scenario(name: string, request: ScenarioQuery, signal?: AbortSignal): Promise<ScenarioResponse> {
    return this.#get(`scenarios/${encodeURIComponent(name)}`, { ...request }, signal);
  }

  /** Accepts, pins, unpins or drops runs; requires the exporter's token in the data source, and the role Editor. */
  async changeBaseline(name: string, change: BaselineChange): Promise<ChangedBaseline> {
    try {
      const response = await lastValueFrom(
        getBackendSrv().fetch<ChangedBaseline>({
          url: `${this.#url}/api/v1/scenarios/${encodeURIComponent(name)}/baseline`,
          method: 'POST',
          data: change,
          showErrorAlert: false,
        })
      );
      return response.data;
    } catch (error) {
      throw changeError(error);
    }
  }

  sweeps(request: PageQuery, signal?: AbortSignal): Promise<SweepsResponse> {
    return this.#get('sweeps', { ...request }, signal);
  }

  /** The values of each load of a sweep: 404 where its runs no longer exist. */
  sweep(sweepId: string, signal?: AbortSignal): Promise<StoredSweep> {
    return this.#get(`sweeps/${encodeURIComponent(sweepId)}`, {}, signal);
  }

  annotations(request: RunFilterQuery & AnnotationsQuery): Promise<AnnotationsResponse> {
    return this.#get('annotations', { ...request });
  }

  values(name: ValueName, filter: RunFilterQuery = {}, signal?: AbortSignal): Promise<ValuesResponse> {
    return this.#get(`values/${name}`, { ...filter }, signal);
  }

  async #get<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
    try {
      const response = await lastValueFrom(
        getBackendSrv().fetch<T>({
          url: `${this.#url}/api/v1/${path}${queryText(parameters)}`,
          method: 'GET',
          showErrorAlert: false,
          ...(signal && { abortSignal: signal }),
        })
      );
      return response.data;
    } catch (error) {
      throw exporterError(error);
    }
  }
}

/** A list repeats its name; empty and null values are omitted. */
function queryText(parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') {
        query.append(name, String(one));
      }
    }
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** Why a change was refused: by Grafana's proxy, which lets editors only through, or by the exporter, which wants its token. */
function changeError(thrown: unknown): ExporterError {
  const { status = null, data } = (thrown ?? {}) as { status?: number | null; data?: unknown };
  const { message, detail } = (typeof data === 'object' && data !== null ? data : {}) as {
    message?: string;
    detail?: string;
  };
  if (status === 403 && detail === undefined && message !== undefined) {
    return new ExporterError(
      t('source.change.role', 'Grafana refused the change: it requires the role Editor. ({{message}})', { message }),
      status
    );
  }
  // Grafana's proxy makes 400 of the exporter's 401, with a text instead of JSON.
  if (status === 401 || (status === 400 && detail === undefined)) {
    return new ExporterError(
      t(
        'source.change.token',
        'The exporter refused the token: enter the content of the file in --api-token-file in the data source settings under Token.'
      ),
      status
    );
  }
  if (status === 403 || status === 405) {
    return new ExporterError(
      t(
        'source.change.off',
        'The exporter does not allow changes: start llmbench serve with --allow-baseline-changes and --api-token-file.'
      ),
      status
    );
  }
  return exporterError(thrown);
}
