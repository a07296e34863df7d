import type { Command } from '../command.ts';
import { CliError, ExitCode } from '../failure.ts';
import { isHelpRequested } from '../options/help-text.ts';
import { givenArguments, valuesOf, type Option, type Options } from '../options/options.ts';

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
function subcommandsOf(commands: readonly DeclaredCommand[], name: string): readonly DeclaredCommand[] {
  return commands.flatMap((each) =>
    each.name.startsWith(`${name} `) ? [{ ...each, name: each.name.slice(name.length + 1) }] : [],
  );
}

/** The values of an option that has a few; null: any, or none. */
function choicesOf({ value }: Option<unknown>): readonly string[] | null {
  return value?.includes('|') === true ? value.split('|') : null;
}

const takesFile = ({ value }: Option<unknown>): boolean => /^(FILE|DIR|PATH)$/.test(value ?? '');

/** In single quotes of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

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
    ...commands.flatMap(bashValueCases),
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
function bashValueCases({ name, options }: DeclaredCommand): readonly string[] {
  return Object.entries(options).flatMap(([option, declared]) => {
    if (declared.value === undefined) return [];
    const choices = choicesOf(declared);
    return [
      `    ${quoted(`${name} --${option}`)}) ${choices === null ? 'return' : `words=${quoted(choices.join(' '))}`} ;;`,
    ];
  });
}

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

/** The completion of zsh, with the help of each word; as a file `_llmbench` in `fpath`, or sourced after compinit. */
export function zshCompletion(commands: readonly DeclaredCommand[]): string {
  const top = commands.filter(({ name }) => !name.includes(' '));
  const groups = top.filter(({ name }) => subcommandsOf(commands, name).length > 0);
  return `${[
    '#compdef llmbench llmbench-observability',
    '_llmbench() {',
    '  local -a list',
    '  local command="${words[2]}"',
    '  if (( CURRENT == 2 )); then',
    ...described(top, '    '),
    '    _describe -t commands command list',
    '    return',
    '  fi',
    '  case "$command" in',
    ...groups.flatMap(({ name }) => [
      `    ${name})`,
      '      if (( CURRENT == 3 )); then',
      ...described(subcommandsOf(commands, name), '        '),
      '        _describe -t commands command list',
      '        return',
      '      fi',
      `      command="${name} \${words[3]}" ;;`,
    ]),
    '  esac',
    '  case "$command ${words[CURRENT-1]}" in',
    ...commands.flatMap(zshValueCases),
    '  esac',
    '  if [[ "${words[CURRENT]}" != -* ]]; then',
    '    _files',
    '    return',
    '  fi',
    '  case "$command" in',
    ...commands.flatMap(({ name, options }) => [`    ${quoted(name)})`, `      list=(${flags(options)}) ;;`]),
    '  esac',
    '  _describe -o -t options option list',
    '}',
    'if [ "$funcstack[1]" = "_llmbench" ]; then',
    '  _llmbench "$@"',
    'else',
    '  compdef _llmbench llmbench llmbench-observability',
    'fi',
  ].join('\n')}\n`;
}

const entry = (name: string, help: string): string => quoted(`${name.replaceAll(':', '\\:')}:${help}`);

const described = (commands: readonly DeclaredCommand[], indent: string): readonly string[] => [
  `${indent}list=(${commands.map(({ name, summary }) => entry(name, summary)).join(' ')})`,
];

const flags = (options: Options): string =>
  [
    ...Object.entries(options).map(([name, { help }]) => entry(`--${name}`, help)),
    entry('--help', 'show the options'),
  ].join(' ');

function zshValueCases({ name, options }: DeclaredCommand): readonly string[] {
  return Object.entries(options).flatMap(([option, declared]) => {
    if (declared.value === undefined) return [];
    const choices = choicesOf(declared);
    const action = choices === null ? '_files' : `compadd -- ${choices.map(quoted).join(' ')}`;
    return [`    ${quoted(`${name} --${option}`)}) ${action}; return ;;`];
  });
}
