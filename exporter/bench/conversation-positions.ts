import type { PhaseName } from '../../core/run/record.ts';
import type { Dataset } from './datasets/dataset.ts';

/** Where each conversation of a phase begins: its position is the number of turns of all before it. Asked in any order that ascends. */
export class ConversationPositions {
  readonly #dataset: Dataset;
  readonly #phase: PhaseName;
  #conversation = 0;
  #position = 0;

  constructor(dataset: Dataset, phase: PhaseName) {
    this.#dataset = dataset;
    this.#phase = phase;
  }

  /** Without conversations every request has a position of its own. */
  of(conversation: number): number {
    if (this.#dataset.conversation === undefined) return conversation;
    for (; this.#conversation < conversation; this.#conversation++)
      this.#position += this.#dataset.conversation(this.#phase, this.#conversation).turns;
    return this.#position;
  }
}
