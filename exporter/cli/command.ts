import type { Options } from './options/options.ts';

/** A command; `run` gets the arguments after its name, and all commands, and returns the exit code. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
  /** The text of `--help`, without what only the command itself requires; absent: the command prints it. */
  readonly loadHelp?: (argv: readonly string[]) => Promise<string>;
}

interface CommandModule {
  run(argv: readonly string[], commands?: readonly Command[]): Promise<number>;
  /** Its options, for the completion of shells; absent: none. */
  readonly OPTIONS?: Options;
  readonly SUBCOMMANDS?: readonly Command[];
}
