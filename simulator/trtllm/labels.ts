import type { Labels } from '../metrics/family.ts';

/** Of all families. */
export function commonLabels(modelName: string): Labels {
  return { model_name: modelName, engine_type: 'pytorch' };
}

/** The processes that write the page: the server, and an executor for each rank. Gauges carry theirs. */
export interface ProcessIds {
  readonly server: string;
  readonly ranks: readonly string[];
}

/** Made up for the ranks: there is only one process here. */
export function processIds(ranks: number): ProcessIds {
  return { server: `${process.pid}`, ranks: Array.from({ length: ranks }, (_, rank) => `${process.pid + 1 + rank}`) };
}
