import { measureTitle } from '../../../../core/measures/names.ts';
import type { Throughput } from '../../../../core/sweeps/sweep-curves.ts';
import {
  SWEEP_LATENCIES,
  SWEEP_PERCENTILES,
  type SweepLatency,
  type SweepPercentile,
} from '../../../../core/sweeps/sweep-figures.ts';
import type { Address } from '../../hooks/useAddress.ts';
import { t } from '../../text.ts';

export const THROUGHPUTS = [
  'output_token_throughput',
  'total_token_throughput',
  'request_throughput',
] as const satisfies readonly Throughput[];

/** What the charts show, from the page's address. */
export interface SweepSettings {
  throughput: Throughput;
  latency: SweepLatency;
  percentile: SweepPercentile;
  /** GPUs of the sweeps whose servers did not report them; null: unknown. */
  gpus: number | null;
}

const MAX_GPUS = 1_000_000;

/** The settings of an address; what it does not have, or has wrong, is as at first. */
export function settingsOf(address: Pick<Address, 'one'>): SweepSettings {
  return {
    throughput: THROUGHPUTS.find((name) => name === address.one('throughput')) ?? 'output_token_throughput',
    latency: SWEEP_LATENCIES.find((name) => name === address.one('latency')) ?? 'time_to_first_token',
    percentile: SWEEP_PERCENTILES.find((name) => name === address.one('percentile')) ?? 'p99',
    gpus: gpusOf(address.one('gpus') ?? ''),
  };
}

/** Null for anything but a whole number of GPUs. */
export function gpusOf(text: string): number | null {
  const gpus = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  return gpus >= 1 && gpus <= MAX_GPUS ? gpus : null;
}

export const latencyName = (measure: SweepLatency) => measureTitle({ measure, clock: 'sent' });

export function throughputName(throughput: Throughput): string {
  return {
    output_token_throughput: t('sweeps.output-tokens', 'output tokens/s'),
    total_token_throughput: t('sweeps.total-tokens', 'total tokens/s'),
    request_throughput: t('sweeps.requests-per-second', 'requests/s'),
  }[throughput];
}
