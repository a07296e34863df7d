/** What a start time shows: the same process, or one that started since; null: it is not known. */
export type StartProof = 'same' | 'renewed' | null;

/** A cumulative series on two consecutive good pages of one address. */
export interface Sighting {
  /**
   * `continued`: it is on both pages and none of its numbers decreased. `vanished`: it is missing from the second page.
   * `appeared`: it is missing from the first page.
   */
  readonly step: 'continued' | 'fell' | 'vanished' | 'appeared';
  /** Whether it was above 0 on the first page. */
  readonly counted: boolean;
  /** Whether it has exactly the number of the first page, one that a new process is unlikely to reach by chance. */
  readonly stood: boolean;
  readonly family: string;
  /** The process named by the labels; '' if none: that of the page. */
  readonly process: string;
  /** Labels that may name a process that the start time does not name. */
  readonly mayName: ReadonlyMap<string, string>;
  /** Labels that describe what a process counts, and may name processes only if they have several values. */
  readonly describedBy: ReadonlyMap<string, string>;
  /** By the start time of the series or of the process that its labels name. */
  readonly proof: StartProof;
  /** Whether `proof` is by the start time of the series itself. */
  readonly isOwnProof: boolean;
  /** By the start time of the process of the page, where the labels name another one. */
  readonly proofOfPage: StartProof;
}

/** What start times and labels prove about a series. */
export type Proofs = Pick<Sighting, 'process' | 'mayName' | 'describedBy' | 'proof' | 'isOwnProof' | 'proofOfPage'>;

export const UNPROVEN: Proofs = {
  process: '',
  mayName: new Map(),
  describedBy: new Map(),
  proof: null,
  isOwnProof: false,
  proofOfPage: null,
};

/** A Unix time, in seconds, that is known within these limits. */
export type UnixInterval = readonly [earliest: number, latest: number];

/** Start times closer than this are the same: some clients derive theirs from a clock that is adjusted. */
export const START_TOLERANCE_SECONDS = 1;

/** When a process, or a single series, started, according to a page. */
export interface StartTime {
  /** Identifies what started, across pages. */
  readonly key: string;
  /** Unix seconds, or seconds of any clock that is used for all pages of the key. */
  readonly earliest: number;
  /** Equals `earliest` where the page exposes the time itself, later where it is derived from an uptime. */
  readonly latest: number;
}

/** What the start times of a page show about the previous pages. */
export interface StartTimeChanges {
  /** The pages come from several servers: this page was not used. */
  readonly severalServers: boolean;
  /** Keys that restarted since the previous page. */
  readonly renewed: ReadonlySet<string>;
  /** Keys known to have started only once since the previous page. */
  readonly same: ReadonlySet<string>;
}

interface KnownStart {
  readonly start: StartTime;
  readonly firstSeenSeconds: number;
  readonly lastSeenSeconds: number;
}

/**
 * Compares the start times on the pages of one address.
 *
 * A process that restarts starts later than its predecessor was last seen. A start time that goes back, or that is
 * within the time in which the predecessor was seen running, therefore belongs to another server behind the same
 * address.
 */
export class StartTimes {
  readonly #known = new Map<string, KnownStart>();

  /** `seenSeconds`: when the page was read, on any clock. Start times that are not finite are ignored. */
  see(starts: Iterable<StartTime>, seenSeconds: number): StartTimeChanges {
    const renewed = new Set<string>();
    const same = new Set<string>();
    const next: KnownStart[] = [];
    for (const start of starts) {
      if (!Number.isFinite(start.earliest) || !Number.isFinite(start.latest)) continue;
      const known = this.#known.get(start.key);
      const comparison = known === undefined ? 'new' : compare(known, start);
      if (comparison === 'other_server') return { severalServers: true, renewed: new Set(), same: new Set() };
      if (comparison === 'renewed') renewed.add(start.key);
      if (comparison === 'same') same.add(start.key);
      const firstSeenSeconds = comparison === 'same' ? (known?.firstSeenSeconds ?? seenSeconds) : seenSeconds;
      next.push({ start, firstSeenSeconds, lastSeenSeconds: seenSeconds });
    }
    for (const known of next) this.#known.set(known.start.key, known);
    return { severalServers: false, renewed, same };
  }

  /** The newest by key, in seconds. */
  get all(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#known, ([key, { start }]) => [key, start.latest]));
  }

  /** The newest of one key, in seconds. */
  of(key: string): number | undefined {
    return this.#known.get(key)?.start.latest;
  }

  get known(): boolean {
    return this.#known.size > 0;
  }
}

function compare({ start: before, firstSeenSeconds, lastSeenSeconds }: KnownStart, start: StartTime) {
  if (start.latest < before.earliest - START_TOLERANCE_SECONDS) return 'other_server';
  if (start.earliest <= before.latest + START_TOLERANCE_SECONDS) return 'same';
  const seenAliveSeconds = lastSeenSeconds - firstSeenSeconds;
  return start.latest - before.earliest < seenAliveSeconds - START_TOLERANCE_SECONDS ? 'other_server' : 'renewed';
}
