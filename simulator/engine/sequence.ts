import type { EngineRequest, FinishReason, RequestProgress } from './events.ts';

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
