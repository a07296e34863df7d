import type { EngineEvent, EngineState, KvTrafficEvent, ScheduledEvent, TokenEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { Feed } from '../metrics/feed.ts';
import { MetricsPage } from '../metrics/page.ts';
import { at, blockBytes, ifAny, on } from '../metrics/signals.ts';
import type { Signals } from '../metrics/signals.ts';
import { FORMATS } from '../metrics/write-page.ts';

/** The collector's log interval: what the two gauges of hit rates cover. */
const INTERVAL_SECONDS = 10;
/** Tokens of a chunk, the smallest thing that is looked up and stored. */
const CHUNK_TOKENS = 256;
const LOOKUP_SECONDS = 0.0008;
const LOOKUP_SECONDS_PER_TOKEN = 0.5e-6;
const STORE_SECONDS = 0.003;
const STORE_TOKENS_PER_SECOND = 250_000;
const LOAD_SECONDS = 0.001;

interface Interval {
  lookedUp: number;
  found: number;
  retrieved: number;
}

/**
 * What the in-process connector of LMCache 0.5.6 counts, with the engine's first offload tier as its local CPU backend.
 * A lookup is every prompt that is scheduled; it hits what is on the device as well, since that was stored too. A
 * retrieval is what had to be brought back; a store is what a prompt has beyond its hits, in whole chunks.
 */
export class LmcacheMetrics {
  readonly #feed: Feed;
  #intervalEnd_s = INTERVAL_SECONDS;
  #interval: Interval = { lookedUp: 0, found: 0, retrieved: 0 };

  constructor(modelName: string, parameters: EngineParameters) {
    this.#feed = new Feed(new MetricsPage({ catalogs: ['lmcache'], parts: ['in_process'], format: FORMATS.LMCACHE }), {
      parameters,
      labels: { model_name: modelName, role: 'worker', served_model_name: modelName, worker_id: '0' },
      signals: SIGNALS,
      // The other gauges wait for parts of LMCache that are not in use, and have their header only.
      fromStart: ({ type, follows }) => type !== 'gauge' || follows !== undefined,
    });
    this.#closeInterval();
  }

  observe(events: readonly EngineEvent[]): void {
    this.#feed.observe(events);
    for (const event of events) {
      if (event.kind !== 'scheduled' || event.resumed) continue;
      this.#interval.lookedUp += event.request.promptTokens;
      this.#interval.found += event.request.cachedTokens;
      this.#interval.retrieved += retrieved(event);
    }
  }

  /** Sets the gauges to the state of the engine. */
  update(state: EngineState): void {
    this.#feed.update(state);
    const now_s = state.now_ns * 1e-9;
    if (now_s < this.#intervalEnd_s) return;
    this.#intervalEnd_s = now_s + INTERVAL_SECONDS;
    this.#closeInterval();
  }

  /** As the Python client writes it for several processes: without creation times. */
  page(): string {
    return this.#feed.text();
  }

  #closeInterval(): void {
    this.#feed.report('interval', this.#interval);
    this.#interval = { lookedUp: 0, found: 0, retrieved: 0 };
  }
}

/** Tokens that were brought back from the tier. */
const retrieved = ({ request: { offloadedTokens } }: ScheduledEvent): number => offloadedTokens[0] ?? 0;

function retrievalSeconds(event: ScheduledEvent, { offloadTiers, blockSize }: EngineParameters): number {
  const perBlock_ms = offloadTiers[0]?.loadMillisecondsPerBlock ?? 0;
  return LOAD_SECONDS + ((retrieved(event) / blockSize) * perBlock_ms) / 1000;
}

/** Tokens of the chunks that a prompt has beyond its hits. */
function stored({ request: { promptTokens, cachedTokens } }: TokenEvent): number {
  const chunks = Math.floor(promptTokens / CHUNK_TOKENS) - Math.floor(cachedTokens / CHUNK_TOKENS);
  return Math.max(0, chunks) * CHUNK_TOKENS;
}

const storeSeconds = (event: TokenEvent): number => STORE_SECONDS + stored(event) / STORE_TOKENS_PER_SECOND;

const SIGNALS: Signals = {
  ...on<ScheduledEvent>('admitted', {
    lookups: () => 1,
    admitted_cached_tokens: ({ request }) => request.cachedTokens,
    engine_hit_tokens: (event) => event.request.cachedTokens - retrieved(event),
    lookup_time: ({ request }) => LOOKUP_SECONDS + request.promptTokens * LOOKUP_SECONDS_PER_TOKEN,
    lookups_without_hit: ({ request }) => (request.cachedTokens === 0 ? 1 : null),
    lookup_hit_ratio: ({ request }) => ifAny(request.cachedTokens / request.promptTokens),
    retrievals: (event) => (retrieved(event) > 0 ? 1 : null),
    retrieved_tokens: (event) => ifAny(retrieved(event)),
    retrieval_time: (event, parameters) => (retrieved(event) > 0 ? retrievalSeconds(event, parameters) : null),
    retrieval_speed: (event, parameters) => ifAny(retrieved(event) / retrievalSeconds(event, parameters)),
  }),
  ...on<TokenEvent>('first_token', {
    stores: (event) => (stored(event) > 0 ? 1 : null),
    stored_tokens: (event) => ifAny(stored(event)),
    store_time: (event) => (stored(event) > 0 ? storeSeconds(event) : null),
    store_speed: (event) => ifAny(stored(event) / storeSeconds(event)),
  }),
  ...on<KvTrafficEvent>('kv_traffic', {
    tier_evictions: ({ dropped }) => (dropped > 0 ? 1 : null),
    dropped_blocks: ({ dropped }) => ifAny(dropped),
  }),
  ...at<EngineState>('state', {
    host_bytes: ({ offloadedBlocks: [blocks = 0] }, parameters) => blocks * blockBytes(parameters),
    storage_bytes: ({ offloadedBlocks: [, blocks = 0] }, parameters) => blocks * blockBytes(parameters),
    host_chunks: ({ offloadedBlocks: [blocks = 0] }, { blockSize }) => Math.ceil((blocks * blockSize) / CHUNK_TOKENS),
  }),
  // Without traffic the one reads 0 and the other 1.
  ...at<Interval>('interval', {
    interval_lookup_hit_ratio: ({ lookedUp, found }) => (lookedUp === 0 ? 0 : found / lookedUp),
    // All that is requested is there.
    interval_retrieval_hit_ratio: () => 1,
  }),
};
