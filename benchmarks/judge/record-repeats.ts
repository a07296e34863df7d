/**
 * Records repeats of one scenario on a real server on which nothing changes: what the judge reads of each run, for the bench
 * `judge`. A recording that was interrupted goes on with the runs of its --runs-dir.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../exporter/store/run-store.ts';
import { installFolder, freePort } from '../../scripts/real-servers/processes.ts';
import { realServer, SERVER_LIST } from '../../scripts/real-servers/servers.ts';
import { namedArguments, readScriptOptions, wholeNumber } from '../../scripts/script-options.ts';
import { runProgram } from '../child-program.ts';
import { repeatsFile, repeatsText } from './repeats-file.ts';

const LLMBENCH = fileURLToPath(new URL('../../bin/llmbench.js', import.meta.url));
const LOAD = ['--concurrency', '4', '--isl', '256', '--osl', '16'];

const USAGE = `usage: node benchmarks/judge/record-repeats.ts [options] SERVER FILE

Starts SERVER, makes repeats of one run and writes what the judge reads of them to FILE.

${SERVER_LIST}

  --repeats N     how many (default 40)
  --requests N    requests per run (default 150)
  --runs-dir DIR  keep the runs there; completed ones that are there count (default a temporary folder)
  --folder DIR    where servers are installed (default .cache/real-servers)
`;

const { server, file, repeats, requests, runsDirectory, folder } = options();
const runOptions = [...server.runArgs, ...LOAD, '--request-count', String(requests)];
// `exit` ends the processes of the server.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));
const runs = runsDirectory ?? mkdtempSync(join(tmpdir(), 'llmbench-repeats-'));
try {
  if ((await completed()).length < repeats) await measure();
  const kept = (await completed()).slice(0, repeats);
  const content = repeatsFile(kept, { server: server.description, options: runOptions.join(' ') });
  writeFileSync(file, repeatsText(content));
  process.stdout.write(`${content.runs.length} runs in ${file}\n`);
} catch (error) {
  process.stderr.write(`${server.name}: ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  if (runsDirectory === undefined) rmSync(runs, { recursive: true });
}

/** Starts the server and makes the runs that are missing. */
async function measure(): Promise<void> {
  const installed = installFolder(server.name, folder);
  await server.install(installed);
  const running = await server.start({ folder: installed, port: await freePort(), args: [] });
  try {
    const tokenizer = running.addresses.find(([name]) => name === 'tokenizer')?.[1];
    const run = [
      ...['run', '--url', running.url, '--model', running.model, ...runOptions, '--server-metrics', ...running.metrics],
      ...(tokenizer === undefined ? [] : ['--tokenizer', tokenizer]),
      ...['--scenario', `${server.name}-repeat`, '--runs-dir', runs],
    ];
    for (let made = (await completed()).length; made < repeats; made++) {
      await runProgram(process.execPath, [LLMBENCH, ...run], { timeoutSeconds: 300 });
      process.stdout.write(`run ${made + 1} of ${repeats}\n`);
    }
  } finally {
    await running.stop();
  }
}

/** The completed runs with their results, oldest first. */
async function completed() {
  const { store } = await openStore(runs);
  const stored = await Promise.all(
    (await store.runIds())
      .sort()
      .map(async (id) => ({ run: await store.readRun(id), result: await store.readResult(id) })),
  );
  return stored.filter(({ run }) => run.status === 'completed');
}

function options() {
  const known = {
    repeats: { type: 'string', default: '40' },
    requests: { type: 'string', default: '150' },
    'runs-dir': { type: 'string' },
    folder: { type: 'string' },
  } as const;
  return readScriptOptions({ usage: USAGE, options: known }, ({ repeats, requests, ...values }, positionals) => {
    const { SERVER, FILE } = namedArguments(positionals, ['SERVER', 'FILE']);
    return {
      server: realServer(SERVER),
      file: FILE,
      repeats: wholeNumber('repeats', repeats, { min: 1 }),
      requests: wholeNumber('requests', requests, { min: 1 }),
      runsDirectory: values['runs-dir'],
      folder: values.folder,
    };
  });
}
