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
