import { ExitCode } from './failure.ts';
import { helpText, isHelpRequested } from './options/help-text.ts';
import {
  givenArguments,
  valuesOf,
  type Options,
  type GivenValues,
  type OptionValues,
  type Positionals,
} from './options/options.ts';

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

/** The help of a command, and the arguments that it takes besides options. */
export interface CommandText {
  readonly usage: string;
  readonly examples: readonly string[];
  /** Below the examples. */
  readonly notes?: string;
  /** Absent: none. */
  readonly positionals?: Positionals;
}

export interface CommandArguments<O extends Options> {
  readonly options: OptionValues<O>;
  readonly positionals: readonly string[];
  /** The options that flags or the environment set. */
  readonly given: GivenValues;
}

/** The function `run` of a command: prints its help if requested, else reads its options and performs it. */
export function command<O extends Options>(
  options: O,
  { usage, examples, notes, positionals }: CommandText,
  perform: (given: CommandArguments<O>) => Promise<number>,
): (argv: readonly string[]) => Promise<number> {
  return async (argv) => {
    if (isHelpRequested(argv)) {
      process.stdout.write(helpText(usage, options, examples) + (notes === undefined ? '' : `\n${notes}`));
      return ExitCode.done;
    }
    const given = givenArguments(options, argv, process.env, positionals);
    return perform({ options: valuesOf(options, given), positionals: given.positionals, given: given.values });
  };
}
