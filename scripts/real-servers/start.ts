/** Installs and starts a real server, prints its addresses and stays until SIGTERM or Ctrl-C. */
import { namedArguments, readScriptOptions, wholeNumber } from '../script-options.ts';
import { installFolder, freePort } from './processes.ts';
import type { RealServer } from './real-server.ts';
import { realServer, SERVER_LIST } from './servers.ts';

const USAGE = `usage: node scripts/real-servers/start.ts SERVER [options] [-- ARGUMENT…]

Installs SERVER on its first use, starts it on 127.0.0.1, prints its addresses and runs until SIGTERM or Ctrl-C.
Arguments after -- go to the server's own command (dynamo: to its workers).

${SERVER_LIST}

  --folder DIR    install into DIR/SERVER (default .cache/real-servers/SERVER)
  --port N        port of the API (default a free port)
  --install-only  install and end
`;

interface Options {
  readonly server: RealServer;
  readonly folder: string | undefined;
  readonly port: number;
  readonly installOnly: boolean;
  readonly args: readonly string[];
}

const { server, folder, port, installOnly, args } = options();
try {
  await serve();
} catch (error) {
  process.stderr.write(`${server.name}: ${(error as Error).message}\n`);
  process.exit(1);
}

async function serve(): Promise<void> {
  const installed = installFolder(server.name, folder);
  process.stderr.write(`${server.name}: installing into ${installed} unless it is there\n`);
  await server.install(installed);
  if (installOnly) return;
  const stopped = new Promise<null>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(null));
  });
  process.stderr.write(`${server.name}: starting\n`);
  const starting = server.start({ folder: installed, port: await freePort(port), args });
  // A signal during the start: `exit` ends the processes.
  if ((await Promise.race([starting, stopped])) === null) process.exit(0);
  const running = await starting;
  for (const [name, address] of running.addresses) process.stdout.write(`${name.padEnd(10)} ${address}\n`);
  process.stdout.write(`${'model'.padEnd(10)} ${running.model}\n`);
  const failure = await Promise.race([stopped, running.ended]);
  await running.stop();
  if (failure !== null) throw new Error(failure);
}

function options(): Options {
  const [own, args] = split(process.argv.slice(2));
  const known = {
    folder: { type: 'string' },
    port: { type: 'string', default: '0' },
    'install-only': { type: 'boolean', default: false },
  } as const;
  return readScriptOptions({ usage: USAGE, options: known, args: own }, (values, positionals) => ({
    server: realServer(namedArguments(positionals, ['SERVER']).SERVER),
    folder: values.folder,
    port: wholeNumber('port', values.port, { min: 0, max: 65_535 }),
    installOnly: values['install-only'],
    args,
  }));
}

/** The arguments before and after `--`. */
function split(words: readonly string[]): [string[], string[]] {
  const at = words.indexOf('--');
  return at < 0 ? [[...words], []] : [words.slice(0, at), words.slice(at + 1)];
}
