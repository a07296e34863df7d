import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, parseObject, type JsonObject } from '../../http/json-body.ts';
import { readPlainPrompt, readPrompt, type Prompt } from '../../http/prompt.ts';
import { POOL, ROUTER, WORKER_TYPE, type GatewayMetrics, type Routed } from './gateway-metrics.ts';
import type { CacheAwarePolicy, Upstream, Worker } from './worker.ts';

/** A refusal by the gateway itself, before any worker is called. */
export const refusal = (status: number, code: string, message: string, param: string | null = null): ApiError =>
  new ApiError(status, 'invalid_request_error', message, param, code);

/** What the gateway itself looks at in a body; the rest is the worker's to judge. */
export interface GatewayRequest {
  readonly model: string | null;
  readonly streaming: boolean;
  readonly prompt: Prompt;
}

/** @throws ApiError 400 for a body that is no JSON object or asks for less than one token */
export function readGatewayRequest(body: string, blockSize: number): GatewayRequest {
  let json: JsonObject;
  try {
    json = parseObject(body, 'JSON syntax error: Failed to parse the request body as JSON');
  } catch (error) {
    throw refusal(400, 'invalid_json', error instanceof Error ? error.message : String(error));
  }
  for (const key of ['max_tokens', 'max_completion_tokens']) {
    if (typeof json[key] === 'number' && json[key] < 1) {
      throw refusal(400, 'integer_below_min_value', `${key}: must be at least 1`, key);
    }
  }
  const model = typeof json['model'] === 'string' ? json['model'] : null;
  return { model, streaming: json['stream'] === true, prompt: promptOf(json, blockSize) };
}

function promptOf(json: JsonObject, blockSize: number): Prompt {
  const plain = [json['text'], json['prompt'], json['input']].find((text) => typeof text === 'string');
  if (plain !== undefined) return readPlainPrompt(plain, blockSize);
  const messages: unknown[] = Array.isArray(json['messages']) ? json['messages'] : [];
  const read = messages.map((message) => {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    return {
      role: typeof role === 'string' ? role : '',
      text: typeof content === 'string' ? content : JSON.stringify(content ?? ''),
    };
  });
  return readPrompt(read, blockSize);
}

const MAX_RETRIES = 5;
const FIRST_BACKOFF_SECONDS = 0.05;
const BACKOFF_FACTOR = 1.5;
/** Answers that another try may better. */
const RETRYABLE = new Set([408, 429, 500, 502, 503, 504]);

interface ForwarderOptions {
  readonly workers: readonly Worker[];
  readonly policy: CacheAwarePolicy;
  readonly upstream: Upstream;
  readonly metrics: GatewayMetrics;
  readonly now_s: () => number;
}

/** A request on its way to a worker. */
export interface Job extends Routed {
  /** Path on the worker. */
  readonly path: string;
  readonly body: string;
  readonly prompt: Prompt;
  readonly response: ServerResponse;
  /** Called when the head of the response goes out. */
  readonly responding: () => void;
}

/** Sends a request to the worker that the policy chooses, another one when that fails, and passes the response on. */
export class Forwarder {
  readonly #options: ForwarderOptions;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /**
   * Ends when the response has gone out, or its client has gone.
   *
   * @throws ApiError 503 when no worker gives a response
   */
  async forward(job: Job): Promise<void> {
    const { metrics, now_s } = this.#options;
    const started_s = now_s();
    let failed: Worker | null = null;
    for (let attempt = 0; ; attempt++) {
      const worker = this.#choose(job, failed);
      if (worker === null) throw this.#noWorkers(job);
      worker.active++;
      try {
        const answer = await this.#send(worker, job);
        if (job.response.destroyed) return;
        if (answer !== null && (attempt === MAX_RETRIES || !RETRYABLE.has(answer.statusCode ?? 0))) {
          this.#countHead(job, answer, now_s() - started_s);
          await this.#passOn(worker, job, answer);
          return;
        }
        answer?.resume();
      } finally {
        worker.active--;
      }
      failed = worker;
      if (attempt === MAX_RETRIES) {
        metrics.count('worker_retries_exhausted_total', { ...WORKER_TYPE, endpoint: job.endpoint });
        metrics.failed(job, 'backend_error');
        throw refusal(503, 'call_upstream_connection_failed', 'No worker gave an answer');
      }
      const backoffSeconds = FIRST_BACKOFF_SECONDS * BACKOFF_FACTOR ** attempt;
      metrics.count('worker_retries_total', { ...WORKER_TYPE, endpoint: job.endpoint });
      metrics.observe('worker_retry_backoff_seconds', backoffSeconds, { attempt: `${attempt + 1}` });
      await sleep(backoffSeconds * 1000);
    }
  }

