import { wrapped } from '../../core/text/wrapped.ts';

/** Writes a sentence for people on lines of its own: on a terminal broken at spaces, not within a word. */
export function writeMessage(out: NodeJS.WriteStream, text: string): void {
  const width = out.isTTY && out.columns > 0 ? out.columns : Infinity;
  const lines = text.split('\n').flatMap((line) => (line.length <= width ? [line] : wrapped(line, width)));
  out.write(`${lines.join('\n')}\n`);
}
