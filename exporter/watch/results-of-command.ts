import type { ImportListener, ImportOutcome } from '../imports/import-files.ts';
import type { ImportedRun, ImportedServers, ServersOfRun } from '../imports/importer.ts';
import { serversOfRun } from '../imports/servers-of-stores.ts';
import type { Collection } from '../servers/collection.ts';
import type { RunPlan } from '../store/run-writer.ts';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { ExpectedError, codeOf, reasonOf } from '../errors/expected-error.ts';
import { stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { findFiles } from '../imports/find-files.ts';

/** What was collected from the servers over a window; `isLast`: no further request of the command follows it. */
export type CollectionOver = (window: Collection['window'], isLast: boolean) => Collection;

/** What is known of a command that has ended. */
export interface CommandFacts {
  readonly plan: Pick<RunPlan, 'run_id' | 'start' | 'target' | 'tool'>;
  /** When it began and ended, milliseconds since 1970. */
  readonly start_ms: number;
  readonly end_ms: number;
  /** The same in nanoseconds since the start of the run. */
  readonly window: Collection['window'];
  readonly end: CommandEnd;
  /** Null: no servers were collected. */
  readonly collected: CollectionOver | null;
}

/** Times of results are often whole seconds. */
const ROUNDING_MS = 1_000;

/** The results that a command wrote, as runs: the first is the run of the command, further ones are runs of their own. */
export class ResultsOfCommand implements ImportListener {
  readonly #facts: CommandFacts;
  #isFilled = false;
  /** Whether there is one result. */
  #isOnly = false;
  /** How many runs of an older file are the command's; null: its files are new. */
  #added: number | null = null;

  constructor(facts: CommandFacts) {
    this.#facts = facts;
  }

  /** Whether the run of the command has a result. */
  get isFilled(): boolean {
    return this.#isFilled;
  }

  planned(_bytes: number, groups: number): void {
    this.#isOnly = groups === 1;
  }

  read(): void {
    // Results are read within seconds.
  }

  done(outcome: ImportOutcome): void {
    this.#isFilled ||= outcome.status === 'imported' && outcome.run_id === this.#facts.plan.run_id;
  }

  /** Of a file that is older than the command, the runs that it added: those of its time, else the last one. */
  newest(runs: readonly ImportedRun[]): ReadonlySet<string | null> {
    const dated = runs.filter(({ start }) => start !== null);
    const added = dated.length > 0 ? dated.filter(({ start }) => this.#isOfCommand(start)) : runs.slice(-1);
    this.#added = added.length;
    return new Set(added.map(({ part }) => part));
  }

  assign(imported: ImportedRun): { readonly imported: ImportedRun; readonly runId: string | null } {
    const { notes } = imported;
    const isTimed = this.#isOfCommand(imported.start);
    if (imported.start !== null && !isTimed)
      notes.add(`the file reports the start ${imported.start}, when the command was not running`);
    const { plan, end, collected } = this.#facts;
    const hasFailed = end.failure !== null;
    const isLast = this.#isOnly && (this.#added === null ? imported.part === null : this.#added === 1);
    const start = isTimed ? imported.start : plan.start;
    const run: ImportedRun = {
      ...imported,
      status: hasFailed ? 'aborted' : imported.status,
      failure: hasFailed ? end.failure : imported.failure,
      start,
      target: {
        ...imported.target,
        origin: imported.target.origin ?? plan.target.origin,
        system: imported.target.system ?? plan.target.system,
      },
      servers:
        collected === null ? imported.servers : this.#servers(collected, isTimed ? imported.start : null, isLast),
    };
    return { imported: run, runId: this.#isFilled ? null : plan.run_id };
  }

  #isOfCommand(start: string | null): boolean {
    if (start === null) return false;
    const { start_ms, end_ms } = this.#facts;
    const at_ms = Date.parse(start);
    return at_ms >= start_ms - ROUNDING_MS && at_ms <= end_ms + ROUNDING_MS;
  }

  /** `start`: zero of the times of the run's records; null: unknown, and the window is that of the command. */
  #servers(collected: CollectionOver, start: string | null, isLast: boolean): ImportedServers {
    const { plan, window: whole } = this.#facts;
    const shift_ns = start === null ? 0 : (Date.parse(start) - Date.parse(plan.start ?? '')) * 1e6;
    return {
      forRun(measured): ServersOfRun {
        if (start === null || measured.window === null)
          return serversOfRun(collected(whole, true), { ...measured, window: null });
        const { start_ns, end_ns } = measured.window;
        const window = { start_ns: start_ns + shift_ns, end_ns: end_ns + shift_ns };
        const warmupAfter = (at_ns: number): number => measured.warmupAfter(at_ns - shift_ns);
        return serversOfRun(collected(window, isLast), { ...measured, window, warmupAfter });
      },
    };
  }
}

/** How a command ended, as a shell reports it. */
export interface CommandEnd {
  /** Its exit code, or 128 and the number of the signal that ended it. */
  readonly exitCode: number;
  /** In one line, for a command that failed; null if it succeeded. */
  readonly failure: string | null;
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command with this process' own input and outputs, and resolves when it has ended. Signals are passed on; Ctrl-C and
 * the end of a terminal reach the command without help, because it is in the same process group. Throws an
 * `ExpectedError` if it cannot be started.
 */
export function runCommand([program = '', ...args]: readonly string[]): Promise<CommandEnd> {
  const isOfTerminal = process.stdin.isTTY;
  const forwarders = FORWARDED.map((signal) => {
    const forward = (): void => {
      if (signal === 'SIGTERM' || !isOfTerminal) child.kill(signal);
    };
    process.on(signal, forward);
    return (): void => void process.off(signal, forward);
  });
  // After the handlers: the command may be running, and a signal may come, before this returns.
  const child = spawn(program, args, { stdio: 'inherit' });
  return new Promise<CommandEnd>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new ExpectedError('refused', `cannot start ${program}: ${reasonToStart(error)}`)),
    );
    child.once('exit', (code, signal) => resolve(endOf(program, code, signal)));
  }).finally(() => forwarders.forEach((remove) => remove()));
}

