import { t } from '@grafana/i18n';
import type { SweepLatency } from '../../../../core/sweeps/sweep-figures.ts';
import type { Throughput } from '../../../../core/sweeps/sweep-curves.ts';

export function latencyName(latency: SweepLatency): string {
  return {
    time_to_first_token: t('sweeps.ttft', 'time to first token'),
    inter_token_latency: t('sweeps.itl', 'inter-token latency'),
    request_latency: t('sweeps.request-latency', 'request latency'),
  }[latency];
}

export function throughputName(throughput: Throughput): string {
  return {
    output_token_throughput: t('sweeps.output-tokens', 'output tokens/s'),
    total_token_throughput: t('sweeps.total-tokens', 'total tokens/s'),
    request_throughput: t('sweeps.requests-per-second', 'requests/s'),
  }[throughput];
}
