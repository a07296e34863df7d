import type { SweepLoad } from '../../../core/sweeps/sweep-shape.ts';

/** A load that is one number, and the arrival pattern of a request rate. */
export interface LabelLoad {
  load: SweepLoad;
  arrivalPattern: string | null;
}

/** The label `load` of `llmbench_run_info`: `concurrency 8`, `request_rate 2.5 poisson`; null for any other load. */
export function loadOfLabel(label: string): LabelLoad | null {
  const [, mode, number = '', arrivalPattern = null] =
    /^(concurrency|request_rate) ([\d.e+-]+)(?: (\S+))?$/.exec(label) ?? [];
  const value = Number(number);
  if ((mode !== 'concurrency' && mode !== 'request_rate') || number === '' || !Number.isFinite(value)) {
    return null;
  }
  return { load: { mode, value }, arrivalPattern };
}
