import {
  type ResponseContext,
  type ClosedRequest,
  EventQueue,
  Deadlines,
  type TimeLimits,
} from '../responses/response-reader.ts';
import { ContentRecognizer } from '../responses/content-recognizer.ts';
import { chat } from '../endpoints/openai.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { runEpoch } from '../../clock/monotonic-clock.ts';
import { RequestSender } from '../requests/request-sender.ts';
import type { Transport } from '../transports/transport.ts';
import { UndiciTransport } from '../transports/undici-transport.ts';
import { scriptedServer } from './scripted-server.ts';
import type { Script } from './scripted-server.ts';

export const GENEROUS: TimeLimits = {
  requestTimeoutSeconds: 60,
  firstTokenTimeoutSeconds: 0,
  idleTimeoutSeconds: 0,
};

/** What the reader reported while it read, with gaps and offsets only counted. */
export interface Reported {
  readonly closed: ClosedRequest;
  readonly firstContents: number;
  readonly gaps: number;
}

/** What is not as usual: a streamed chat. */
export interface Asking extends Partial<Pick<ResponseContext, 'stream' | 'keepText' | 'countTokens' | 'checkUsage'>> {
  readonly endpoint?: Endpoint;
  readonly input_tokens?: number;
  readonly choices?: number;
}

/** Sends one request over a transport and waits until its record closes. */
export async function oneRequest(
  transport: Transport,
  limits = GENEROUS,
  secrets: readonly string[] = [],
  asking: Asking = {},
): Promise<Reported> {
  const deadlines = new Deadlines(limits);
  let firstContents = 0;
  let gaps = 0;
  const { endpoint = chat, input_tokens, choices = 1, ...reading } = asking;
  const context = {
    endpoint,
    recognizer: new ContentRecognizer(endpoint.variableKeys),
    queue: new EventQueue(),
    listener: { firstContent: () => firstContents++, chunkGap: () => gaps++ },
    epoch_ns: runEpoch().monotonic_ns,
    secrets,
    ...reading,
  };
  const sender = new RequestSender(transport, context, deadlines);
  const options = { model: 'm', sampling: {}, includeUsage: true, stream: asking.stream ?? true };
  const body = endpoint.body({ prompt: 'hi', max_tokens: 8 }, options);
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', path: endpoint.path, headers, body } as const;
  const counted = input_tokens === undefined ? {} : { input_tokens };
  const closed = await new Promise<ClosedRequest>((resolve) => {
    const turn = { index: 0, phase: 'measure', due_ns: sender.now_ns() } as const;
    sender.send({ position: 0, max_tokens: 8, counted, choices, request }, turn, (_reader, ended) => resolve(ended));
  });
  deadlines.stop();
  return { closed, firstContents, gaps };
}

/** The record of one request to a server that responds by the script. */
export async function answeredBy(
  script: Script,
  limits = GENEROUS,
  secrets: readonly string[] = [],
  asking: Asking = {},
): Promise<Reported> {
  const server = await scriptedServer(script);
  const transport = new UndiciTransport({ origin: server.origin });
  try {
    return await oneRequest(transport, limits, secrets, asking);
  } finally {
    await transport.close();
    await server.close();
  }
}
