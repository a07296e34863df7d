import { t } from '@grafana/i18n';
import type { StatusAnswer } from '../../exporter-api/types.ts';

/** What "Save & test" says when the exporter answers. */
export function healthMessage({ version, runs }: StatusAnswer): string {
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
