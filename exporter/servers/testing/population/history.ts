import { TargetStore } from '../../series/target-store.ts';
import { createScrapeParser } from '../../../../core/exposition/index.ts';
import { ModelProcess, type Draw, type StartEvidence } from './process.ts';

/** What answers at the address of a history. */
export type Shape =
  | 'one process'
  | 'gateway with workers'
  | 'several processes on a page'
  | 'workers on the page of a gateway'
  | 'replicas behind the address';

/** One generated history: the pages, in order, and the true counts between the first and the last of them. */
export interface History {
  readonly shape: Shape;
  readonly start: StartEvidence;
  /** Null: a failed scrape. */
  readonly pages: readonly (string | null)[];
  /** The first page whose counts are the reference. */
  readonly from: number;
  /** By series as named by `processes`: the increase shown by the pages, without lost pages of ended processes. */
  readonly truth: ReadonlyMap<string, number>;
  /**
   * Other causes produce exactly the same pages: for example, a restart after which every number exceeds its old value.
   */
  readonly ambiguous: boolean;
}

const SECONDS_PER_SCRAPE = 5;

/** A seeded history. The same seed gives the same history. */
export function history(seed: number): History {
  return seed % 7 === 0 ? gatewayHistory(seed) : processHistory(seed);
}

/** A gateway whose page also has the series of its workers: each of them restarts, and the gateway may omit the workers. */
function gatewayHistory(seed: number): History {
  const draw = drawer(seed);
  const drawn = draw.of(['worker', 'worker', 'shard']);
  const label = drawn === 'shard' && seed % 2 === 0 ? 'engine' : drawn;
  const start = draw.of(['none', 'process', 'created'] as const);
  const untyped = draw.chance(0.2);
  const names = ['a', 'b', 'c'].slice(0, draw.whole(2, 3));
  const startOfWorkers = start === 'process' && draw.chance(0.5) ? 'none' : start;
  const gateway = new ModelProcess(draw, {
    ...{ worker: null, label, start, routes: draw.chance(0.7) ? names : [] },
    ...{ untyped, prefix: 'gateway_', served: draw.chance(0.6) ? 1 : 0 },
  });
  const workers = names.map((worker) => {
    const served = draw.chance(0.6) ? 1 : 0;
    return new ModelProcess(draw, { worker, label, start: startOfWorkers, routes: [], untyped, prefix: '', served });
  });
  const pages: (string | null)[] = [];
  const shown = new Shown();
  let ambiguous = false;
  const scrapes = draw.whole(6, 14);
  for (let scrape = 0; scrape < scrapes; scrape++) {
    const now = scrape * SECONDS_PER_SCRAPE;
    const gatewayRestarts = scrape > 0 && draw.chance(0.06);
    const together = gatewayRestarts && draw.chance(0.2);
    const omitted = scrape > 0 && draw.chance(gatewayRestarts ? 0.25 : 0.03) ? draw.of([workers, [workers[0]]]) : [];
    if (gatewayRestarts) gateway.restart(now - draw.whole(1, SECONDS_PER_SCRAPE - 2));
    for (const worker of workers) {
      if (scrape > 0 && (together || draw.chance(0.05))) worker.restart(now - draw.whole(1, SECONDS_PER_SCRAPE - 2));
    }
    for (const process of [gateway, ...workers]) process.observe();
    const onPage = [gateway, ...workers.filter((worker) => !omitted.includes(worker))];
    const page = onPage.map((process) => process.page(now)).join('');
    if (scrape > 0 && draw.chance(0.08)) pages.push(null);
    else {
      pages.push(page);
      // What the gateway counts of a worker may vanish or decrease with the worker.
      const lost = workers.flatMap((worker, i) =>
        onPage.includes(worker) && worker.isVisible && !shown.hasRestarted(worker) ? [] : [`${label}="${names[i]}"`],
      );
      const isExplained = (key: string): boolean => lost.some((pair) => key.includes(pair));
      for (const process of onPage)
        ambiguous = !shown.see(process, process === gateway ? isExplained : undefined) || ambiguous;
    }
    // A label with one value on a page without other series does not look like that of several processes.
    const values = workers.filter((worker) => onPage.includes(worker) && worker.isVisible).length;
    ambiguous ||= label === 'shard' && !gateway.isVisible && workers.filter(({ isVisible }) => isVisible).length < 2;
    // One with one value on a page with a start time looks like what describes the process of the page.
    ambiguous ||= label === 'engine' && values < 2;
  }
  return { shape: 'workers on the page of a gateway', start, pages, from: 0, truth: shown.truth(), ambiguous };
}

