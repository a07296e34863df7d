import { wrapped } from '../../core/text/words.ts';
import type { DepartureLines } from '../run/run-group.ts';
import { ownValue } from '../../core/text/nearest-names.ts';
import { type Print, COLORED_VERDICTS, paintOn } from './tables/layout.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const ASCII: Readonly<Record<string, string>> = {
  ...{ '…': '...', '·': '|', '–': '-', '—': '-', '−': '-', '÷': '/', '×': 'x', '→': '->', '≤': '<=', '≥': '>=' },
  ...{ '±': '+/-', '∞': 'inf', µ: 'u', μ: 'u', '’': "'", '█': '#', '░': '.', '▁': '_', '▂': '_', '▃': '-', '▄': '-' },
  ...{ '▅': '=', '▆': '=', '▇': '#', '🟢': '(+)', '🟠': '(~)', '🔵': '(-)', '🔴': '(!)', '⚪': '(?)' },
};
const MAPPED = new RegExp(`[${Object.keys(ASCII).join('')}]`, 'gu');
/** Control characters except those that lines need, and marks that reverse the direction of text. */
const HARMFUL = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;
/** What our own progress writes, alone, before it draws again. */
const ESCAPE = '\x1b';
const REDRAW = new RegExp(`^\\r(${ESCAPE}\\[K|${ESCAPE}\\[\\d+A${ESCAPE}\\[J)$`);
/** The only color sequences that are written: our own, around our own words. */
const IN_COLOR = new RegExp(`(${COLORED_VERDICTS.join('|').replaceAll('[', '\\[')})`);

/** Whether the terminal is limited to ASCII: a locale that is set to another character set than UTF-8, or a dumb one. */
export function isAsciiOnly({ LC_ALL, LC_CTYPE, LANG, TERM }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return TERM === 'dumb' || (locale !== '' && !/utf-?8/i.test(locale));
}

/** Text for people: control characters, which could write into the terminal, are shown as `\x1b`. */
export function terminalText(text: string, asciiOnly: boolean): string {
  if (REDRAW.test(text)) return text;
  // Every second part is a verdict in its color, which nothing else that is written can be.
  const harmless = text
    .split(IN_COLOR)
    .map((part, i) => (i % 2 === 1 ? part : withoutHarm(part)))
    .join('');
  return asciiOnly ? harmless.replace(MAPPED, (character) => ownValue(ASCII, character) ?? '?') : harmless;
}

function withoutHarm(text: string): string {
  return text.replace(HARMFUL, (character) => {
    const code = character.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`;
  });
}

/** Whether lines that were written can be replaced. */
export function canRedraw(out: Pick<NodeJS.WriteStream, 'isTTY'>, env: Environment = process.env): boolean {
  return out.isTTY === true && env['TERM'] !== 'dumb';
}

/** Every text that is written to the stream from now on is one for people. Bytes are left as they are. */
export function writeTerminalText(out: NodeJS.WriteStream, env: Environment = process.env): void {
  const asciiOnly = isAsciiOnly(env);
  const write = out.write.bind(out) as (...values: unknown[]) => boolean;
  out.write = (text: unknown, ...rest: unknown[]) =>
    write(typeof text === 'string' ? terminalText(text, asciiOnly) : text, ...rest);
}

/** Writes a sentence for people on lines of its own: on a terminal broken at spaces, not within a word. */
export function writeMessage(out: NodeJS.WriteStream, text: string): void {
  const width = out.isTTY && out.columns > 0 ? out.columns : Infinity;
  const lines = text.split('\n').flatMap((line) => (line.length <= width ? [line] : wrapped(line, width)));
  out.write(`${lines.join('\n')}\n`);
}

/** How the result is printed on standard output: a terminal has a width and may have colors. */
export function printing(): Print {
  return { width: process.stdout.columns ?? Infinity, paint: paintOn(process.stdout) };
}

/**
 * Shows a line once: what is the same for all runs of a command is not repeated by each. Of a line that begins with something
 * new, the sentences that explain it are shown once.
 */
export function saidOnce(say: (line: string) => void): (line: string) => void {
  const said = new Set<string>();
  return (line) => {
    const [first = '', ...others] = line.split(/(?<=\.) (?=[A-Z])/);
    const sentences = said.has(first) ? [first, ...others] : [first, ...others.filter((each) => !said.has(each))];
    const isKnown = [first, ...others].every((each) => said.has(each));
    for (const sentence of sentences) said.add(sentence);
    if (!isKnown) say(sentences.join(' '));
  };
}

/** The lines of departed runs, each once; `runs`: how many runs the command has. */
export function departureTexts(lines: DepartureLines, runs: number): readonly string[] {
  return [...lines].map(([line, about]) => (about > 1 ? `${line} (${about} of ${runs} runs)` : line));
}
