import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { BlockLives, BlockPool, type BlockTotals } from './blocks.ts';
import type { EngineEvent, EngineRequest, EngineState, DraftCounts } from './events.ts';
import { OffloadTiers } from './offload-tiers.ts';
import { checkEngineParameters, windowEnd, type EngineParameters, type Speculation } from './parameters.ts';
import { Scheduler, Sequence, type StepPlan } from './scheduler.ts';

/** Things that happen at a known time, in order of time and then of insertion. */
class Inbox<T> {
  /** The latest first; what comes in is mostly the latest, and few things wait. */
  readonly #entries: { readonly time_ns: number; readonly item: T }[] = [];

  /** Time of the next thing, Infinity when there is none. */
  nextTime(): number {
    return this.#entries.at(-1)?.time_ns ?? Infinity;
  }

  push(time_ns: number, item: T): void {
    const earlier = this.#entries.findIndex((entry) => entry.time_ns <= time_ns);
    this.#entries.splice(earlier < 0 ? this.#entries.length : earlier, 0, { time_ns, item });
  }

  /** Takes the next thing out if its time is `time_ns` or earlier. */
  popUntil(time_ns: number): T | undefined {
    return this.nextTime() <= time_ns ? this.#entries.pop()?.item : undefined;
  }
}

interface Step extends StepPlan {
  readonly state: EngineState;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly prefillTokens: number;
  readonly decoding: number;
}

const NANOSECONDS_PER_SECOND = 1e9;
const NANOSECONDS_PER_MILLISECOND = 1e6;

/**
 * An inference engine with continuous batching, simulated as discrete events on a clock of its own: it owns no timer
 * and reads no time. The same parameters, requests and times give the same events, however often and in whatever
 * portions the engine is advanced.
 *
 * Times are integer nanoseconds since an origin that the caller chooses. What happens at one time happens in this
 * order: the step ends, then requests arrive and are aborted as they were announced, then the next step begins.
 */
export class Engine {
  readonly parameters: EngineParameters;
  readonly #tiers: OffloadTiers;
  readonly #pool: BlockPool;
  readonly #lives: BlockLives;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #inbox = new Inbox<() => void>();
  readonly #sequences = new Map<string, Sequence>();
  #events: EngineEvent[] = [];
  #step: Step | null = null;
  #now_ns = -1;