function processHistory(seed: number): History {
  const draw = drawer(seed);
  const shape = draw.of([
    'one process',
    'one process',
    'gateway with workers',
    'several processes on a page',
    'replicas behind the address',
  ] as const);
  const start = draw.of(['none', 'process', 'created', 'uptime'] as const);
  const labels =
    shape === 'several processes on a page'
      ? ['a', 'b', 'c'].slice(0, draw.whole(2, 3))
      : shape === 'replicas behind the address'
        ? [null, null]
        : [null];
  // Replicas are deployed together and have served before.
  const replicas = shape === 'replicas behind the address';
  const label = seed % 8 === 6 ? 'shard' : 'worker';
  const untyped = seed % 6 === 5;
  const processes = labels.map(
    (worker) =>
      new ModelProcess(draw, {
        worker,
        label,
        untyped,
        prefix: '',
        start: shape === 'several processes on a page' && start === 'uptime' ? 'none' : start,
        routes: shape === 'gateway with workers' ? ['x', 'y'] : [],
        served: replicas ? 1 : draw.chance(0.6) ? 1 : 0,
      }),
  );
  // Half of the replicas also started together: their start times do not distinguish them.
  const [one, other] = replicas ? processes : [];
  if (one !== undefined && other !== undefined && drawer(~seed).chance(0.5)) other.startWith(one);
  // Without start times, pages of a replica that counts nothing may be those of the other one just after a restart: one
  // process gives these pages when it restarts before each of them, and after it counts up to what the other shows.
  const idle =
    start === 'none' &&
    one !== undefined &&
    other !== undefined &&
    (one.looksLikeRestartOf(other) || other.looksLikeRestartOf(one));
  const scrapes = draw.whole(6, 20);
  const from = 0;
  const pages: (string | null)[] = [];
  let ambiguous = false;
  const shown = new Shown();
  let answering = 0;
  let turns = 0;
  let lastShown: ModelProcess | null = null;
  const cutLives: number[][] = [];
  for (let scrape = 0; scrape < scrapes; scrape++) {
    const now = scrape * SECONDS_PER_SCRAPE;
    for (const process of processes) {
      if (scrape > 0 && !replicas && draw.chance(0.06)) process.restart(now - draw.whole(1, SECONDS_PER_SCRAPE - 2));
      process.observe();
      if (!replicas && draw.chance(0.05)) process.changeBounds();
    }
    if (replicas && draw.chance(0.5)) answering = 1 - answering;
    const onPage = replicas ? [processes[answering] as ModelProcess] : processes;
    const page = onPage.map((process) => process.page(now)).join('');
    if (scrape > 0 && draw.chance(0.08)) pages.push(null);
    else if (scrape > 0 && draw.chance(0.05)) {
      pages.push(cutPage(page, draw));
      cutLives.push(onPage.map(({ life }) => life));
    } else {
      pages.push(page);
      // Of a life that ended after it, a part of a page may or may not show the last counts.
      ambiguous ||= cutLives.splice(0).some((lives) => lives.some((life, i) => life !== onPage[i]?.life));
      if (lastShown !== null && lastShown !== onPage[0]) turns += 1;
      lastShown = onPage[0] ?? null;
      for (const process of onPage) ambiguous = !shown.see(process) || ambiguous;
    }
  }
  // One process gives the same pages as fewer switches: before the next page it restarts (or, under one start time,
  // resets the series that decrease) and counts up to the numbers of the second replica.
  if (replicas && turns < (start === 'none' ? 4 : 2)) ambiguous = true;
  if (idle) ambiguous = true;
  return { shape, start, pages, from, truth: shown.truth(), ambiguous };
}

