import { CONTENT_TYPES } from '../../core/exposition/index.ts';
import { pagePieces } from './metrics-page.ts';
import type { KeptFamily, MetricsPage, PagePieces, RenderedPage } from './metrics-page.ts';
import { negotiateFormat } from './negotiate-format.ts';

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
