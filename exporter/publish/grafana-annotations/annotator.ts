import type { ResultFile } from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { AnnotationsClient, GrafanaError, type GrafanaAccess } from './annotations-client.ts';
import { endedRun, LLMBENCH_TAG, runTag, startedRun, type RunRegion } from './run-regions.ts';

/**
 * Keeps the annotations of one run in a Grafana: made when it begins, updated at its end. Doing it again, also by another
 * process, updates what is there. Nothing throws on Grafana's account: `finish` reports in a line.
 */
export class Annotator {
  readonly #client: AnnotationsClient;
  readonly #dashboardUid: string | null;
  /** Ids by part; null until Grafana was queried. */
  #known: Map<string, number> | null = null;
  #begun: Promise<void> = Promise.resolve();

  constructor(access: GrafanaAccess, dashboardUid: string | null) {
    this.#client = new AnnotationsClient(access);
    this.#dashboardUid = dashboardUid;
  }

  /** Returns at once. A failure is not reported: the end of the run tries again. */
  begin(run: RunFile): void {
    const started = startedRun(run);
    if (started === null) return;
    this.#begun = this.#keep(run.run_id, started).catch((error: unknown) => {
      if (!(error instanceof GrafanaError)) throw error;
    });
  }

  /** The regions of the run, its phases and its stages; a line when Grafana did not take them. */
  async finish(run: RunFile, result: ResultFile): Promise<readonly string[]> {
    try {
      await this.#begun;
      for (const region of endedRun(run, result)) await this.#keep(run.run_id, region);
      return [];
    } catch (error) {
      if (!(error instanceof GrafanaError)) throw error;
      return [`the run is not annotated in Grafana: ${error.message}`];
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #keep(runId: string, { part, ...annotation }: RunRegion): Promise<void> {
    this.#known ??= await this.#find(runId);
    const id = this.#known.get(part);
    if (id === undefined) this.#known.set(part, await this.#client.create(annotation, this.#dashboardUid));
    else await this.#client.update(id, annotation);
  }

  async #find(runId: string): Promise<Map<string, number>> {
    const found = await this.#client.find([LLMBENCH_TAG, runTag(runId)]);
    return new Map(
      found.flatMap(({ id, tags }) => tags.filter((tag) => tag.startsWith('part:')).map((part) => [part, id])),
    );
  }
}
