import type { Command } from '../command.ts';
import { bashCompletion, declaredCommands, fishCompletion, zshCompletion } from '../completion.ts';
import { CliError, ExitCode } from '../failure.ts';
import { isHelpRequested } from '../options/help-text.ts';
import { givenArguments, valuesOf } from '../options/options.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

const HELP = `usage: llmbench completion bash|zsh|fish

Prints a script that completes commands, options and their values. Install it once, and again after an update:

  llmbench completion bash > ~/.local/share/bash-completion/completions/llmbench
  llmbench completion zsh > "\${fpath[1]}/_llmbench"
  llmbench completion fish > ~/.config/fish/completions/llmbench.fish
`;

/** Prints the completion script of a shell. */
export async function run(argv: readonly string[], commands: readonly Command[] = []): Promise<number> {
  if (isHelpRequested(argv)) {
    process.stdout.write(HELP);
    return ExitCode.done;
  }
  const given = givenArguments({}, argv, process.env, { name: 'shell', max: 1 });
  valuesOf({}, given);
  const [shell = ''] = given.positionals;
  if (!Object.hasOwn(SHELLS, shell)) throw new CliError('the shell is required: llmbench completion bash|zsh|fish');
  process.stdout.write(SHELLS[shell as keyof typeof SHELLS](await declaredCommands(commands)));
  return ExitCode.done;
}
