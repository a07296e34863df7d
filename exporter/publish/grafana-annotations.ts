import { Agent, request } from 'undici';
import type { StageRegion } from '../../core/api/runs.ts';
import { loadText } from '../../core/run/load.ts';
import { countOf } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { messageExcerpt } from '../errors/message-excerpt.ts';
import { reasonOf } from '../errors/expected-error.ts';
import { scaleText } from './views/annotations.ts';
import { stageRegions } from './views/run-summary.ts';

export interface GrafanaAccess {
  /** With the path under which Grafana is served, without a slash at the end. */
  readonly url: string;
  readonly token: string;
}

/** Grafana did not do what was requested; the message is one line without the token. */
class GrafanaError extends Error {
  override readonly name = 'GrafanaError';
}

/** An annotation as Grafana keeps it; times are milliseconds since the epoch. */
export interface StoredAnnotation {
  readonly id: number;
  readonly tags: readonly string[];
}

interface AnnotationBody {
  readonly time: number;
  /** Makes it a region. */
  readonly timeEnd?: number;
  readonly tags: readonly string[];
  readonly text: string;
}

const CONNECT_TIMEOUT_MS = 3_000;
const TOTAL_TIMEOUT_MS = 5_000;
/** Of one run there are a handful, and the changes of its servers. */
const MAX_FOUND = 200;
/** Each is a request to Grafana. */
const MAX_CHANGES = 50;

/** Grafana's HTTP API of annotations (POST, PATCH, GET /api/annotations). Every method throws a `GrafanaError`. */
class AnnotationsClient {
  readonly #access: GrafanaAccess;
  readonly #agent = new Agent({ connections: 1, allowH2: false, connect: { timeout: CONNECT_TIMEOUT_MS } });

  constructor(access: GrafanaAccess) {
    this.#access = access;
  }

  /** The annotations that have all of these tags. */
  async find(tags: readonly string[]): Promise<readonly StoredAnnotation[]> {
    const query = new URLSearchParams([
      ...tags.map((tag): [string, string] => ['tags', tag]),
      ['type', 'annotation'],
      ['limit', String(MAX_FOUND)],
    ]);
    const found = await this.#call('GET', `?${query.toString()}`);
    return Array.isArray(found) ? found.filter(isStored) : [];
  }

  async create(annotation: AnnotationBody, dashboardUid: string | null): Promise<number> {
    const created = await this.#call('POST', '', {
      ...annotation,
      ...(dashboardUid === null ? {} : { dashboardUID: dashboardUid }),
    });
    const id = typeof created === 'object' && created !== null && 'id' in created ? created.id : null;
    if (typeof id !== 'number') throw new GrafanaError('Grafana does not name the annotation that it made');
    return id;
  }

  async update(id: number, annotation: AnnotationBody): Promise<void> {
    await this.#call('PATCH', `/${id}`, annotation);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #call(method: 'GET' | 'POST' | 'PATCH', path: string, body: object | null = null): Promise<unknown> {
    const { url, token } = this.#access;
    const timeout = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
    try {
      const response = await request(`${url}/api/annotations${path}`, {
        dispatcher: this.#agent,
        method,
        headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
        body: body === null ? null : JSON.stringify(body),
        signal: timeout,
      });
      const text = await response.body.text();
      if (response.statusCode >= 200 && response.statusCode < 300) return JSON.parse(text) as unknown;
      throw new GrafanaError(messageExcerpt(`HTTP ${response.statusCode}: ${text}`, [token]));
    } catch (error) {
      if (error instanceof GrafanaError) throw error;
      const reason = timeout.aborted ? `no answer for ${TOTAL_TIMEOUT_MS / 1000} s` : reasonOf(error);
      throw new GrafanaError(messageExcerpt(reason, [token]), { cause: error });
    }
  }
}

function isStored(value: unknown): value is StoredAnnotation {
  if (typeof value !== 'object' || value === null) return false;
  const { id, tags } = value as Partial<Record<keyof StoredAnnotation, unknown>>;
  return typeof id === 'number' && Array.isArray(tags);
}

/** Of all annotations that llmbench makes. */
const LLMBENCH_TAG = 'llmbench';
const runTag = (runId: string): string => `run_id:${runId}`;

/** A region of a run; `part` distinguishes it from the run's other regions, and is one of its tags. */
interface RunRegion extends AnnotationBody {
  readonly part: string;
}

const WHOLE_RUN = 'part:run';

/** The run as it begins: its end is not known. Null for a run without a time of its own. */
function startedRun(run: RunFile): RunRegion | null {
  if (run.start === null) return null;
  return region(run, WHOLE_RUN, Date.parse(run.start), null, [], description(run));
}

/** The run, its phases, the stages of its load and the changes of its servers, from a run that has ended. Empty for a run without a time of its own. */
function endedRun(run: RunFile, result: ResultFile): readonly RunRegion[] {
  if (run.start === null || run.end === null) return [];
  const whole = region(
    run,
    WHOLE_RUN,
    Date.parse(run.start),
    Date.parse(run.end),
    [`status:${result.status}`],
    `${description(run)}<br>${outcome(result)}`,
  );
  const phases = run.phases.flatMap(({ phase, start, end }) =>
    start === null || end === null
      ? []
      : [region(run, `part:${phase}`, Date.parse(start), Date.parse(end), [], `${phase} of ${description(run)}`)],
  );
  const changes = (result.servers?.target_changes ?? []).slice(0, MAX_CHANGES).map((each, i) => {
    const text = `${escapeHtml(scaleText(each))} · ${description(run)}`;
    return region(run, `part:scale-${i + 1}`, Date.parse(each.time), null, [`scale:${each.change}`], text);
  });
  return [whole, ...phases, ...stageRegions(result).map((stage) => stageOf(run, stage)), ...changes];
}

function stageOf(run: RunFile, { stage, load, start, end }: StageRegion): RunRegion {
  const text = `stage ${stage}, ${load}, of ${description(run)}`;
  return region(run, `part:stage-${stage}`, Date.parse(start), Date.parse(end), [`stage:${stage}`], text);
}

function region(
  run: RunFile,
  part: string,
  time: number,
  timeEnd: number | null,
  moreTags: readonly string[],
  text: string,
): RunRegion {
  const tags = [LLMBENCH_TAG, runTag(run.run_id), part, `scenario:${run.scenario}`, ...moreTags];
  return { part, time, ...(timeEnd === null ? {} : { timeEnd }), tags, text };
}

/** Grafana shows the text as HTML. */
function description({ run_id, scenario, comparison_key: { model, load } }: RunFile): string {
  const parts = [
    model === null ? scenario : `${scenario}: ${model}`,
    load === null ? '' : loadText(load, 'label'),
    run_id,
  ];
  return escapeHtml(parts.filter((part) => part !== '').join(' · '));
}

function outcome({ status, requests, measures }: ResultFile): string {
  const p99 = measures.find(
    (each) =>
      each.measure === 'time_to_first_token' &&
      each.origin === 'client' &&
      each.population === 'ok' &&
      each.clock === 'sent',
  );
  const value = p99?.kind === 'distribution' ? p99.percentiles.p99.value : null;
  const others = countOf(requests, ['error', 'timeout', 'cancelled']);
  return escapeHtml(
    `${status}: ${requests.ok ?? 'unknown'} requests ok, ${others ?? 'unknown'} not` +
      (value === null ? '' : `, p99 of the time to first token ${formatSeconds(value)}`),
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** A duration for people, three digits: `84.2 ms`, `1.25 s`. */
function formatSeconds(seconds: number): string {
  return seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;
}

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
