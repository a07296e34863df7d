import type { Labels } from '../../../../core/exposition/index.ts';
import type { Sighting } from '../../../../core/series/sighting.ts';
import type { Series } from '../series.ts';

/** Labels that identify one of several processes whose series are on one page. */
const PROCESS_LABELS = [
  ...['pid', 'process', 'worker', 'worker_id', 'worker_addr', 'replica', 'instance', 'pod', 'gateway_pod'],
  // Of Ray.
  ...['WorkerId', 'ReplicaId'],
];

/**
 * Labels by which servers describe what they count: a process counts for all their values. (Triton resets the counts of a
 * model that it reloads; it has no start time.)
 */
const DESCRIBING_LABELS = [
  ...['version', 'engine_type', 'rank', 'tp_rank', 'pp_rank', 'dp_rank', 'moe_ep_rank', 'router_id', 'instance_id'],
  ...['dynamo_namespace', 'dynamo_component', 'pool', 'window_size', 'method', 'outcome', 'response_metric_type'],
];
/** The same; but a gateway may distinguish its workers by their values. */
const DESCRIBING_ONE = [
  'model_name',
  'served_model_name',
  'target_model_name',
  'model',
  'model_id',
  'engine',
  'server',
];

/** The process named by the labels of a series; '' if none. `ofStarts`: labels of start times, which name processes too. */
export function processOf({ labels }: Pick<Series, 'labels'>, ofStarts: ReadonlySet<string>): string {
  const names: string[] = [];
  for (const [label, value] of Object.entries(labels)) {
    if (PROCESS_LABELS.includes(label) || ofStarts.has(label)) names.push(`${label}=${value}`);
  }
  return names.sort().join();
}

/** The labels of a start time that are not known to name processes. */
export const otherProcessLabels = (ofStart: Labels): string[] =>
  Object.keys(ofStart).filter((label) => !PROCESS_LABELS.includes(label));

/** Whether the labels of a series name a process that the labels of a start time do not name. */
export function namesAnotherProcess(labels: Labels, ofStart: Labels, ofStarts: ReadonlySet<string>): boolean {
  return Object.keys(labels).some(
    (label) => !Object.hasOwn(ofStart, label) && (PROCESS_LABELS.includes(label) || ofStarts.has(label)),
  );
}

/**
 * The labels of a series that may name a process, although they are not known to. `isProven`: the start time of the process
 * whose page it is covers the series; then those that describe what is counted are apart, or left out.
 */
export function otherLabels(
  labels: Labels,
  ofStarts: ReadonlySet<string>,
  isProven: boolean,
): Pick<Sighting, 'mayName' | 'describedBy'> {
  const mayName = new Map<string, string>();
  const describedBy = new Map<string, string>();
  for (const [label, value] of Object.entries(labels)) {
    if (ofStarts.has(label) || PROCESS_LABELS.includes(label)) continue;
    if (isProven && DESCRIBING_LABELS.includes(label)) continue;
    const into = isProven && DESCRIBING_ONE.includes(label) ? describedBy : mayName;
    into.set(label, value);
  }
  return { mayName, describedBy };
}
