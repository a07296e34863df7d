import type { Command } from '../../exporter/cli/command.ts';
import { COMMANDS } from '../../exporter/cli/commands.ts';

/** Commands that pass options on to `llmbench run`. */
const TAKE_RUN_OPTIONS = ['ab', 'check'];

/** What the program answers to `--help-all`: by command (`run`, `runs list`, …), the flags that it names. */
export async function flagsByCommand(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const flags = new Map<string, ReadonlySet<string>>();
  for (const command of COMMANDS) {
    const { name } = command;
    const help = await helpOf(command);
    const parts = partsOf(help, name);
    if (parts.length === 0) flags.set(name, flagsIn(help));
    const own = new Set<string>();
    for (const part of parts) {
      const found = flagsIn(await helpOf(command, part));
      flags.set(`${name} ${part}`, found);
      for (const flag of found) own.add(flag);
    }
    if (parts.length > 0) flags.set(name, own);
  }
  for (const name of TAKE_RUN_OPTIONS) {
    flags.set(name, new Set([...(flags.get(name) ?? []), ...(flags.get('run') ?? [])]));
  }
  return flags;
}

/** The names of `usage: llmbench runs [list|show|…]`. */
function partsOf(help: string, name: string): string[] {
  const [, list] = new RegExp(`^usage: llmbench ${name} \\[([a-z|]+)\\] \\[options\\]$`, 'm').exec(help) ?? [];
  return list?.includes('|') ? list.split('|') : [];
}

const flagsIn = (help: string): Set<string> =>
  new Set([
    '--help',
    '--help-all',
    ...Array.from(help.matchAll(/^ {2}(--[a-z][a-z0-9-]*)/gm), ([, flag]) => flag ?? ''),
  ]);

/** Runs in this process: a process per command would take seconds. */
async function helpOf({ load, loadHelp }: Command, ...part: readonly string[]): Promise<string> {
  const argv = [...part, '--help-all'];
  if (loadHelp !== undefined) return loadHelp(argv);
  const command = await load();
  const { stdout } = process;
  const write = stdout.write.bind(stdout);
  let text = '';
  stdout.write = (piece: string | Uint8Array): boolean => {
    text += String(piece);
    return true;
  };
  try {
    await command.run(argv);
  } finally {
    stdout.write = write;
  }
  return text;
}
