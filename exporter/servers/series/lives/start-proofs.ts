import type { Labels } from '../../../../core/exposition/index.ts';
import {
  UNPROVEN,
  StartTimes,
  type Sighting,
  type Proofs,
  type StartProof,
  type StartTime,
  type StartTimeChanges,
} from '../../../../core/series/sighting.ts';
import { countingName, seriesKey, startKeyOf, type StartTimePlace } from '../page-series.ts';
import type { Series, FamilyFacts } from '../series.ts';

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
  // Of NIXL.
  'agent_name',
  'hostname',
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
const otherProcessLabels = (ofStart: Labels): string[] =>
  Object.keys(ofStart).filter((label) => !PROCESS_LABELS.includes(label));

/** Whether the labels of a series name a process that the labels of a start time do not name. */
function namesAnotherProcess(labels: Labels, ofStart: Labels, ofStarts: ReadonlySet<string>): boolean {
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

const NO_CHANGES: StartTimeChanges = { severalServers: false, renewed: new Set(), same: new Set() };

/** The start times on the pages of one target, and what they prove about its series. */
export class StartProofs {
  readonly #starts = new StartTimes();
  readonly #uptimes = new StartTimes();
  #changes = NO_CHANGES;
  /** Labels of start times, which name processes, beside those that are known to. */
  readonly #processLabels = new Set<string>();
  /** Keys of the start times of processes. */
  readonly #ofProcesses = new Set<string>();

  get startTimes(): ReadonlyMap<string, number> {
    return this.#starts.all;
  }

  /** The start time of a single series, in Unix seconds; NaN: not known. */
  startOf(family: FamilyFacts, labels: Labels): number {
    return this.#starts.of(startKeyOf(family, labels)) ?? NaN;
  }

  /** Whether these lack one of a process that is known. */
  lacksProcessStart(places: readonly StartTimePlace[]): boolean {
    const keys = new Set(places.map(({ key }) => key));
    return Array.from(this.#ofProcesses).some((key) => !keys.has(key));
  }

  /** Whether the newest page shows that a process, or a series, started since. */
  get anyRenewed(): boolean {
    return this.#changes.renewed.size > 0;
  }

  /** False: the start times show that several servers answer. */
  see(
    places: readonly StartTimePlace[],
    values: Float64Array,
    { sent_ns, at_ns }: { readonly sent_ns: number; readonly at_ns: number },
  ): boolean {
    const starts: StartTime[] = [];
    const uptimes: StartTime[] = [];
    for (const { key, row, kind, labels, family } of places) {
      if (family === null) {
        this.#ofProcesses.add(key);
        for (const label of otherProcessLabels(labels)) this.#processLabels.add(label);
      }
      const seconds = values[row] as number;
      if (kind === 'start') starts.push({ key, earliest: seconds, latest: seconds });
      // The page was written at some time between the request and the first byte of the response.
      else uptimes.push({ key, earliest: sent_ns / 1e9 - seconds - 0.5, latest: at_ns / 1e9 - seconds + 0.5 });
    }
    const [a, b] = [this.#starts.see(starts, at_ns / 1e9), this.#uptimes.see(uptimes, at_ns / 1e9)];
    if (a.severalServers || b.severalServers) return false;
    this.#changes = {
      severalServers: false,
      renewed: new Set([...a.renewed, ...b.renewed]),
      same: new Set([...a.same, ...b.same]),
    };
    return true;
  }

  /** What the start times of the page prove about a series: its own, or those of the processes that may count it. */
  of(places: readonly StartTimePlace[]): (series: Series) => Proofs {
    // A page that lacks all known start times is incomplete; the next page decides.
    if (places.length === 0 && (this.#starts.known || this.#uptimes.known)) {
      return (series) => ({
        ...UNPROVEN,
        proof: 'same',
        isOwnProof: true,
        process: processOf(series, this.#processLabels),
      });
    }
    const own = new Map<string, string>();
    const processes: { readonly labels: Labels; readonly key: string }[] = [];
    for (const { key, labels, family } of places) {
      if (family === null) processes.push({ labels, key });
      else own.set(seriesKey(family, labels), key);
    }
    processes.sort((a, b) => Object.keys(b.labels).length - Object.keys(a.labels).length);
    const ofStarts = this.#processLabels;
    const proof = (key: string | undefined): StartProof => {
      if (key === undefined) return null;
      return this.#changes.renewed.has(key) ? 'renewed' : this.#changes.same.has(key) ? 'same' : null;
    };
    return (series) => {
      const { family, labels } = series;
      const process = processOf(series, ofStarts);
      const ofSeries = own.size === 0 ? undefined : own.get(seriesKey(countingName(family), labels));
      if (ofSeries !== undefined) return { ...UNPROVEN, proof: proof(ofSeries), isOwnProof: true, process };
      const covering = processes.filter((each) => {
        return Object.entries(each.labels).every(([label, value]) => labels[label] === value);
      });
      // A gateway's start time proves nothing about the workers that its page also shows.
      const ofPage = covering.find((each) => namesAnotherProcess(labels, each.labels, ofStarts));
      const ofProcess = covering.find((each) => !namesAnotherProcess(labels, each.labels, ofStarts));
      const proofOfProcess = proof(ofProcess?.key);
      return {
        process,
        ...otherLabels(labels, ofStarts, proofOfProcess !== null),
        proof: proofOfProcess,
        isOwnProof: false,
        proofOfPage: proof(ofPage?.key),
      };
    };
  }
}
