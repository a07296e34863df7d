import { Agent, request } from 'undici';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import { reasonOf } from '../../errors/store-errors.ts';

export interface GrafanaAccess {
  /** With the path under which Grafana is served, without a slash at the end. */
  readonly url: string;
  readonly token: string;
}

/** Grafana did not do what was requested; the message is one line without the token. */
export class GrafanaError extends Error {
  override readonly name = 'GrafanaError';
}

/** An annotation as Grafana keeps it; times are milliseconds since the epoch. */
export interface StoredAnnotation {
  readonly id: number;
  readonly tags: readonly string[];
}

export interface AnnotationBody {
  readonly time: number;
  /** Makes it a region. */
  readonly timeEnd?: number;
  readonly tags: readonly string[];
  readonly text: string;
}

const CONNECT_TIMEOUT_MS = 3_000;
const TOTAL_TIMEOUT_MS = 5_000;
/** Of one run there are a handful. */
const MAX_FOUND = 100;

/** Grafana's HTTP API of annotations (POST, PATCH, GET /api/annotations). Every method throws a `GrafanaError`. */
export class AnnotationsClient {
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
