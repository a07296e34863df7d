import { firstNames } from '../../core/text/quantities.ts';
import { ExpectedError } from '../errors/expected-error.ts';

/** Notes of one kind beyond this many are counted, not listed. */
const MAX_LISTED = 20;
const MAX_TEXT = 200;

interface Counted {
  count: number;
  readonly first: string;
}

/** What a reader of an imported run must know about the origin of its figures. One line per matter, however often it occurs. */
export class ImportNotes {
  readonly #lines = new Set<string>();
  readonly #counted = new Map<string, Counted>();
  readonly #unknown = new Set<string>();
  readonly #disagreements: string[] = [];
  readonly #conversions: string[] = [];
  #more = 0;

  /** Notes of their own that begin with these lines. */
  copy(): ImportNotes {
    const copy = new ImportNotes();
    for (const line of this.lines) copy.add(line);
    return copy;
  }

  /** One line; the same line twice is kept once. */
  add(line: string): void {
    if (this.#lines.size < MAX_LISTED || this.#lines.has(line)) this.#lines.add(printable(line));
    else this.#more += 1;
  }

  /** Something that may occur in every record: `what` ("records left out: negative latency"), and where it was met. */
  count(what: string, where: string): void {
    const found = this.#counted.get(what);
    if (found !== undefined) found.count += 1;
    else if (this.#counted.size < MAX_LISTED) this.#counted.set(what, { count: 1, first: printable(where) });
    else this.#more += 1;
  }

  /** A key, a column or a metric that the file has and this version does not know. */
  notUnderstood(name: string): void {
    if (this.#unknown.size < 10 * MAX_LISTED) this.#unknown.add(printable(name));
    else this.#more += 1;
  }

  /** A figure of the file that its own records contradict. */
  disagreement(line: string): void {
    if (this.#disagreements.length < MAX_LISTED) this.#disagreements.push(printable(line));
    else this.#more += 1;
  }

  /** A figure in the result by our definition, and the tool's own figure: `mean 9.87 ms (9.59 ms)`. */
  conversion(text: string): void {
    this.#conversions.push(printable(text));
  }

  get disagreements(): readonly string[] {
    return this.#disagreements;
  }

  /** How often something was counted. */
  counted(what: string): number {
    return this.#counted.get(what)?.count ?? 0;
  }

  /** All of it, one line each, what contradicts itself first. */
  get lines(): string[] {
    const unknown = [...this.#unknown];
    return [
      ...this.#disagreements.map((line) => `disagrees: ${line}`),
      ...[...this.#counted].map(([what, { count, first }]) => `${count} × ${what} (first: ${first})`),
      ...this.#lines,
      ...(this.#conversions.length > 0
        ? [`converted to our definitions, the tool's own figure in brackets: ${this.#conversions.join(', ')}`]
        : []),
      ...(unknown.length > 0 ? [`not understood: ${firstNames(unknown, MAX_LISTED)}`] : []),
      ...(this.#more > 0 ? [`and ${this.#more} more remarks`] : []),
    ];
  }
}

/** Text of a file as it may be shown: one line, no control characters, not longer than a line of a table bears. */
export function printable(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
  return plain.length > MAX_TEXT ? `${plain.slice(0, MAX_TEXT)}…` : plain;
}

/** The files are known and cannot be imported: what is wrong and what to do, in one line for people. */
export class ImportRefusal extends ExpectedError {
  override readonly name = 'ImportRefusal';

  constructor(message: string, options?: ErrorOptions) {
    super('failed', message, options);
  }
}
