import { t } from '@grafana/i18n';
import type { ProblemDetails } from '../../../core/api/service.ts';

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
