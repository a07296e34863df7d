import { significant } from '../text/quantities.ts';

/** What the user stated about the cost of the GPUs. */
export interface GpuPrice {
  /** Of one GPU for an hour. */
  readonly per_hour: number;
  /** Three letters of ISO 4217; null: not stated. */
  readonly currency: string | null;
  /** GPUs that serve the requests; null: as many as the GPU exporters report. */
  readonly gpus: number | null;
}

/** An amount of money, as `2.50 EUR`. */
export function moneyText(amount: number, currency: string | null): string {
  return currency === null ? significant(amount) : `${significant(amount)} ${currency}`;
}

/** As `2.50 EUR per GPU hour, 8 GPUs`. */
export function gpuPriceText({ per_hour, currency, gpus }: GpuPrice): string {
  const price = `${moneyText(per_hour, currency)} per GPU hour`;
  return gpus === null ? price : `${price}, ${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}`;
}
