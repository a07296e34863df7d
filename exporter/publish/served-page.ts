import { CONTENT_TYPES } from '../../core/exposition/index.ts';
import type { RunOutput } from '../../core/run/run-output.ts';
import {
  pagePieces,
  negotiateFormat,
  type KeptFamily,
  type MetricsPage,
  type PagePieces,
  type RenderedPage,
} from './metrics-page.ts';

/** The live families of one run, as they are now. */
export interface LiveSource {
  lines(): Promise<readonly RunFamily[]>;
}

/** `ofProcess`: the family describes the process, not the run: the page has that of the run that began last. */
export interface RunFamily extends KeptFamily {
  readonly ofProcess: boolean;
}

/** One run on the page. */
export interface PageEntry {
  /** The values are final: they are written once more and kept. */
  seal(): void;
  /** Takes the run off the page. */
  remove(): void;
}

/** The live metrics of the runs of one process: of the one that is measured, and of those whose scrapers lack the end. */
export class LiveRunsPage implements MetricsPage {
  readonly #runs = new Set<() => Promise<readonly RunFamily[]>>();

  add(source: LiveSource): PageEntry {
    let isFinal = false;
    let kept: Promise<readonly RunFamily[]> | null = null;
    const lines = (): Promise<readonly RunFamily[]> => {
      if (kept !== null) return kept;
      const now = source.lines();
      if (isFinal) kept = now;
      return now;
    };
    this.#runs.add(lines);
    return { seal: () => void (isFinal = true), remove: () => void this.#runs.delete(lines) };
  }

  async render(accept: string | undefined): Promise<RenderedPage<PagePieces>> {
    const format = negotiateFormat(accept);
    const runs = await Promise.all([...this.#runs].map((lines) => lines()));
    const last = runs.length - 1;
    const families = runs.flatMap((lines, i) => (i === last ? lines : lines.filter(({ ofProcess }) => !ofProcess)));
    return { contentType: CONTENT_TYPES[format], body: pagePieces(families, format) };
  }
}

/** Serves the live metrics of a run over HTTP. Throws a `ListenError` when the port is not available. */
export type ServePage = (live: LiveSource, options: ServedPageOptions) => Promise<ServedPage>;

export interface ServedPageOptions {
  readonly runId: string;
  readonly scenario: string;
  /** A `serve` process may list the runs of this directory. */
  readonly runsDirectory: string;
  readonly version: string;
  readonly host: string;
  /** Further host names that requests may be addressed to; see `AllowedHostOptions`. */
  readonly allowedHosts: readonly string[];
  /** 0: any free port. */
  readonly port: number;
  /** Null: `Linger` decides, with its default limit; 0: no wait, the page ends with the run. */
  readonly lingerMaxSeconds: number | null;
  readonly say: (line: string) => void;
}

export interface ServedPage extends RunOutput {
  readonly metricsUrl: string;
  /**
   * Waits until a scraper has fetched this run that many times; false: none has within the limit. If nothing came to the page
   * within a limit before, there is no wait.
   */
  scraped(times: number, limit_seconds: number, givenUp: AbortSignal): Promise<boolean>;
}
