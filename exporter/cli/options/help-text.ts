import { wrapped } from '../../../core/text/words.ts';
import { CliError } from '../failure.ts';
import { environmentVariable, type Option, type Options } from './options.ts';

/** A section of options, shown by `--help=NAME`. */
export interface HelpSection {
  readonly name: string;
  readonly title: string;
  readonly options: Options;
}

/** The help of a command with many options. */
export interface SectionedHelp {
  readonly usage: string;
  readonly sections: readonly HelpSection[];
  /** The options of the short help, by name and in its order. */
  readonly common: readonly string[];
  readonly examples: readonly string[];
}

/** Longer names have a line of their own. */
const MAX_NAME = 30;
/** With the choices of a value. */
const MAX_HEAD = 60;
const MIN_COLUMNS = 60;
const MAX_COLUMNS = 120;
/** Of a file or a pipe. */
const USUAL_COLUMNS = 100;

/** Whether the arguments request help. */
export const isHelpRequested = (argv: readonly string[]): boolean =>
  argv.some((argument) => /^(-h|--help|--help-all|--help=.*)$/.test(argument));

/** The text of `--help`: usage, each option with its default and examples. */
export function helpText(usage: string, options: Options, examples: readonly string[]): string {
  return page(usage, optionLines(options), environmentLines(options), examples);
}

/**
 * The help of a command with sections: the most used options, one section with `--help=NAME`, or all with `--help-all`.
 * Throws a `CliError` for an unknown section.
 */
export function sectionedHelp({ usage, sections, common, examples }: SectionedHelp, argv: readonly string[]): string {
  const all = Object.assign({}, ...sections.map(({ options }) => options)) as Options;
  const wanted = wantedSection(argv, sections);
  const environment = environmentLines(all);
  if (wanted !== null) return page(usage, sectionLines(wanted), environment, []);
  if (argv.includes('--help-all')) {
    const lines = sections.flatMap((section, i) => [...(i === 0 ? [] : ['']), ...sectionLines(section)]);
    return page(usage, lines, environment, examples);
  }
  const shown = Object.fromEntries(common.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
  const program = usage.split(' ').slice(0, 2).join(' ');
  const more = aligned(sections.map(({ name, title }) => [`--help=${name}`, title]));
  return page(
    usage,
    ['most used options:', '', ...optionLines(shown)],
    [`all ${Object.keys(all).length} options: ${program} --help-all; or one section:`, ...more, '', ...environment],
    examples,
  );
}

/** Null when none is named. */
function wantedSection(argv: readonly string[], sections: readonly HelpSection[]): HelpSection | null {
  const at = argv.findIndex((argument) => /^(--help(=.*)?|-h)$/.test(argument));
  const [, inline] = /^--help=(.*)$/.exec(argv[at] ?? '') ?? [];
  const name = inline ?? argv[at + 1];
  const found = sections.find((section) => at >= 0 && section.name === name);
  if (found !== undefined) return found;
  if (inline === undefined) return null;
  const names = sections.map((section) => section.name);
  throw new CliError(`--help has no section '${inline}'; sections: ${names.join(', ')}`);
}

function page(usage: string, body: readonly string[], after: readonly string[], examples: readonly string[]): string {
  const shown = examples.length === 0 ? [] : ['', 'examples:', ...examples.flatMap(exampleLines)];
  return [...usageLines(usage), '', ...body, '', ...after, ...shown, ''].join('\n');
}

/** A group in parentheses stays on one line. */
function usageLines(usage: string): string[] {
  const bound = usage.replaceAll(/\([^)]*\)/g, (group) => group.replaceAll(' ', '\u00a0'));
  const [first = '', ...more] = wrapped(bound, columns() - 'usage: '.length);
  return [`usage: ${first}`, ...more.map((line) => `       ${line}`)].map((line) => line.replaceAll('\u00a0', ' '));
}

/** As a shell reads it: broken before a flag, with `\` at the end; an example with quotes stays as it is. */
function exampleLines(example: string): string[] {
  if (example.length + 2 <= columns() || /["'\n]/.test(example)) return [`  ${example}`];
  const bound = example.replaceAll(/ (?!--)/g, '\u00a0');
  const lines = wrapped(bound, columns() - 6).map((line) => line.replaceAll('\u00a0', ' '));
  return lines.map((line, i) => `${i === 0 ? '  ' : '    '}${line}${i < lines.length - 1 ? ' \\' : ''}`);
}

const sectionLines = ({ title, options }: HelpSection): string[] => [`${title}:`, '', ...optionLines(options)];

function optionLines(options: Options): string[] {
  const entries = Object.entries(options).map(([name, option]) => describedOption(name, option));
  const width = Math.min(MAX_NAME, Math.max(...entries.map(({ head }) => head.length)));
  const indent = ' '.repeat(width + 4);
  return entries.flatMap(({ head, text }) => {
    const [first = '', ...more] = wrapped(text, columns() - indent.length);
    const begin = head.length > width ? [`  ${head}`, `${indent}${first}`] : [`  ${head.padEnd(width)}  ${first}`];
    return [...begin, ...more.map((line) => `${indent}${line}`)];
  });
}

/** A few choices are shown as the value, many in the text. */
function describedOption(name: string, option: Option<unknown>): { readonly head: string; readonly text: string } {
  const { value, help } = option;
  const head = `--${name}${value === undefined ? '' : ` ${value}`}`;
  const fallback = describeDefault(option);
  if (head.length <= MAX_HEAD || value?.includes('|') !== true) return { head, text: `${help}${fallback}` };
  return { head: `--${name} CHOICE`, text: `${help}: ${value.replaceAll('|', ', ')}${fallback}` };
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
}

function environmentLines(options: Options): string[] {
  const example = Object.keys(options)[0] ?? '';
  return wrapped(
    `Every option is also an environment variable: --${example} is ${environmentVariable(example)}.`,
    columns(),
  );
}

function describeDefault({ fallback }: Option<unknown>): string {
  const reported = typeof fallback === 'number' || (typeof fallback === 'string' && fallback !== '');
  return reported ? ` (default ${fallback})` : '';
}

const columns = (): number => Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, process.stdout.columns ?? USUAL_COLUMNS));