  /** @throws RangeError when a parameter is out of range */
  constructor(parameters: EngineParameters) {
    checkEngineParameters(parameters);
    this.parameters = parameters;
    this.#tiers = new OffloadTiers(parameters.offloadTiers);
    const lives = new BlockLives(parameters.numKvBlocks);
    this.#lives = lives;
    this.#pool = new BlockPool(parameters.numKvBlocks, {
      handedOut: (block) => lives.begin(block),
      takenOver: (block) => lives.use(block),
      givenUp: (block, hash) => {
        lives.end(block);
        this.#tiers.store(hash);
      },
    });
    this.#scheduler = new Scheduler(parameters, this.#pool, this.#tiers);
    this.#random = seededRandom(parameters.seed);
  }

  /** The time that the engine was last advanced to; −1 before the first. */
  get now_ns(): number {
    return this.#now_ns;
  }

  get state(): EngineState {
    return {
      now_ns: this.#now_ns,
      running: this.#scheduler.running.length,
      waiting: this.#scheduler.waiting.length,
      usedKvBlocks: this.#pool.used,
      numKvBlocks: this.#pool.size,
      cachedKvBlocks: this.#pool.cached,
      offloadedBlocks: this.#tiers.used,
    };
  }

  /**
   * Empties the prefix cache, and the tiers below it. False, and nothing is emptied, while a request has blocks: as in vLLM
   * and SGLang.
   */
  resetPrefixCache(): boolean {
    if (!this.#pool.forget()) return false;
    this.#tiers.forget();
    return true;
  }

  /** What the KV cache of the device has done so far. */
  get kvBlockTotals(): BlockTotals {
    return this.#pool.totals;
  }

  /**
   * Announces a request.
   *
   * @throws RangeError when it arrives in the past, asks for less than no tokens, or for more than `maxModelLen`
   * @throws Error when a request with the same id is in the engine
   */
  submit(request: EngineRequest): void {
    this.#checkFuture(request.arrival_ns);
    const { promptTokens, outputTokens } = request;
    if (!(Number.isSafeInteger(promptTokens) && promptTokens >= 1))
      throw new RangeError('promptTokens must be 1 or more');
    if (!(Number.isSafeInteger(outputTokens) && outputTokens >= 0))
      throw new RangeError('outputTokens must be 0 or more');
    if (promptTokens + outputTokens > this.parameters.maxModelLen) {
      throw new RangeError(
        `${promptTokens} prompt and ${outputTokens} output tokens exceed maxModelLen ${this.parameters.maxModelLen}`,
      );
    }
    if (this.#sequences.has(request.id)) throw new Error(`request ${request.id} is already in the engine`);
    const sequence = new Sequence(request);
    this.#sequences.set(request.id, sequence);
    this.#inbox.push(request.arrival_ns, () => {
      if (!sequence.aborted) this.#scheduler.waiting.push(sequence);
    });
  }

  /**
   * Announces that a request is taken out at `time_ns`; without effect when it has ended by then. A step in progress
   * still holds its blocks to its end, but gives it no token.
   *
   * @throws RangeError when the time is in the past
   */
  abort(id: string, time_ns: number): void {
    this.#checkFuture(time_ns);
    this.#inbox.push(time_ns, () => {
      const sequence = this.#sequences.get(id);
      if (sequence === undefined) return;
      this.#sequences.delete(id);
      this.#scheduler.remove(sequence);
      sequence.aborted = true;
      if (this.#step === null || !this.#step.sequences.includes(sequence)) this.#release(sequence);
      this.#events.push({ kind: 'aborted', request: sequence, time_ns });
    });
  }

  /** When something happens next, or null when nothing will without a new request. */
  nextEventTime(): number | null {
    const next = Math.min(this.#step?.end_ns ?? Infinity, this.#inbox.nextTime());
    return next === Infinity ? null : next;
  }

  /**
   * Lets everything happen up to and including `time_ns`.
   *
   * @returns the events in order of time
   * @throws RangeError when the time lies before the one that the engine was advanced to
   */
  advanceTo(time_ns: number): EngineEvent[] {
    if (!(Number.isSafeInteger(time_ns) && time_ns >= this.#now_ns)) {
      throw new RangeError(`cannot advance from ${this.#now_ns} ns to ${time_ns} ns`);
    }
    for (;;) {
      const next = this.nextEventTime();
      if (next === null || next > time_ns) break;
      if (this.#step?.end_ns === next) this.#endStep(this.#step);
      for (let happen = this.#inbox.popUntil(next); happen; happen = this.#inbox.popUntil(next)) happen();
      if (this.#step === null) this.#beginStep(next);
    }
    this.#now_ns = time_ns;
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #checkFuture(time_ns: number): void {
    if (!(Number.isSafeInteger(time_ns) && time_ns > this.#now_ns)) {
      throw new RangeError(`${time_ns} ns is not after the engine's time, ${this.#now_ns} ns`);
    }
  }

  #beginStep(start_ns: number): void {
    this.#lives.now_ns = start_ns;
    const plan = this.#scheduler.plan();
    this.#reportTraffic(plan, start_ns);
    for (const request of plan.preempted) {
      const { generatedTokens } = request;
      this.#events.push({ kind: 'preempted', request, time_ns: start_ns, generatedTokens });
    }
    for (const sequence of plan.admitted) this.#admit(sequence, start_ns);
    if (plan.sequences.length === 0) return;
    let prefillTokens = 0;
    let decoding = 0;
    for (const sequence of plan.sequences) {
      if (sequence.isPrefilling) prefillTokens += sequence.stepTokens;
      else decoding++;
    }
    const nominalEnd_ns = start_ns + this.#stepTime(prefillTokens, decoding, plan.loaded);
    const end_ns = Math.max(nominalEnd_ns, this.#stalledUntil(start_ns));
    this.#step = { ...plan, state: { ...this.state, now_ns: start_ns }, start_ns, end_ns, prefillTokens, decoding };
  }

  #admit(sequence: Sequence, time_ns: number): void {
    const resumed = sequence.scheduled_ns !== null;
    if (!resumed) {
      sequence.scheduled_ns = time_ns;
      sequence.cachedTokens = sequence.computedTokens;
    }
    this.#events.push({ kind: 'scheduled', request: sequence, time_ns, resumed });
  }

  #reportTraffic({ loaded }: StepPlan, time_ns: number): void {
    const traffic = this.#tiers.takeTraffic();
    const lives = this.#lives.takeEnded();
    if (traffic.evicted === 0 && loaded.every((blocks) => blocks === 0)) return;
    this.#events.push({ kind: 'kv-traffic', time_ns, ...traffic, loaded, lives });
  }

  #stalledUntil(start_ns: number): number {
    const { stall } = this.parameters;
    const end_s = stall === null ? null : windowEnd(stall, start_ns / NANOSECONDS_PER_SECOND);
    return end_s === null ? 0 : Math.round(end_s * NANOSECONDS_PER_SECOND);
  }

  #stepTime(prefillTokens: number, decoding: number, loaded: readonly number[]): number {
    const { stepBaseMilliseconds, prefillMillisecondsPerToken, decodeMillisecondsPerSequence } = this.parameters;
    const nominal =
      stepBaseMilliseconds + prefillTokens * prefillMillisecondsPerToken + decoding * decodeMillisecondsPerSequence;
    const loading = this.parameters.offloadTiers.reduce(
      (sum, tier, i) => sum + (loaded[i] ?? 0) * tier.loadMillisecondsPerBlock,
      0,
    );
    const factor = 1 + this.parameters.jitterRatio * (this.#random() + this.#random() - 1);
    return Math.max(1, Math.round((nominal + loading) * factor * NANOSECONDS_PER_MILLISECOND));
  }

  #endStep(step: Step): void {
    this.#step = null;
    const { start_ns, end_ns, prefillTokens, decoding, state } = step;
    const sequences = step.sequences.length;
    const { accepted, drafts } = drawDrafts(step.sequences, this.parameters.speculation, this.#random);
    const time_ns = end_ns;
    this.#events.push({ kind: 'step', start_ns, time_ns, prefillTokens, sequences, decoding, state, drafts });
    for (const sequence of step.sequences) {
      sequence.computedTokens += sequence.stepTokens;
      sequence.stepTokens = 0;
      this.#rememberPrompt(sequence);
      if (sequence.aborted) this.#release(sequence);
      else if (sequence.computedTokens === sequence.totalTokens) {
        if (sequence.outputTokens === 0) {
          this.#finish(sequence, end_ns);
          continue;
        }
        const extra = accepted.get(sequence) ?? 0;
        sequence.computedTokens += extra;
        for (let i = 0; i <= extra; i++) this.#generate(sequence, end_ns);
      }
    }
  }

  #rememberPrompt(sequence: Sequence): void {
    if (!this.parameters.enablePrefixCaching) return;
    const full = Math.floor(Math.min(sequence.computedTokens, sequence.promptTokens) / this.parameters.blockSize);
    const end = Math.min(full, sequence.promptBlockHashes.length);
    for (let i = sequence.rememberedBlocks; i < end; i++) {
      const block = sequence.blocks[i];
      const hash = sequence.promptBlockHashes[i];
      if (block !== undefined && hash !== undefined) this.#pool.remember(block, hash);
    }
    sequence.rememberedBlocks = Math.max(sequence.rememberedBlocks, end);
  }

  #generate(sequence: Sequence, time_ns: number): void {
    const previous_ns = sequence.lastToken_ns;
    const index = sequence.generatedTokens++;
    sequence.firstToken_ns ??= time_ns;
    sequence.lastToken_ns = time_ns;
    this.#events.push({ kind: 'token', request: sequence, time_ns, index, previous_ns });
    if (sequence.generatedTokens === sequence.outputTokens) this.#finish(sequence, time_ns);
  }

  #finish(sequence: Sequence, time_ns: number): void {
    this.#sequences.delete(sequence.id);
    this.#scheduler.remove(sequence);
    this.#release(sequence);
    this.#events.push({ kind: 'finished', request: sequence, time_ns });
  }

  #release(sequence: Sequence): void {
    this.#pool.release(sequence.blocks);
    sequence.blocks = [];
  }
}

interface Drafts {
  /** Draft tokens that each request takes beside the token it gets anyway. */
  readonly accepted: ReadonlyMap<Sequence, number>;
  readonly drafts: DraftCounts | null;
}

/** Draws which draft tokens are right for the requests that decode in a step. None goes beyond a request's limit. */
export function drawDrafts(sequences: readonly Sequence[], speculation: Speculation | null, random: Random): Drafts {
  const accepted = new Map<Sequence, number>();
  if (speculation === null) return { accepted, drafts: null };
  const { draftTokens, acceptanceRatio } = speculation;
  const acceptedByPosition = Array.from({ length: draftTokens }, () => 0);
  for (const sequence of sequences) {
    if (sequence.isPrefilling || sequence.aborted) continue;
    const limit = Math.min(draftTokens, sequence.outputTokens - sequence.generatedTokens - 1);
    let right = 0;
    while (right < limit && random() < acceptanceRatio) {
      acceptedByPosition[right] = (acceptedByPosition[right] ?? 0) + 1;
      right++;
    }
    accepted.set(sequence, right);
  }
  return { accepted, drafts: { sequences: accepted.size, acceptedByPosition } };
}
