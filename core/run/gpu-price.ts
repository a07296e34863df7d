/** What the user stated about the cost of the GPUs. */
export interface GpuPrice {
  /** Of one GPU for an hour. */
  readonly per_hour: number;
  /** Three letters of ISO 4217; null: not stated. */
  readonly currency: string | null;
  /** GPUs that serve the requests; null: as many as the GPU exporters report. */
  readonly gpus: number | null;
}

/** As `2.5 EUR per GPU hour, 8 GPUs`: the price as it was stated. */
export function gpuPriceText({ per_hour, currency, gpus }: GpuPrice): string {
  const price = `${per_hour}${currency === null ? '' : ` ${currency}`} per GPU hour`;
  return gpus === null ? price : `${price}, ${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}`;
}
