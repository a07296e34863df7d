import { CliError, ExitCode } from './failure.ts';
import { suggestion } from './options.ts';

/** One piece of work on the stored runs; `run` gets what follows its name. */
interface RunsCommand {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ run(argv: readonly string[]): Promise<number> }>;
}

const COMMANDS: readonly RunsCommand[] = [
  { name: 'list', summary: 'the runs, newest first (also without a name)', load: () => import('./runs/list.ts') },
  { name: 'show', summary: 'one run: its result, configuration and phases', load: () => import('./runs/show.ts') },
  { name: 'query', summary: 'SQL over all runs, by DuckDB', load: () => import('./runs/query.ts') },
  { name: 'export', summary: 'requests or measures as CSV, JSONL, Parquet', load: () => import('./runs/export.ts') },
  { name: 'tag', summary: 'give tags to a run, or take them away', load: () => import('./runs/tag.ts') },
  { name: 'delete', summary: 'remove runs for good', load: () => import('./runs/delete.ts') },
  { name: 'prune', summary: 'remove the runs that no rule keeps', load: () => import('./runs/prune.ts') },
  { name: 'verify', summary: 'compare runs with their checksums', load: () => import('./runs/verify.ts') },
];

export async function run(argv: readonly string[]): Promise<number> {
  const [name] = argv;
  if (name === '--help' || name === '--help-all' || name === '-h') {
    process.stdout.write(overview());
    return ExitCode.done;
  }
  const named = name !== undefined && !name.startsWith('-');
  const command = COMMANDS.find((candidate) => candidate.name === (named ? name : 'list'));
  if (command === undefined) {
    const names = COMMANDS.map((candidate) => candidate.name);
    throw new CliError(`'${name}' is not one of ${names.join(', ')}${suggestion(name ?? '', names, '')}`);
  }
  const implementation = await command.load();
  return implementation.run(named ? argv.slice(1) : argv);
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  return [
    'usage: llmbench runs [list|show|query|export|tag|delete|prune|verify] [options]',
    '',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'RUN is the id of a run, the beginning of one, or `latest`.',
    '`llmbench runs show --help` tells the options of one of them, with examples.',
    '',
  ].join('\n');
}
