import { writeMessage, canRedraw } from '../terminal-text.ts';

type Write = NodeJS.WriteStream['write'];

/**
 * The last lines of a terminal, redrawn in place. Whatever else is written to it while they are drawn, by us or by
 * others of this process, stays above them.
 */
export class LiveLines {
  readonly out: NodeJS.WriteStream;
  readonly #others: readonly NodeJS.WriteStream[];
  #drawn: readonly string[] = [];
  #unguard: (() => void)[] = [];

  /** `others`: streams that may be the same terminal. */
  constructor(out: NodeJS.WriteStream, others: readonly NodeJS.WriteStream[] = []) {
    this.out = out;
    this.#others = others;
  }

  /** A line that stays; on a terminal it is broken at spaces. */
  print(line: string): void {
    this.clear();
    writeMessage(this.out, line);
  }

  /** Replaces the lines that were drawn before. */
  draw(lines: readonly string[]): void {
    this.clear();
    this.out.write(`${lines.join('\n')}\n`);
    this.#drawn = lines;
    this.#unguard = [this.out, ...this.#others.filter(({ isTTY }) => isTTY)].map((stream) => this.#guarded(stream));
  }

  /** The terminal itself may have written into the line of the cursor: `^C`. */
  clear(): void {
    for (const unguard of this.#unguard) unguard();
    this.#unguard = [];
    const rows = this.#rows();
    this.#drawn = [];
    if (rows > 0) this.out.write(`\r\x1b[${rows}A\x1b[J`);
    else if (canRedraw(this.out)) this.out.write('\r\x1b[K');
  }

  /** Rows of the screen that the lines take, in a window that may have become narrower. */
  #rows(): number {
    const width = this.out.columns || Infinity;
    return this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0);
  }

  /** The first write of others removes the lines, which the next drawing brings back. */
  #guarded(stream: NodeJS.WriteStream): () => void {
    const write: unknown = Reflect.get(stream, 'write');
    stream.write = ((...values: Parameters<Write>) => {
      this.clear();
      return stream.write(...values);
    }) as Write;
    return () => void Reflect.set(stream, 'write', write);
  }
}
