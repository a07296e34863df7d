import { eventTemplate, matchesTemplate } from './event-template.ts';
import type { EventTemplate } from './event-template.ts';

const TEMPLATES = 4;
/** A server whose every event looks different teaches nothing: then learning stops. */
const LEARNED_WITHOUT_USE = 32;

/**
 * Recognises plain content chunks by their bytes, after having been shown some. What it does not recognise has to be
 * parsed; what it does recognise means the same as what it was shown.
 */
export class ContentRecognizer {
  readonly #variableKeys: ReadonlySet<string>;
  readonly #templates: EventTemplate[] = [];
  #learnedSinceUse = 0;

  constructor(variableKeys: ReadonlySet<string>) {
    this.#variableKeys = variableKeys;
  }

  /** Whether bytes[start, end) is a content chunk like one that was learned. */
  recognizes(bytes: Uint8Array, start: number, end: number): boolean {
    for (let i = 0; i < this.#templates.length; i++) {
      const template = this.#templates[i];
      if (template !== undefined && matchesTemplate(template, bytes, start, end)) {
        this.#learnedSinceUse = 0;
        if (i > 0) this.#moveToFront(i);
        return true;
      }
    }
    return false;
  }

  /** Takes an event that is valid JSON and means content and nothing else. */
  learn(bytes: Uint8Array, start: number, end: number): void {
    if (this.#learnedSinceUse >= LEARNED_WITHOUT_USE || this.recognizes(bytes, start, end)) return;
    this.#learnedSinceUse++;
    const template = eventTemplate(bytes.subarray(start, end), this.#variableKeys);
    if (this.#templates.length < TEMPLATES) this.#templates.unshift(template);
    else {
      this.#templates[TEMPLATES - 1] = template;
      this.#moveToFront(TEMPLATES - 1);
    }
  }

  #moveToFront(i: number): void {
    const [template] = this.#templates.splice(i, 1);
    if (template !== undefined) this.#templates.unshift(template);
  }
}
