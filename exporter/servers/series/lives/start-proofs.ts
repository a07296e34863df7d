import type { Sighting } from '../../../../core/series/lives.ts';
import { StartTimes, type StartTime, type StartTimeChanges } from '../../../../core/series/start-times.ts';
import { namesAnotherProcess } from './process-labels.ts';
import { seriesKey, type StartTimePlace } from '../page-series.ts';
import type { Series } from '../series.ts';

const NO_CHANGES: StartTimeChanges = { severalServers: false, renewed: new Set(), same: new Set() };

/** The start times on the pages of one target, and what they prove about its series. */
export class StartProofs {
  readonly #starts = new StartTimes();
  readonly #uptimes = new StartTimes();
  #changes = NO_CHANGES;

  get startTimes(): ReadonlyMap<string, number> {
    return this.#starts.all;
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
    for (const { key, row, kind } of places) {
      const seconds = values[row] as number;
      if (kind === 'start') starts.push({ key, earliest: seconds, latest: seconds });
      // The page was written at some time between the request and the first byte of the answer.
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

  /** What the start times of the page prove about a series: its own, or that of the process named by its labels. */
  of(places: readonly StartTimePlace[]): (series: Series) => Sighting['proof'] {
    // A page that lacks all known start times is incomplete; the next page decides.
    if (places.length === 0 && (this.#starts.known || this.#uptimes.known)) return () => 'same';
    const own = new Map<string, string>();
    const processes: { readonly labels: readonly (readonly [string, string])[]; readonly key: string }[] = [];
    for (const { key, labels, family } of places) {
      if (family === null) processes.push({ labels: Object.entries(labels), key });
      else own.set(seriesKey(family, labels), key);
    }
    processes.sort((a, b) => b.labels.length - a.labels.length);
    const proof = (key: string | undefined): Sighting['proof'] => {
      if (key === undefined) return null;
      return this.#changes.renewed.has(key) ? 'renewed' : this.#changes.same.has(key) ? 'same' : null;
    };
    return ({ family, labels }) => {
      const name = family.ofSummary ? family.name.replace(/_(sum|count)$/, '') : family.name;
      const ofSeries = own.size === 0 ? undefined : own.get(seriesKey(name, labels));
      if (ofSeries !== undefined) return proof(ofSeries);
      const ofProcess = processes.find((each) => each.labels.every(([label, value]) => labels[label] === value));
      const proven = proof(ofProcess?.key);
      // A gateway that lives on may expose the counts of a worker that restarted.
      return proven === 'same' && namesAnotherProcess(labels, ofProcess?.labels ?? []) ? null : proven;
    };
  }
}
