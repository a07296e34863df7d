import type { Command } from '../command.ts';
import type { Option, Options } from '../options/options.ts';

/** A command with its options, as they are declared. */
export interface DeclaredCommand {
  /** `run`, or `runs show`. */
  readonly name: string;
  readonly summary: string;
  readonly options: Options;
}

/** Commands that also take the options of `run`. */
const TAKE_RUN_OPTIONS = new Set(['ab']);

/** The commands, each followed by its subcommands. Loads the modules of all. */
export async function declaredCommands(commands: readonly Command[]): Promise<readonly DeclaredCommand[]> {
  const declared: DeclaredCommand[] = [];
  for (const { name, summary, load } of commands) {
    const { OPTIONS = {}, SUBCOMMANDS = [] } = await load();
    declared.push({ name, summary, options: OPTIONS });
    for (const each of SUBCOMMANDS) {
      const { OPTIONS: options = {} } = await each.load();
      declared.push({ name: `${name} ${each.name}`, summary: each.summary, options });
    }
  }
  const ofRun = declared.find(({ name }) => name === 'run')?.options ?? {};
  return declared.map((each) =>
    TAKE_RUN_OPTIONS.has(each.name) ? { ...each, options: { ...ofRun, ...each.options } } : each,
  );
}

/** The subcommands of a command, by their own names. */
export function subcommandsOf(commands: readonly DeclaredCommand[], name: string): readonly DeclaredCommand[] {
  return commands.flatMap((each) =>
    each.name.startsWith(`${name} `) ? [{ ...each, name: each.name.slice(name.length + 1) }] : [],
  );
}

/** The values of an option that has a few; null: any, or none. */
export function choicesOf({ value }: Option<unknown>): readonly string[] | null {
  return value?.includes('|') === true ? value.split('|') : null;
}

export const takesFile = ({ value }: Option<unknown>): boolean => /^(FILE|DIR|PATH)$/.test(value ?? '');

/** In single quotes of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
