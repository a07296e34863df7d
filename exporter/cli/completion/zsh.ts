import type { Options } from '../options/options.ts';
import { choicesOf, quoted, subcommandsOf, type DeclaredCommand } from './declared-commands.ts';

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
    ...commands.flatMap(valueCases),
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

function valueCases({ name, options }: DeclaredCommand): readonly string[] {
  return Object.entries(options).flatMap(([option, declared]) => {
    if (declared.value === undefined) return [];
    const choices = choicesOf(declared);
    const action = choices === null ? '_files' : `compadd -- ${choices.map(quoted).join(' ')}`;
    return [`    ${quoted(`${name} --${option}`)}) ${action}; return ;;`];
  });
}
