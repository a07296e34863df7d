import { choicesOf, quoted, subcommandsOf, type DeclaredCommand } from './declared-commands.ts';

/** The completion of bash, 3.2 or newer; where it knows no word, bash completes file names. */
export function bashCompletion(commands: readonly DeclaredCommand[]): string {
  const names = commands.filter(({ name }) => !name.includes(' ')).map(({ name }) => name);
  const groups = names.filter((name) => subcommandsOf(commands, name).length > 0);
  return `${[
    '# llmbench completion bash',
    '_llmbench() {',
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}" words=""',
    '  COMPREPLY=()',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W ${quoted([...names, 'help', '--help', '--version'].join(' '))} -- "$cur"))`,
    '    return',
    '  fi',
    '  case "$command" in',
    ...groups.flatMap((name) => groupCase(name, commands)),
    '  esac',
    '  case "$command $prev" in',
    ...commands.flatMap(valueCases),
    '  esac',
    '  if [ -n "$words" ]; then',
    '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '    return',
    '  fi',
    '  case "$cur" in -*) ;; *) return ;; esac',
    '  case "$command" in',
    ...commands.map(
      ({ name, options }) => `    ${quoted(name)}) words=${quoted([...flagsOf(options), '--help'].join(' '))} ;;`,
    ),
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    'complete -o bashdefault -o default -F _llmbench llmbench llmbench-observability',
  ].join('\n')}\n`;
}

const flagsOf = (options: DeclaredCommand['options']): string[] => Object.keys(options).map((name) => `--${name}`);

function groupCase(name: string, commands: readonly DeclaredCommand[]): readonly string[] {
  const own = subcommandsOf(commands, name).map((each) => each.name);
  return [
    `    ${name})`,
    '      if [ "$COMP_CWORD" -eq 2 ]; then',
    `        COMPREPLY=($(compgen -W ${quoted([...own, '--help'].join(' '))} -- "$cur"))`,
    '        return',
    '      fi',
    `      command="${name} \${COMP_WORDS[2]}" ;;`,
  ];
}

/** After an option with a value: its choices, or a return, so that bash completes file names. */
function valueCases({ name, options }: DeclaredCommand): readonly string[] {
  return Object.entries(options).flatMap(([option, declared]) => {
    if (declared.value === undefined) return [];
    const choices = choicesOf(declared);
    return [
      `    ${quoted(`${name} --${option}`)}) ${choices === null ? 'return' : `words=${quoted(choices.join(' '))}`} ;;`,
    ];
  });
}
