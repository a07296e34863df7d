import type { EngineParameters } from '../engine/parameters.ts';
import { NO_BLOCKS, addBlocks } from './block-totals.ts';
import type { Iteration } from './iteration.ts';
import { iterationRow } from './iteration-row.ts';

/** `iter_stats_max_iterations`: rows beyond it are dropped, the oldest first. */
const MAX_ROWS = 1000;

/** The rows that have not been read yet. */
export class IterationLog {
  readonly #parameters: EngineParameters;
  readonly #wallSeconds: () => number;
  #blocks = NO_BLOCKS;
  #rows: Record<string, unknown>[] = [];
  #dropped = 0;

  constructor(parameters: EngineParameters, wallSeconds: () => number) {
    this.#parameters = parameters;
    this.#wallSeconds = wallSeconds;
  }

  observe(iteration: Iteration): void {
    this.#blocks = addBlocks(this.#blocks, iteration);
    const wall = new Date(this.#wallSeconds() * 1000);
    const context = { parameters: this.#parameters, blocks: this.#blocks, wall, droppedFrames: this.#dropped };
    this.#rows.push(iterationRow(iteration, context));
    if (this.#rows.length <= MAX_ROWS) return;
    this.#rows.shift();
    this.#dropped++;
  }

  /** The rows since the last call, as a JSON array: reading takes them away. */
  drain(): string {
    const rows = this.#rows;
    this.#rows = [];
    return JSON.stringify(rows);
  }
}
