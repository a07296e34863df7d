import { existsSync } from 'node:fs';
import { startPages } from './test-source-pages.ts';
import { startPrograms } from './test-source-programs.ts';

/** A benchmark that ended, and the wall time of its measure phase. */
export interface FinishedRun {
  readonly runId: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** An exporter that Prometheus can scrape, a server, and a benchmark that can be run against it. */
export interface TestSource {
  /** `host:port` whose `/sd` lists what is to be scraped. */
  readonly exporterAddress: string;
  /** Runs one benchmark and resolves when its final values have been scraped. */
  run(): Promise<FinishedRun>;
  stop(): Promise<void>;
}

const PARTS = ['exporter/cli/run.ts', 'exporter/cli/serve.ts', 'simulator/main.ts'];

/** The project's own programs; hand-made pages while one of these does not exist yet. */
export function startSource(): Promise<TestSource> {
  const complete = PARTS.every((part) => existsSync(new URL(`../${part}`, import.meta.url)));
  return complete ? startPrograms() : startPages();
}
