/** Entry point: finds the command and imports only that one. */
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { ExitCode, reportFailure } from './failure.ts';
import { writeTerminalText } from './terminal-text.ts';

export async function main(argv: readonly string[]): Promise<void> {
  // A reader may close the pipe early (`| head`).
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
    process.stderr.write(`llmbench: stdout cannot be written: ${error.message}\n`);
    process.exit(ExitCode.failed);
  });
  // Progress and notes are optional: a closed terminal or a full disk behind stderr must not end a run.
  process.stderr.on('error', () => undefined);
  writeTerminalText(process.stderr);
  // What is piped is data, which stays as it is.
  if (process.stdout.isTTY) writeTerminalText(process.stdout);
  const [name, ...rest] = argv[0] === 'help' && argv.length > 1 ? [...argv.slice(1), '--help'] : argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(overview());
    process.exitCode = name === undefined ? ExitCode.refused : ExitCode.done;
    return;
  }
  if (name === '--version' || name === '-V' || name === 'version') {
    const { VERSION } = await import('./version.ts');
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) await executeTranslated(argv);
  else await execute(command, rest);
}

/** A pasted command of another tool, or a word that is no command. */
async function executeTranslated(argv: readonly string[]): Promise<void> {
  const [name = ''] = argv;
  const run = COMMANDS.find((command) => command.name === 'run');
  try {
    const { translatedRun } = await import('./peer-options/translate.ts');
    const own = translatedRun(argv);
    if (run !== undefined && own !== null) {
      await execute(run, own);
      return;
    }
  } catch (error) {
    process.exitCode = reportFailure(`llmbench ${name}`, error);
    return;
  }
  const { nearestNames } = await import('../../core/text/nearest-names.ts');
  const names = COMMANDS.map((each) => each.name);
  const [nearest] = OTHER_NAMES_OF_RUN.includes(name) ? ['run'] : nearestNames(name, names, 1);
  const hint = nearest === undefined ? `available: ${names.join(', ')}` : `did you mean ${nearest}?`;
  process.stderr.write(`llmbench: unknown command '${name}'; ${hint}\n`);
  process.exitCode = ExitCode.refused;
}

/** What AIPerf, GenAI-Perf, vLLM, SGLang and GuideLLM call it. */
const OTHER_NAMES_OF_RUN = ['profile', 'bench', 'benchmark'];

async function execute(command: Command, argv: readonly string[]): Promise<void> {
  try {
    if (command.loadHelp !== undefined && (await import('./options/help-text.ts')).isHelpRequested(argv)) {
      process.stdout.write(await command.loadHelp(argv));
      process.exitCode = ExitCode.done;
      return;
    }
    const implementation = await command.load();
    process.exitCode = await implementation.run(argv, COMMANDS);
  } catch (error) {
    process.exitCode = reportFailure(`llmbench ${command.name}`, error);
  }
}

function overview(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length));
  const lines = COMMANDS.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return [
    'llmbench: benchmark LLM inference servers and see the result beside their own metrics, in Prometheus and Grafana',
    '',
    'usage: llmbench <command> [options]',
    '',
    ...lines,
    '',
    '`llmbench <command> --help` shows the options of a command, with examples.',
    '',
  ].join('\n');
}
