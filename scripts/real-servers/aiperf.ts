/** Installs NVIDIA AIPerf and runs it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { namedArguments, readScriptOptions } from '../script-options.ts';
import { installFolder, PythonEnvironment } from './processes.ts';

const VERSION = '0.13.0';
const USAGE = `usage: node scripts/real-servers/aiperf.ts [--folder DIR] [--install-only] -- ARGUMENT…

Installs AIPerf ${VERSION} on its first use and runs \`aiperf\` with the arguments after --.

  --folder DIR    install into DIR/aiperf (default .cache/real-servers/aiperf)
  --install-only  install and print the path of the program
`;

const { folder, installOnly, args } = options();
const python = new PythonEnvironment(join(installFolder('aiperf', folder), 'venv'));
const program = python.program('aiperf');
try {
  await python.ensure(`aiperf ${VERSION}`, { from: [3, 10], to: [3, 13] }, () => python.install(`aiperf==${VERSION}`));
} catch (error) {
  process.stderr.write(`aiperf: ${(error as Error).message}\n`);
  process.exit(1);
}
if (installOnly) process.stdout.write(`${program}\n`);
else process.exitCode = run();

/** Runs it to its end and returns its exit code. */
function run(): number {
  const env = { ...process.env };
  // AIPerf 0.13.0 refuses a local folder as --tokenizer when these are set.
  delete env['HF_HUB_OFFLINE'];
  delete env['TRANSFORMERS_OFFLINE'];
  return spawnSync(program, args, { stdio: 'inherit', env }).status ?? 1;
}

function options(): { folder: string | undefined; installOnly: boolean; args: readonly string[] } {
  const at = process.argv.indexOf('--');
  const end = at < 0 ? process.argv.length : at;
  const args = process.argv.slice(end + 1);
  const known = { folder: { type: 'string' }, 'install-only': { type: 'boolean', default: false } } as const;
  return readScriptOptions(
    { usage: USAGE, options: known, args: process.argv.slice(2, end) },
    (values, positionals) => {
      namedArguments(positionals, []);
      if (args.length === 0 && !values['install-only']) throw new Error('arguments of aiperf are required after --');
      return { folder: values.folder, installOnly: values['install-only'], args };
    },
  );
}
