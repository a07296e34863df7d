import { choicesOf, quoted, subcommandsOf, takesFile, type DeclaredCommand } from './declared-commands.ts';

const PROGRAM = 'complete -c llmbench';

/** The completion of fish. */
export function fishCompletion(commands: readonly DeclaredCommand[]): string {
  return `${['# llmbench completion fish', ...commands.flatMap((command) => linesOf(command, commands))].join('\n')}\n`;
}

function linesOf({ name, summary, options }: DeclaredCommand, commands: readonly DeclaredCommand[]): readonly string[] {
  const [parent = '', own] = name.split(' ');
  const siblings = subcommandsOf(commands, parent).map((each) => each.name);
  const isGiven = `__fish_seen_subcommand_from ${parent}`;
  const isWanted =
    own === undefined
      ? '__fish_use_subcommand'
      : `${isGiven}; and not __fish_seen_subcommand_from ${siblings.join(' ')}`;
  const isInside = own === undefined ? isGiven : `${isGiven}; and __fish_seen_subcommand_from ${own}`;
  return [
    `${PROGRAM} -n ${quoted(isWanted)} -f -a ${own ?? parent} -d ${quoted(summary)}`,
    ...Object.entries(options).map(([option, declared]) => {
      const choices = choicesOf(declared);
      const values = choices === null ? '' : ` -a ${quoted(choices.join(' '))}`;
      const takes = declared.value === undefined ? '' : takesFile(declared) ? ' -r -F' : ' -x';
      return `${PROGRAM} -n ${quoted(isInside)} -l ${option}${takes}${values} -d ${quoted(declared.help)}`;
    }),
  ];
}
