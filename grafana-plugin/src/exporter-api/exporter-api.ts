import { t } from '@grafana/i18n';
import { getBackendSrv } from '@grafana/runtime';
import { lastValueFrom } from 'rxjs';
import { ExporterError, exporterError } from './exporter-error.ts';
import type {
  AnnotationsAnswer,
  DistributionAnswer,
  DistributionName,
  Quantity,
  RecordField,
  RecordsAnswer,
  RunAnswer,
  RunPage,
  SeriesAnswer,
  ServersAnswer,
  StatusAnswer,
  ValueName,
  ValuesAnswer,
} from './types.ts';

/** Which runs: values of one member are alternatives, members must all fit. */
export interface RunFilter {
  scenario?: string[];
  model?: string[];
  system?: string[];
  tool?: string[];
  status?: string[];
  run_id?: string[];
  /** Words that must stand somewhere in the run's facts. */
  q?: string;
  /** Milliseconds since 1970. */
  from?: number;
  to?: number;
}

export interface RunPageRequest extends RunFilter {
  /** A member of the API's `sort`; with a minus the largest first. */
  sort?: string;
  page?: number;
  limit?: number;
}

type Parameters = Record<string, string | number | readonly string[] | undefined>;

/** The exporter's HTTP API behind Grafana's data proxy. Every method rejects with an `ExporterError`. */
export class ExporterApi {
  readonly #url: string;

  /** `url` is the address of the data source's proxy. */
  constructor(url: string) {
    this.#url = url.replace(/\/$/, '');
  }

  async status(): Promise<StatusAnswer> {
    const status = await this.#get<StatusAnswer>('status');
    if (status?.api_version !== 'v1') {
      throw new ExporterError(
        t(
          'source.problem.not-llmbench',
          'This address answers, but not as llmbench: give the URL of llmbench serve, without a path.'
        ),
        200
      );
    }
    return status;
  }

  runs(request: RunPageRequest = {}, signal?: AbortSignal): Promise<RunPage> {
    return this.#get('runs', { ...request }, signal);
  }

  run(runId: string, signal?: AbortSignal): Promise<RunAnswer> {
    return this.#get(`runs/${encodeURIComponent(runId)}`, {}, signal);
  }

  /** servers.json with the series of these quantities only. */
  servers(runId: string, quantity: readonly Quantity[], signal?: AbortSignal): Promise<ServersAnswer> {
    return this.#get(`runs/${encodeURIComponent(runId)}/servers`, { quantity }, signal);
  }

  records(
    runId: string,
    request: { fields: readonly RecordField[]; phase?: string[]; limit?: number },
    signal?: AbortSignal
  ): Promise<RecordsAnswer> {
    return this.#get(`runs/${encodeURIComponent(runId)}/records`, { ...request }, signal);
  }

  distribution(
    runId: string,
    request: { measure: DistributionName; clock?: string; population?: string; points?: number },
    signal?: AbortSignal
  ): Promise<DistributionAnswer> {
    return this.#get(`runs/${encodeURIComponent(runId)}/distribution`, { ...request }, signal);
  }

  series(
    runId: string,
    request: { quantity: readonly Quantity[]; points?: number },
    signal?: AbortSignal
  ): Promise<SeriesAnswer> {
    return this.#get(`runs/${encodeURIComponent(runId)}/series`, { ...request }, signal);
  }

  annotations(request: RunFilter & { kind?: string[]; limit?: number }): Promise<AnnotationsAnswer> {
    return this.#get('annotations', { ...request });
  }

  values(name: ValueName, filter: RunFilter = {}, signal?: AbortSignal): Promise<ValuesAnswer> {
    return this.#get(`values/${name}`, { ...filter }, signal);
  }

  async #get<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
    try {
      const answer = await lastValueFrom(
        getBackendSrv().fetch<T>({
          url: `${this.#url}/api/v1/${path}${queryText(parameters)}`,
          method: 'GET',
          showErrorAlert: false,
          ...(signal && { abortSignal: signal }),
        })
      );
      return answer.data;
    } catch (error) {
      throw exporterError(error);
    }
  }
}

/** Lists repeat their name; what is empty is left out. */
function queryText(parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== '') {
        query.append(name, String(one));
      }
    }
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
