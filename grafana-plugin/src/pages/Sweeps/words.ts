import { t } from '@grafana/i18n';
import { measureTitle } from '../../../../core/measures/names.ts';
import type { SweepLatency } from '../../../../core/sweeps/sweep-figures.ts';
import type { Throughput } from '../../../../core/sweeps/sweep-curves.ts';

export const latencyName = (measure: SweepLatency) => measureTitle({ measure, clock: 'sent' });

export function throughputName(throughput: Throughput): string {
  return {
    output_token_throughput: t('sweeps.output-tokens', 'output tokens/s'),
    total_token_throughput: t('sweeps.total-tokens', 'total tokens/s'),
    request_throughput: t('sweeps.requests-per-second', 'requests/s'),
  }[throughput];
}