/** Tracks what the good pages showed of each process between its restarts. */
class Shown {
  readonly #processes = new Map<
    ModelProcess,
    {
      life: number;
      first: Map<string, number>;
      last: Map<string, number>;
      past: Map<string, number>;
      shown: Map<string, number>;
    }
  >();

  /** Whether it restarted since the last good page that showed it. */
  hasRestarted(process: ModelProcess): boolean {
    const before = this.#processes.get(process);
    return before !== undefined && before.life !== process.life;
  }

  /**
   * False: the process restarted since the last good page, and nothing on this page shows it. `isExplained`: of numbers that
   * may be lost for another reason.
   */
  see(process: ModelProcess, isExplained: (key: string) => boolean = () => false): boolean {
    const counts = process.counts();
    const before = this.#processes.get(process);
    if (before === undefined) {
      this.#processes.set(process, {
        life: process.life,
        first: counts,
        last: counts,
        past: new Map(),
        shown: process.numbers(),
      });
      return true;
    }
    const numbers = process.numbers();
    let visible = true;
    if (before.life !== process.life) {
      for (const [key, count] of before.last)
        before.past.set(key, (before.past.get(key) ?? 0) + count - (before.first.get(key) ?? 0));
      before.first = new Map();
      before.life = process.life;
      visible =
        process.showsStart ||
        Array.from(before.shown).some(([key, value]) => (numbers.get(key) ?? absent(key)) < value && !isExplained(key));
    }
    before.last = counts;
    before.shown = numbers;
    return visible;
  }

  truth(): Map<string, number> {
    const truth = new Map<string, number>();
    for (const { past, first, last } of this.#processes.values()) {
      for (const key of new Set([...past.keys(), ...last.keys()])) {
        const gained = (past.get(key) ?? 0) + (last.get(key) ?? 0) - (first.get(key) ?? 0);
        truth.set(key, (truth.get(key) ?? 0) + gained);
      }
    }
    return truth;
  }
}

/** A missing series shows a restart; a missing bucket may only be a former bound. */
const absent = (key: string): number => (key.includes(' ') ? Infinity : -1);

/** A page that ends inside a line; cut between two lines, it would look like a shorter page. */
function cutPage(page: string, draw: Draw): string {
  let at = draw.whole(1, page.length - 1);
  while (at < page.length - 1 && page[at - 1] === '\n') at += 1;
  return page.slice(0, at);
}

/** The pages as the collector keeps them: without a last line that has no newline. */
export function stored({ pages }: History): TargetStore {
  const store = new TargetStore();
  const parser = createScrapeParser();
  const encoder = new TextEncoder();
  for (const [scrape, page] of pages.entries()) {
    const at_ns = scrape * SECONDS_PER_SCRAPE * 1e9;
    const times = { sent_ns: at_ns, at_ns, duration_ns: 0, interval_ns: SECONDS_PER_SCRAPE * 1e9, edge: false };
    const whole = page?.slice(0, page.lastIndexOf('\n') + 1) ?? '';
    const exposition = parser.parse(encoder.encode(whole), 'text/plain');
    if (exposition.columns.count === 0) store.recordFailure(times, 'no page');
    else if (!store.recordPage(times, exposition, false, whole !== page)) break;
  }
  return store;
}

function drawer(seed: number): Draw {
  // mulberry32
  let state = (seed + 1) * 0x9e3779b1;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    chance: (p) => next() < p,
    whole: (low, high) => low + Math.floor(next() * (high - low + 1)),
    of: (values) => values[Math.floor(next() * values.length)] as (typeof values)[number],
  };
}
