/** Requests that follow each other until the load is stopped. */
export interface SteadyLoad {
  /** Requests that were answered with 200 and read to their end. */
  readonly answered: () => number;
  stop(): Promise<void>;
}

const WORKERS = 3;
/** A pause when the server refuses, so that a fault of the server is no busy loop of the test. */
const PAUSE_MS = 100;

/** Streams chat answers, or those of Triton's own API, whose start is the same so that caches have something to find. */
export function startSteadyLoad(url: URL): SteadyLoad {
  let stopped = false;
  let answered = 0;
  const worker = async (first: number): Promise<void> => {
    for (let index = first; !stopped; index += WORKERS) {
      const ok = (await chat(url, index)) || (await generate(url, index));
      if (ok) answered += 1;
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

function chat(url: URL, index: number): Promise<boolean> {
  const messages = [{ role: 'user', content: `${SHARED_START}Number ${index}.` }];
  const body = { model: 'sim-model', messages, max_tokens: 24, stream: true, stream_options: { include_usage: true } };
  return post(new URL('/v1/chat/completions', url), body);
}

function generate(url: URL, index: number): Promise<boolean> {
  const body = { text_input: `${SHARED_START}Number ${index}.`, max_tokens: 24, stream: true };
  return post(new URL('/v2/models/sim-model/generate_stream', url), body);
}

/** Whether the answer was a success; it is read to its end either way. */
async function post(url: URL, body: unknown): Promise<boolean> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.text();
  return response.ok;
}
