/** Requests that follow each other until the load is stopped. */
export interface SteadyLoad {
  /** Requests that were answered with 200 and read to their end. */
  readonly answered: () => number;
  stop(): Promise<void>;
}

const WORKERS = 3;
/** A pause when the server refuses, so that a fault of the server is no busy loop of the test. */
const PAUSE_MS = 100;

/** The API of most systems, or that of Triton, of whose models one keeps its responses. */
export type Api = 'openai' | 'triton';

/** One request: resolves with whether it was answered with 200 and read to its end. */
type Send = (url: URL, index: number) => Promise<boolean>;

/** Sends by turns what the panels need: prefixes that are cached, evicted and requested again, errors, cancelled streams. */
export function startSteadyLoad(url: URL, api: Api): SteadyLoad {
  const mix = MIXES[api];
  let stopped = false;
  let answered = 0;
  const worker = async (first: number): Promise<void> => {
    // Each worker goes through the whole mix, and no two send the same index.
    for (let turn = 0; !stopped; turn += 1) {
      const send = mix[turn % mix.length];
      if (send !== undefined && (await send(url, turn * WORKERS + first))) answered += 1;
      else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const workers = Array.from({ length: WORKERS }, (_, index) => worker(index));
  const stop = async (): Promise<void> => {
    stopped = true;
    await Promise.all(workers);
  };
  return { answered: () => answered, stop };
}

const SHARED_START = 'The same beginning in every prompt, long enough for whole blocks of a prefix cache. '.repeat(12);
const OUTPUT_TOKENS = 24;
/** So many that a cancelled request has not ended by itself. */
const CANCELLED_OUTPUT_TOKENS = 1000;
/** Long prompts come again after so many requests, when others have taken their place on the device. */
const COMES_AGAIN_AFTER = 60;

function shared(index: number): string {
  return `${SHARED_START}Number ${index}.`;
}

/** Longer than a chunk of LMCache, and from its first words on like no other. */
function long(index: number): string {
  return `Prompt ${index} differs from all others in each of its words. `.repeat(80);
}

function chat(prompt: string, maxTokens: number): object {
  const messages = [{ role: 'user', content: prompt }];
  return { model: 'sim-model', messages, max_tokens: maxTokens, stream: true, stream_options: { include_usage: true } };
}

function generate(prompt: string, maxTokens: number): object {
  return { text_input: prompt, max_tokens: maxTokens };
}

const CHAT = '/v1/chat/completions';
const STREAM = '/v2/models/sim-model/generate_stream';
const CACHED = '/v2/models/sim-model-cached/generate';

const MIXES: Readonly<Record<Api, readonly Send[]>> = {
  openai: [
    (url, index) => post(new URL(CHAT, url), chat(shared(index), OUTPUT_TOKENS)),
    (url, index) => post(new URL(CHAT, url), chat(long(index % COMES_AGAIN_AFTER), OUTPUT_TOKENS)),
    (url, index) => cancel(new URL(CHAT, url), chat(shared(index), CANCELLED_OUTPUT_TOKENS)),
    (url, index) => post(new URL(CHAT, url), chat(long(index % COMES_AGAIN_AFTER), OUTPUT_TOKENS)),
    // New each time, so that something is stored whenever Prometheus looks.
    (url, index) => post(new URL(CHAT, url), chat(long(COMES_AGAIN_AFTER + index), OUTPUT_TOKENS)),
    // No such length: refused.
    (url, index) => post(new URL(CHAT, url), chat(shared(index), -1)),
  ],
  triton: [
    (url, index) => post(new URL(STREAM, url), generate(shared(index), OUTPUT_TOKENS)),
    // Each prompt is new once, and then known.
    (url, index) => post(new URL(CACHED, url), generate(shared(Math.floor(index / 20)), OUTPUT_TOKENS)),
    (url, index) => post(new URL(STREAM, url), generate(long(index % COMES_AGAIN_AFTER), OUTPUT_TOKENS)),
  ],
};

function request(body: object): RequestInit {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** Whether the response was a success; it is read to its end either way. */
async function post(url: URL, body: object): Promise<boolean> {
  const response = await fetch(url, request(body));
  await response.text();
  return response.ok;
}

/** Goes away when the first part of the response is there. */
async function cancel(url: URL, body: object): Promise<boolean> {
  const response = await fetch(url, request(body));
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  return false;
}
