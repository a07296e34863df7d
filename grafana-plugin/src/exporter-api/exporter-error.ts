import { t } from '@grafana/i18n';
import type { Problem } from './types.ts';

/** Why the exporter gave no answer: Grafana did not reach it, it refused, or it does not have what was asked for. */
export class ExporterError extends Error {
  override readonly name = 'ExporterError';
  /** HTTP status; null when there was no answer at all. */
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.status = status;
  }
}

const remedies = (): Readonly<Record<number, string>> => ({
  401: t('source.problem.token', 'The exporter asks for a token: enter it in the data source under Token.'),
  403: t(
    'source.problem.refused',
    'The exporter refuses this request: start llmbench serve with --allowed-hosts and the host name of the data source, or ask for permission to query the data source.'
  ),
  502: t(
    'source.problem.unreachable',
    'Grafana does not reach the exporter: check that llmbench serve runs and that the URL of the data source is right.'
  ),
  503: t('source.problem.starting', 'The exporter is still reading its runs: try again in a few seconds.'),
  504: t(
    'source.problem.slow',
    'The exporter did not answer in time: check its load, or raise the timeout of the data source.'
  ),
});

/** What Grafana's `fetch` throws, as an error that says what to do. */
export function exporterError(thrown: unknown): ExporterError {
  if (thrown instanceof ExporterError) {
    return thrown;
  }
  const { status, data, message } = (thrown ?? {}) as {
    status?: number;
    data?: Partial<Problem> & { message?: string };
    message?: string;
  };
  if (!status) {
    // Not interpolated: translations escape what is put into them.
    const text = t('source.problem.grafana', 'Grafana did not answer: check the connection to Grafana.');
    return new ExporterError(message ? `${text} (${message})` : text, null);
  }
  const detail = typeof data === 'object' ? (data?.detail ?? data?.message) : undefined;
  const remedy = remedies()[status];
  const parts = [detail && sentence(detail), remedy].filter(Boolean);
  const text = t('source.problem.status', 'The exporter answered with HTTP {{status}}.', { status });
  return new ExporterError(parts.length > 0 ? parts.join(' ') : text, status);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
