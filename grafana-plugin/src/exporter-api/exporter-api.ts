import { getBackendSrv } from '@grafana/runtime';
import { lastValueFrom } from 'rxjs';
import type { CompareResponse, CompareQuery } from '../../../core/api/comparison.ts';
import type { OverviewQuery, OverviewResponse } from '../../../core/api/overview.ts';
import type {
  DistributionResponse,
  DistributionQuery,
  FirstTokenTimeResponse,
  QuantityName,
  RecordsResponse,
  RecordsQuery,
  SeriesResponse,
  SeriesQuery,
  DistributionName,
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
import type { ProblemDetails, PageQuery, StatusResponse } from '../../../core/api/service.ts';
import type { StoredSweep, SweepsResponse } from '../../../core/api/sweeps.ts';
import type { ServersFile } from '../../../core/run/servers-file.ts';
import { t } from '../text.ts';

/** Why a request to the exporter failed: it was unreachable, it refused the request, or the resource does not exist. */
export class ExporterError extends Error {
  override readonly name = 'ExporterError';
  /** HTTP status; null when there was no response at all. */
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.status = status;
  }
}

const remedies = (): Readonly<Record<number, string>> => ({
  401: t('source.problem.token', 'The exporter requires a token: enter it in the data source settings under Token.'),
  403: t(
    'source.problem.refused',
    'The exporter refuses this request: start llmbench serve with --allowed-hosts and the host name of the data source, or ask for permission to query the data source.'
  ),
  502: t(
    'source.problem.unreachable',
    'Grafana cannot reach the exporter: check that llmbench serve is running and that the URL of the data source is correct.'
  ),
  503: t('source.problem.starting', 'The exporter is still reading its runs: try again in a few seconds.'),
  504: t(
    'source.problem.slow',
    'The request to the exporter timed out: check its load, or increase the timeout of the data source.'
  ),
});

/** What Grafana's `fetch` throws, as an error that says what to do. */
export function exporterError(thrown: unknown): ExporterError {
  if (thrown instanceof ExporterError) {
    return thrown;
  }
  const { status, data, message } = (thrown ?? {}) as {
    status?: number;
    data?: Partial<ProblemDetails> & { message?: string };
    message?: string;
  };
  if (!status) {
    // Not interpolated: translations escape what is put into them.
    const text = t('source.problem.grafana', 'No response from Grafana: check the connection.');
    return new ExporterError(message ? `${text} (${message})` : text, null);
  }
  const detail = typeof data === 'object' ? (data?.detail ?? data?.message) : undefined;
  const remedy = remedies()[status];
  const parts = [detail && sentence(detail), remedy].filter(Boolean);
  const text = t('source.problem.status', 'The exporter returned HTTP {{status}}.', { status });
  return new ExporterError(parts.length > 0 ? parts.join(' ') : text, status);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

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

  /** The mean time to first token in parts that add up. */
  firstTokenTime(runId: string, signal?: AbortSignal): Promise<FirstTokenTimeResponse> {
    return this.#get(`runs/${encodeURIComponent(runId)}/first-token-time`, {}, signal);
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

/** The measures whose distributions can be chosen. */
export const DISTRIBUTIONS = [
  'time_to_first_token',
  'time_to_second_token',
  'inter_token_latency',
  'inter_chunk_latency',
  'request_latency',
  'decode_duration',
  'schedule_delay',
  'connect_time',
  'input_sequence_length',
  'output_sequence_length',
  'output_token_count',
  'reasoning_token_count',
  'tokens_per_chunk',
  'prefill_throughput_per_user',
  'output_token_throughput_per_user',
  'e2e_output_token_throughput',
] as const satisfies readonly DistributionName[];
