import type { RunProgress } from '../../../core/api/runs.ts';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { codeOf } from '../../errors/store-errors.ts';
import { openRegularFile } from '../../files/read-regular-file.ts';

const READ_BYTES = 1 << 20;
/** A record begins with its index and its phase; its outcome and its tokens follow before anything long. */
const MEASURED = /^\{"index":\d+,"phase":"measure"/;
const OUTCOME = /"outcome":"(\w+)"/;
const OUTPUT_TOKENS = /"output_tokens":(\d+)/;
const HEAD_CHARACTERS = 1024;

type Counts = Pick<RunProgress, 'requests_done' | 'requests_failed' | 'output_tokens'>;

interface CountedFile {
  offset: number;
  readonly counts: { -readonly [K in keyof Counts]: Counts[K] };
  /** Beginning of the line that was not complete. */
  head: string;
}

/** Counts the requests of running runs from their JSONL files; what was counted once is not read again. */
export class ProgressReader {
  readonly #files = new Map<string, CountedFile>();

  /** `folder` is the run's, under `.unfinished`. */
  async read(run: RunFile, folder: string, now: Date): Promise<RunProgress> {
    const measure = run.phases.find(({ phase }) => phase === 'measure');
    const lasting = run.phases.findLast(({ end }) => end === null);
    const { request_count, benchmark_duration_seconds } = run.comparison_key.stop;
    const began = measure?.start ?? null;
    return {
      phase: lasting?.phase ?? null,
      ...(await this.#measured(join(folder, 'records'))),
      requests_planned: request_count,
      elapsed_seconds: began === null ? null : Math.max(0, (now.getTime() - Date.parse(began)) / 1000),
      planned_seconds: benchmark_duration_seconds,
    };
  }

  /** Forgets the files of runs that run no more. */
  keepOnly(folders: readonly string[]): void {
    for (const path of this.#files.keys()) {
      if (!folders.some((folder) => path.startsWith(join(folder, 'records')))) this.#files.delete(path);
    }
  }

  async #measured(records: string): Promise<Counts> {
    const all = { requests_done: 0, requests_failed: 0, output_tokens: 0 };
    for (const name of await jsonlNames(records)) {
      const { counts } = await this.#counted(join(records, name));
      all.requests_done += counts.requests_done;
      all.requests_failed += counts.requests_failed;
      all.output_tokens += counts.output_tokens;
    }
    return all;
  }

  async #counted(path: string): Promise<CountedFile> {
    const counted = this.#files.get(path) ?? {
      offset: 0,
      counts: { requests_done: 0, requests_failed: 0, output_tokens: 0 },
      head: '',
    };
    this.#files.set(path, counted);
    const file = await openRegularFile(path).catch(nothingWhenGone);
    if (file === null) return counted;
    try {
      const buffer = Buffer.allocUnsafe(READ_BYTES);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, READ_BYTES, counted.offset);
        if (bytesRead === 0) return counted;
        counted.offset += bytesRead;
        countLines(counted, buffer.toString('latin1', 0, bytesRead));
      }
    } finally {
      await file.close();
    }
  }
}

function countLines(counted: CountedFile, text: string): void {
  let from = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
    countLine(counted.counts, counted.head + text.slice(from, Math.min(end, from + HEAD_CHARACTERS)));
    counted.head = '';
    from = end + 1;
  }
  counted.head = (counted.head + text.slice(from, from + HEAD_CHARACTERS)).slice(0, HEAD_CHARACTERS);
}

function countLine(counts: CountedFile['counts'], head: string): void {
  if (!MEASURED.test(head)) return;
  const outcome = OUTCOME.exec(head)?.[1];
  counts.requests_done += 1;
  if (outcome === 'ok') counts.output_tokens += Number(OUTPUT_TOKENS.exec(head)?.[1] ?? 0);
  if (FAILED_OUTCOMES.some((failed) => failed === outcome)) counts.requests_failed += 1;
}

async function jsonlNames(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(nothingWhenGone)) ?? [];
  return names.filter((name) => name.endsWith('.jsonl'));
}

/** A run may end while it is looked at. */
function nothingWhenGone(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}