function endOf(program: string, code: number | null, signal: NodeJS.Signals | null): CommandEnd {
  if (signal !== null)
    return { exitCode: 128 + constants.signals[signal], failure: `${program} was ended by ${signal}` };
  const exitCode = code ?? 1;
  return { exitCode, failure: exitCode === 0 ? null : `${program} ended with exit code ${exitCode}` };
}

const reasonToStart = (error: unknown): string =>
  codeOf(error) === 'ENOENT' ? 'no program of this name was found' : reasonOf(error);

/** The clock of a file system advances in steps of up to 10 ms, and its times are rounded down. */
const CLOCK_STEP_MS = 20;

/** A file that a command wrote. */
export interface WrittenFile {
  readonly path: string;
  /** It was there before the command began, which replaced its content or appended to it. */
  readonly existed: boolean;
}

/**
 * Where a command may have written: the working directory, and the files and directories that its arguments name, also in
 * `--option=PATH`. Directories around the working directory are not among them.
 */
export function likelyPlaces(command: readonly string[], workingDirectory: string): readonly string[] {
  const named = command.slice(1).flatMap((word) => [word, word.replace(/^-[^=]*=/, '')]);
  const places = named
    .filter((word) => word !== '' && !word.startsWith('-'))
    .map((word) => resolve(workingDirectory, word))
    .filter((path) => !contains(path, workingDirectory));
  return [workingDirectory, ...new Set(places)];
}

/** The files below the places that were written since a moment, except those in a directory of stored runs. */
export async function filesWrittenSince(
  places: readonly string[],
  since_ms: number,
  runsDirectory: string,
): Promise<readonly WrittenFile[]> {
  const { paths } = await findFiles(places);
  const from_ms = since_ms - CLOCK_STEP_MS;
  const written: WrittenFile[] = [];
  for (const path of paths) {
    if (contains(resolve(runsDirectory), path)) continue;
    const { mtimeMs, birthtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0, birthtimeMs: 0 }));
    if (mtimeMs >= from_ms) written.push({ path, existed: birthtimeMs < from_ms });
  }
  return written;
}

/** Whether a path is the directory or below it. */
function contains(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
