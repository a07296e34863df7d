import type { BlockPool } from './blocks.ts';
import type { EngineRequest, FinishReason, RequestProgress } from './events.ts';
import type { OffloadTiers } from './offload-tiers.ts';
import type { EngineParameters } from './parameters.ts';

/** A request inside the engine: what the outside may read, and what the scheduler keeps. */
export class Sequence implements RequestProgress {
  readonly id: string;
  readonly arrival_ns: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly finishReason: FinishReason;
  readonly streaming: boolean;
  scheduled_ns: number | null = null;
  firstToken_ns: number | null = null;
  lastToken_ns: number | null = null;
  generatedTokens = 0;
  cachedTokens = 0;
  offloadedTokens: readonly number[] = [];
  preemptions = 0;

  readonly promptBlockHashes: readonly number[];
  /** Tokens whose keys and values are in `blocks`. */
  computedTokens = 0;
  /** Tokens that the step in progress computes. */
  stepTokens = 0;
  blocks: number[] = [];
  /** Full prompt blocks already offered to the prefix cache. */
  rememberedBlocks = 0;
  aborted = false;

  constructor(request: EngineRequest) {
    this.id = request.id;
    this.arrival_ns = request.arrival_ns;
    this.promptTokens = request.promptTokens;
    this.outputTokens = request.outputTokens;
    this.finishReason = request.finishReason ?? 'length';
    this.streaming = request.streaming ?? true;
    this.promptBlockHashes = request.promptBlockHashes ?? [];
  }

  get totalTokens(): number {
    return this.promptTokens + this.generatedTokens;
  }

  /** Whether the step in progress computes anything but the newest generated token. */
  get isPrefilling(): boolean {
    return this.generatedTokens === 0 || this.totalTokens - this.computedTokens > 1;
  }
}

/** What one step computes, and what happened to the queues when it was put together. */
export interface StepPlan {
  readonly sequences: Sequence[];
  readonly admitted: Sequence[];
  readonly preempted: Sequence[];
  /** Blocks that come back from each offload tier. */
  readonly loaded: number[];
}

/**
 * First come, first served, with chunked prefill and preemption by recomputing, as vLLM's v1 scheduler: requests that
 * run go first; one that needs a block when none is free pushes the youngest back to the head of the queue; new
 * requests are admitted only in a step that preempted no request.
 */
export class Scheduler {
  readonly waiting: Sequence[] = [];
  readonly running: Sequence[] = [];
  readonly #pool: BlockPool;
  readonly #tiers: OffloadTiers;
  readonly #parameters: EngineParameters;

  constructor(parameters: EngineParameters, pool: BlockPool, tiers: OffloadTiers) {
    this.#parameters = parameters;
    this.#pool = pool;
    this.#tiers = tiers;
  }

  /** Puts the next step together; it is empty when there is nothing to do. */
  plan(): StepPlan {
    const loaded = this.#parameters.offloadTiers.map(() => 0);
    const plan: StepPlan = { sequences: [], admitted: [], preempted: [], loaded };
    const budget = this.#planRunning(plan, this.#parameters.maxNumBatchedTokens);
    if (plan.preempted.length === 0) this.#planWaiting(plan, budget);
    return plan;
  }

  /** Takes a request out of the queue or the batch. Its blocks stay its own. */
  remove(sequence: Sequence): void {
    for (const list of [this.running, this.waiting]) {
      const index = list.indexOf(sequence);
      if (index >= 0) list.splice(index, 1);
    }
  }

  #planRunning(plan: StepPlan, tokens: number): number {
    let budget = tokens;
    for (let i = 0; i < this.running.length && budget > 0; i++) {
      const sequence = this.running[i];
      if (sequence === undefined) break;
      const stepTokens = Math.min(sequence.totalTokens - sequence.computedTokens, budget);
      if (!this.#makeRoom(sequence, stepTokens, plan)) break;
      sequence.stepTokens = stepTokens;
      plan.sequences.push(sequence);
      budget -= stepTokens;
    }
    return budget;
  }

  /** Gets the blocks that `sequence` needs, preempting from the end of the batch; false when it fell victim itself. */
  #makeRoom(sequence: Sequence, stepTokens: number, plan: StepPlan): boolean {
    const fresh = this.#blocksFor(sequence.computedTokens + stepTokens) - sequence.blocks.length;
    if (fresh <= 0) return true;
    for (;;) {
      const blocks = this.#pool.take([], fresh);
      if (blocks !== null) {
        sequence.blocks.push(...blocks);
        return true;
      }
      const victim = this.running.pop();
      if (victim === undefined) return false;
      this.#preempt(victim, plan);
      if (victim === sequence) return false;
    }
  }

  #preempt(victim: Sequence, plan: StepPlan): void {
    this.#pool.release(victim.blocks);
    victim.blocks = [];
    victim.computedTokens = 0;
    victim.rememberedBlocks = 0;
    victim.preemptions++;
    this.waiting.unshift(victim);
    plan.preempted.push(victim);
  }

  #planWaiting(plan: StepPlan, tokens: number): void {
    let budget = tokens;
    while (budget > 0 && this.running.length < this.#parameters.maxNumSeqs) {
      const sequence = this.waiting[0];
      if (sequence === undefined) break;
      const { cached, offloaded } = this.#findPrefix(sequence);
      const computed = (cached.length + offloaded.length) * this.#parameters.blockSize;
      const stepTokens = Math.min(sequence.totalTokens - computed, budget);
      const blocks = this.#pool.take(cached, this.#blocksFor(computed + stepTokens) - cached.length);
      if (blocks === null) break;
      this.waiting.shift();
      this.running.push(sequence);
      sequence.blocks = blocks;
      sequence.computedTokens = computed;
      sequence.rememberedBlocks = cached.length;
      sequence.stepTokens = stepTokens;
      this.#load(sequence, cached.length, offloaded, plan);
      plan.sequences.push(sequence);
      plan.admitted.push(sequence);
      budget -= stepTokens;
    }
  }

  /** The blocks of the device, and the tiers of those after them. At least one token is left to generate from. */
  #findPrefix({ promptTokens, promptBlockHashes }: Sequence): { cached: number[]; offloaded: number[] } {
    if (!this.#parameters.enablePrefixCaching) return { cached: [], offloaded: [] };
    const limit = Math.floor((promptTokens - 1) / this.#parameters.blockSize);
    const cached = this.#pool.find(promptBlockHashes, limit);
    return { cached, offloaded: this.#tiers.find(promptBlockHashes, cached.length, limit) };
  }

  #load(sequence: Sequence, from: number, offloaded: readonly number[], plan: StepPlan): void {
    const own = plan.loaded.map((_, tier) => offloaded.filter((index) => index === tier).length);
    own.forEach((blocks, tier) => (plan.loaded[tier] = (plan.loaded[tier] ?? 0) + blocks));
    this.#tiers.touch(sequence.promptBlockHashes.slice(from, from + offloaded.length));
    // Only what the first admission found is reported: a request that was preempted mostly finds itself.
    if (sequence.scheduled_ns === null) {
      sequence.offloadedTokens = own.map((blocks) => blocks * this.#parameters.blockSize);
    }
  }

  #blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.#parameters.blockSize);
  }
}
