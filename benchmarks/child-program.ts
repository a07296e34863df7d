import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';

const STDERR_SHOWN = 400;

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** As `spawn`, for a program that must not outlive this one. */
export function startProgram(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  running.add(child);
  child.once('close', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
}

export interface ProgramOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Rejects, with the end of its stderr, when it fails or takes too long. */
export function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env = {}, timeoutSeconds = 120 }: ProgramOptions = {},
): Promise<ProgramOutput> {
  const child = startProgram(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutSeconds * 1000,
    killSignal: 'SIGKILL',
  });
  return outputOf(child, [command, ...args].join(' '));
}

/** What a started program prints until its end. Rejects as `runProgram` does; `name` is for the message. */
export function outputOf(child: ChildProcess, name: string): Promise<ProgramOutput> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve({ stdout, stderr });
      else reject(new Error(`${name}: ended with ${signal ?? `code ${code}`}: ${stderr.trim().slice(-STDERR_SHOWN)}`));
    });
  });
}

/** A line of JSON that a program printed. */
export type JsonLine = Readonly<Record<string, unknown>>;

/** The lines of a program's output that are JSON objects. */
export function jsonLines(stdout: string): JsonLine[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as JsonLine);
}

/** The last one. Throws when there is none. */
export function lastJsonLine(stdout: string): JsonLine {
  const last = jsonLines(stdout).at(-1);
  if (last === undefined) throw new Error(`no line of JSON in the output: ${stdout.slice(-STDERR_SHOWN)}`);
  return last;
}

/** A number of such a line. Throws when it is missing. */
export function numberOf(line: JsonLine, key: string): number {
  const value = line[key];
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new Error(`${key} is missing in ${JSON.stringify(line)}`);
  return value;
}
