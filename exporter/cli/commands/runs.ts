import type { Command } from '../command.ts';
import { CliError, ExitCode } from '../failure.ts';
import { suggestion } from '../options/options.ts';

export const SUBCOMMANDS: readonly Command[] = [
  { name: 'list', summary: 'list the runs, newest first (the default)', load: () => import('./runs/list.ts') },
  { name: 'show', summary: 'show one run: result, configuration and phases', load: () => import('./runs/show.ts') },
  { name: 'query', summary: 'query all runs with SQL (DuckDB)', load: () => import('./runs/query.ts') },
  {
    name: 'export',
    summary: 'export requests or measures as CSV, JSONL or Parquet',
    load: () => import('./runs/export.ts'),
  },
  { name: 'tag', summary: 'add tags to a run, or remove them', load: () => import('./runs/tag.ts') },
  { name: 'delete', summary: 'delete runs permanently', load: () => import('./runs/delete.ts') },
  { name: 'prune', summary: 'delete the runs that no rule keeps', load: () => import('./runs/prune.ts') },
  { name: 'push', summary: 'upload runs to object storage', load: () => import('./runs/push.ts') },
  { name: 'pull', summary: 'download runs from object storage', load: () => import('./runs/pull.ts') },
  { name: 'verify', summary: 'verify the checksums of runs', load: () => import('./runs/verify.ts') },
];

export async function run(argv: readonly string[]): Promise<number> {
  const [name] = argv;
  if (name === '--help' || name === '--help-all' || name === '-h') {
    process.stdout.write(overview());
    return ExitCode.done;
  }
  const named = name !== undefined && !name.startsWith('-');
  const command = SUBCOMMANDS.find((candidate) => candidate.name === (named ? name : 'list'));
  if (command === undefined) {
    const names = SUBCOMMANDS.map((candidate) => candidate.name);
    throw new CliError(`'${name}' is not one of ${names.join(', ')}${suggestion(name ?? '', names, '')}`);
  }
  const implementation = await command.load();
  return implementation.run(named ? argv.slice(1) : argv);
}

function overview(): string {
  const width = Math.max(...SUBCOMMANDS.map(({ name }) => name.length));
  return [
    'usage: llmbench runs [list|show|query|export|tag|delete|prune|push|pull|verify] [options]',
    '',
    ...SUBCOMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'RUN is a run id, a unique prefix of one, or `latest`.',
    '`llmbench runs show --help` shows the options of a subcommand, with examples.',
    '',
  ].join('\n');
}