  /** @param failed not this one, unless there is no other */
  #choose(job: Job, failed: Worker | null): Worker | null {
    const { workers, policy, metrics, now_s } = this.#options;
    const available = workers.filter((worker) => worker.isAvailable(now_s()));
    const others = available.filter((worker) => worker !== failed);
    const [first, ...rest] = others.length > 0 ? others : available;
    if (first === undefined) return null;
    const choice = policy.choose(job.prompt, [first, ...rest], workers);
    metrics.count('worker_selection_total', { ...POOL, model: job.model, policy: 'cache_aware' });
    metrics.count('cache_aware_policy_branch_total', { branch: choice.branch });
    metrics.observe('cache_aware_match_ratio', choice.matchRatio);
    return choice.worker;
  }

  #noWorkers(job: Job): ApiError {
    this.#options.metrics.failed(job, 'no_workers');
    return refusal(503, 'no_available_workers', 'All workers are unavailable');
  }

  /** The head of a worker's answer; null when the connection failed, also when tried again at once. */
  async #send(worker: Worker, job: Job): Promise<IncomingMessage | null> {
    const { metrics, now_s } = this.#options;
    metrics.turned(worker.url, worker.dispatched(now_s()));
    metrics.count('worker_requests_total', { worker: worker.url, model: job.model });
    for (const isResent of [false, true]) {
      if (isResent) metrics.count('router_upstream_send_retries_total', { router_type: ROUTER.router_type });
      const answer = await this.#head(worker, job);
      if (job.response.destroyed) return answer;
      if (answer === null) continue;
      const status = answer.statusCode ?? 0;
      metrics.upstream(status, '');
      if (status < 500) metrics.outcome(worker, 'success', worker.succeeded());
      else metrics.outcome(worker, 'failure', worker.failed(now_s()));
      return answer;
    }
    metrics.upstream(500, 'call_upstream_connection_failed');
    metrics.outcome(worker, 'failure', worker.failed(now_s()));
    return null;
  }

  /** Null when the connection broke before any response, for whatever reason. */
  #head(worker: Worker, job: Job): Promise<IncomingMessage | null> {
    const sent = this.#options.upstream.send(`${worker.url}${job.path}`, job.body, (sent) => endWithClient(sent, job));
    return sent.catch(() => null);
  }

  /** The clock of the router stops at the head of a response, also for streams. */
  #countHead(job: Job, { statusCode = 0 }: IncomingMessage, seconds: number): void {
    const { metrics } = this.#options;
    const { model, endpoint } = job;
    if (statusCode < 400) metrics.observe('router_request_duration_seconds', seconds, { ...ROUTER, model, endpoint });
    else metrics.failed(job, statusCode < 500 ? 'validation_error' : 'backend_error');
  }

  /** A stream that breaks ends with an error event and `[DONE]`, as if it were well: that is what smg 1.13.0 does. */
  #passOn(worker: Worker, job: Job, answer: IncomingMessage): Promise<void> {
    const { metrics, now_s } = this.#options;
    const { response } = job;
    const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true;
    response.writeHead(answer.statusCode ?? 502, headOf(answer, worker));
    response.flushHeaders();
    job.responding();
    return new Promise((resolve) => {
      response.once('close', resolve);
      answer.once('error', (error) => {
        if (response.destroyed) return;
        metrics.outcome(worker, 'failure', worker.failed(now_s()));
        metrics.failed(job, 'backend_error');
        if (isStream) response.end(brokenStream(error));
        else response.destroy();
      });
      answer.pipe(response);
    });
  }
}

function endWithClient(sent: ClientRequest, { response }: Job): void {
  const end = (): void => void sent.destroy();
  response.once('close', end);
  sent.once('close', () => response.off('close', end));
}

const PASSED_ON = ['content-type', 'content-length', 'retry-after', 'x-request-id'];

function headOf({ headers }: IncomingMessage, worker: Worker): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { ...Object.fromEntries(passed), 'x-smg-routed-worker-id': worker.url };
}

function brokenStream(error: Error): string {
  const body = { error: { message: `Stream error: ${error.message}`, type: 'stream_error' } };
  return `data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`;
}
