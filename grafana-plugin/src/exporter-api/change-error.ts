import { t } from '@grafana/i18n';
import { ExporterError, exporterError } from './exporter-error.ts';

/** Why a change was refused: by Grafana's proxy, which lets editors only through, or by the exporter, which wants its token. */
export function changeError(thrown: unknown): ExporterError {
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
