import type { GpuPrice } from '../../core/run/gpu-price.ts';

/** What the user states about a run. */
export interface ProvenanceRequest {
  /** Null: not known. */
  readonly serverImage: string | null;
  readonly gpuPrice: GpuPrice | null;
  /** Without secrets. */
  readonly metadata: Readonly<Record<string, string>>;
}

export const NOTHING_STATED: ProvenanceRequest = { serverImage: null, gpuPrice: null, metadata: {} };
