import type { Labels, SampleInput } from '../../core/exposition/index.ts';
import { targetInfoSamples, type ScrapedTarget } from './target-info.ts';

/**
 * The metrics pages that a run under way has read. Each stays as it was first known: a series that came and went with the
 * state of its server would break the joins.
 */
export class LiveTargets {
  readonly #labels: Labels;
  readonly #targets = new Map<string, ScrapedTarget>();
  #samples: readonly SampleInput[] = [];

  constructor(labels: Labels) {
    this.#labels = labels;
  }

  read(targets: readonly ScrapedTarget[]): void {
    for (const each of targets) if (!this.#targets.has(each.target)) this.#targets.set(each.target, each);
    this.#samples = targetInfoSamples(this.#labels, [...this.#targets.values()]);
  }

  get samples(): readonly SampleInput[] {
    return this.#samples;
  }

  /** How many were left out. */
  get dropped(): number {
    return this.#targets.size - this.#samples.length;
  }
}
