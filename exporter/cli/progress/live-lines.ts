/** The last lines of a terminal, redrawn in place; printed lines stay above them. */
export class LiveLines {
  readonly out: NodeJS.WriteStream;
  #drawn = 0;

  constructor(out: NodeJS.WriteStream) {
    this.out = out;
  }

  /** A line that stays. */
  print(line: string): void {
    this.clear();
    this.out.write(`${line}\n`);
  }

  /** Replaces the lines that were drawn before. */
  draw(lines: readonly string[]): void {
    this.clear();
    this.out.write(`${lines.join('\n')}\n`);
    this.#drawn = lines.length;
  }

  clear(): void {
    if (this.#drawn > 0) this.out.write(`\x1b[${this.#drawn}A\x1b[J`);
    this.#drawn = 0;
  }
}
