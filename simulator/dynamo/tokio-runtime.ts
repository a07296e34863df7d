import type { Random } from '../../core/stats/seeded-random.ts';
import type { Feed } from '../metrics/feed.ts';
import { at, on, seconds } from '../metrics/signals.ts';
import type { Signals } from '../metrics/signals.ts';

/** Time of a thread for one chunk that passes through. */
const SECONDS_PER_CHUNK = 25e-6;
const IDLE_POLL_NS = 15_000;
const CANARY_SECONDS = 0.01;
const STALL_SECONDS = 0.005;
/** An idle frontend is not looked at for days: what is made up for the past is limited. */
const MAX_CANARIES = 100_000;

/** The Tokio runtime of the frontend, and the canary that sleeps in its event loop. Made up, but from the real load. */
export class TokioRuntime {
  /** Its threads, as `worker`. */
  static readonly workers: readonly string[] = ['0', '1'];
  readonly #feed: Feed;
  readonly #random: Random;
  #updated_s = 0;
  #chunks = 0;

  constructor(feed: Feed, random: Random) {
    this.#feed = feed;
    this.#random = random;
  }

  /** A chunk passed through. */
  chunk(): void {
    this.#chunks++;
  }

  /** @param now_ns since the start @param inFlight requests that have tasks */
  update(now_ns: number, inFlight: number): void {
    const now_s = seconds(0, now_ns);
    const passed_s = now_s - this.#updated_s;
    if (passed_s <= 0) return;
    const threads = TokioRuntime.workers.length;
    const chunks = this.#chunks;
    this.#updated_s = now_s;
    this.#chunks = 0;
    const busyRatio = Math.min(1, (chunks * SECONDS_PER_CHUNK) / passed_s / threads);
    this.#feed.report('tokio', inFlight);
    const parks = Math.floor(passed_s / CANARY_SECONDS + chunks / threads);
    for (const worker of TokioRuntime.workers) {
      this.#feed.report('tokio_worker', { worker: Number(worker), parks, steals: Math.floor(chunks / 20) });
      // Whole numbers of the page's own units.
      this.#feed.scalar('dynamo_tokio_worker_busy_ratio', { worker }).value = Math.round(busyRatio * 1000);
      const poll = this.#feed.scalar('dynamo_tokio_worker_mean_poll_time_ns', { worker });
      poll.value = Math.round(IDLE_POLL_NS * (1 + 4 * busyRatio));
    }
    // How late the sleeps since the last update were: later when there is more to do.
    const sleeps = Math.min(MAX_CANARIES, Math.floor(passed_s / CANARY_SECONDS));
    for (let i = 0; i < sleeps; i++) {
      this.#feed.report('canary', 0.0008 * this.#random() + 0.012 * busyRatio * this.#random() ** 4);
    }
  }
}

interface TokioWorker {
  readonly worker: number;
  readonly parks: number;
  readonly steals: number;
}

export const TOKIO_SIGNALS: Signals = {
  ...at<number>('tokio', { alive_tasks: (inFlight) => 40 + 4 * inFlight }),
  ...on<TokioWorker>('tokio_worker', { parks: ({ parks }) => parks, steals: ({ steals }) => steals }),
  ...on<number>('canary', {
    event_loop_delay: (delay_s) => delay_s,
    event_loop_stalls: (delay_s) => (delay_s > STALL_SECONDS ? 1 : 0),
  }),
};
