import { eventTemplate, matchesTemplate } from './event-template.ts';
import type { EventTemplate } from './event-template.ts';

const TEMPLATES = 4;
/** When every event of a server has a different shape, nothing can be learned: learning stops after this many. */
const LEARNED_WITHOUT_USE = 32;

/** What a content chunk contains: text that is not reasoning, or only reasoning. */
export type ContentKind = 'output' | 'reasoning';

interface KnownEvent {
  readonly template: EventTemplate;
  readonly kind: ContentKind;
}

/**
 * Recognizes plain content chunks by their bytes, from the events it has learned. An event that it does not recognize
 * must be parsed; an event that it recognizes has the same meaning as the one it learned from.
 */
export class ContentRecognizer {
  #variableKeys: ReadonlySet<string>;
  readonly #known: KnownEvent[] = [];
  #learnedSinceUse = 0;

  constructor(variableKeys: ReadonlySet<string>) {
    this.#variableKeys = variableKeys;
  }

  /** What bytes[start, end) contains when it is a content chunk of a learned shape; else null. */
  recognize(bytes: Uint8Array, start: number, end: number): ContentKind | null {
    for (let i = 0; i < this.#known.length; i++) {
      const known = this.#known[i];
      if (known !== undefined && matchesTemplate(known.template, bytes, start, end)) {
        this.#learnedSinceUse = 0;
        if (i > 0) this.#moveToFront(i);
        return known.kind;
      }
    }
    return null;
  }

  /**
   * Learns an event that is valid JSON and carries content and nothing else. `textKeys`: further keys of this server's
   * texts, which are variable from now on.
   */
  learn(bytes: Uint8Array, start: number, end: number, kind: ContentKind, textKeys: readonly string[] = []): void {
    if (this.#learnedSinceUse >= LEARNED_WITHOUT_USE || this.recognize(bytes, start, end) !== null) return;
    this.#learnedSinceUse++;
    if (textKeys.some((key) => !this.#variableKeys.has(key)))
      this.#variableKeys = new Set([...this.#variableKeys, ...textKeys]);
    const learned = { template: eventTemplate(bytes.subarray(start, end), this.#variableKeys), kind };
    if (this.#known.length < TEMPLATES) this.#known.unshift(learned);
    else {
      this.#known[TEMPLATES - 1] = learned;
      this.#moveToFront(TEMPLATES - 1);
    }
  }

  #moveToFront(i: number): void {
    const [known] = this.#known.splice(i, 1);
    if (known !== undefined) this.#known.unshift(known);
  }
}
