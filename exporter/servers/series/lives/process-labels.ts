import type { Labels } from '../../../../core/exposition/index.ts';
import type { Series } from '../series.ts';

/** Labels that identify one of several processes whose series are on one page. */
const PROCESS_LABELS = ['pid', 'process', 'worker', 'worker_id', 'worker_addr', 'replica', 'instance', 'pod'] as const;

/** The process named by the labels of a series; '' if none. */
export function processOf({ labels }: Pick<Series, 'labels'>): string {
  return PROCESS_LABELS.flatMap((label) => (labels[label] === undefined ? [] : [`${label}=${labels[label]}`])).join();
}

/** Whether the labels of a series name a process that the labels of a start time do not name. */
export function namesAnotherProcess(labels: Labels, ofStart: readonly (readonly [string, string])[]): boolean {
  const named = new Set(ofStart.map(([label]) => label));
  return PROCESS_LABELS.some((label) => labels[label] !== undefined && !named.has(label));
}
