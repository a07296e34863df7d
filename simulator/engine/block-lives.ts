/** How a block was used whose content was given up, as vLLM's KV cache metrics tell it. Nanoseconds. */
export interface BlockLife {
  /** Since the block was handed out for this content. */
  readonly lifetime_ns: number;
  /** Since a request took it over for the last time, or since it was handed out. */
  readonly idle_ns: number;
  /** Between the latest times that requests took it over. */
  readonly reuseGaps_ns: readonly number[];
}

/** So many of a block's latest uses are kept. */
const KEPT_USES = 4;

/** When the blocks of the KV cache were handed out and taken over. */
export class BlockLives {
  /** The present; to be set before blocks are moved. */
  now_ns = 0;
  readonly #begun_ns: Float64Array;
  readonly #uses_ns = new Map<number, number[]>();
  #ended: BlockLife[] = [];

  constructor(blocks: number) {
    this.#begun_ns = new Float64Array(blocks);
  }

  begin(block: number): void {
    this.#begun_ns[block] = this.now_ns;
    this.#uses_ns.delete(block);
  }

  use(block: number): void {
    const uses = this.#uses_ns.get(block);
    if (uses === undefined) this.#uses_ns.set(block, [this.now_ns]);
    else if (uses.push(this.now_ns) > KEPT_USES) uses.shift();
  }

  end(block: number): void {
    const begun_ns = this.#begun_ns[block] ?? this.now_ns;
    const uses = this.#uses_ns.get(block) ?? [];
    this.#ended.push({
      lifetime_ns: this.now_ns - begun_ns,
      idle_ns: this.now_ns - (uses.at(-1) ?? begun_ns),
      reuseGaps_ns: uses.slice(1).map((use_ns, i) => use_ns - (uses[i] ?? use_ns)),
    });
  }

  /** The lives that ended since the last call. */
  takeEnded(): BlockLife[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }
}
