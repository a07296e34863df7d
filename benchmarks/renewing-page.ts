const NEW_LINE_EVERY = 100;
const DIGITS = 8;

/** A page in which one sample in a hundred carries a label whose value is written anew, in place, for each scrape. */
export class RenewingPage {
  readonly #bytes: Buffer;
  readonly #positions: number[] = [];

  constructor(page: Buffer) {
    const label = `{renewed="${'0'.repeat(DIGITS)}",`;
    const lines = page.toString('latin1').split('\n');
    let position = 0;
    let samples = 0;
    const changed = lines.map((line) => {
      const brace = line.startsWith('#') ? -1 : line.indexOf('{');
      const chosen = brace >= 0 && samples++ % NEW_LINE_EVERY === 0;
      const text = chosen ? line.slice(0, brace) + label + line.slice(brace + 1) : line;
      if (chosen) this.#positions.push(position + brace + label.indexOf('0'));
      position += text.length + 1;
      return text;
    });
    this.#bytes = Buffer.from(changed.join('\n'), 'latin1');
  }

  /** The page of a generation; it is the same memory each time. */
  next(generation: number): Uint8Array {
    const digits = String(generation).padStart(DIGITS, '0');
    for (const position of this.#positions) this.#bytes.write(digits, position, 'latin1');
    return this.#bytes;
  }
}
