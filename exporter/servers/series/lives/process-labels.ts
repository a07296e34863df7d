import type { Labels } from '../../../../core/exposition/index.ts';
import type { Series } from '../series.ts';

/** Labels that identify one of several processes whose series are on one page. */
const PROCESS_LABELS = [
  ...['pid', 'process', 'worker', 'worker_id', 'worker_addr', 'replica', 'instance', 'pod'],
  // Of Ray.
  ...['WorkerId', 'ReplicaId'],
];

/** The process named by the labels of a series; '' if none. `ofStarts`: labels of start times, which name processes too. */
export function processOf({ labels }: Pick<Series, 'labels'>, ofStarts: ReadonlySet<string>): string {
  return [...PROCESS_LABELS, ...ofStarts]
    .flatMap((label) => (labels[label] === undefined ? [] : [`${label}=${labels[label]}`]))
    .join();
}

/** The labels of a start time that are not known to name processes. */
export const otherProcessLabels = (ofStart: Labels): string[] =>
  Object.keys(ofStart).filter((label) => !PROCESS_LABELS.includes(label));

/** Whether the labels of a series name a process that the labels of a start time do not name. */
export function namesAnotherProcess(labels: Labels, ofStart: Labels, ofStarts: ReadonlySet<string>): boolean {
  return [...PROCESS_LABELS, ...ofStarts].some((label) => labels[label] !== undefined && !(label in ofStart));
}

/** The labels of a series that are not known to name a process. */
export function otherLabels(labels: Labels, ofStarts: ReadonlySet<string>): Map<string, string> {
  const known = new Set([...PROCESS_LABELS, ...ofStarts]);
  return new Map(Object.entries(labels).filter(([label]) => !known.has(label)));
}
