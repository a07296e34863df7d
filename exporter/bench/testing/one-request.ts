import { ContentRecognizer } from '../content-recognizer.ts';
import { Deadlines } from '../deadlines.ts';
import type { TimeLimits } from '../deadlines.ts';
import { chat } from '../endpoints/chat.ts';
import { EventQueue } from '../event-queue.ts';
import { runEpoch } from '../monotonic-clock.ts';
import { RequestSender } from '../request-sender.ts';
import type { ClosedRequest } from '../stream.ts';
import type { Transport } from '../transport.ts';
import { UndiciTransport } from '../undici-transport.ts';
import { scriptedServer } from './scripted-server.ts';
import type { Script } from './scripted-server.ts';

export const GENEROUS: TimeLimits = { requestTimeoutSeconds: 60, idleTimeoutSeconds: 0 };

/** What the reader told while it read, with gaps and offsets only counted. */
export interface Told {
  readonly closed: ClosedRequest;
  readonly firstContents: number;
  readonly gaps: number;
}

/** Sends one chat request over a transport and waits until its record closes. */
export async function oneRequest(
  transport: Transport,
  limits = GENEROUS,
  secrets: readonly string[] = [],
): Promise<Told> {
  const deadlines = new Deadlines(limits);
  let firstContents = 0;
  let gaps = 0;
  const context = {
    endpoint: chat,
    recognizer: new ContentRecognizer(chat.variableKeys),
    queue: new EventQueue(),
    listener: { firstContent: () => firstContents++, chunkGap: () => gaps++ },
    epoch_ns: runEpoch().monotonic_ns,
    secrets,
  };
  const sender = new RequestSender(transport, context, deadlines, []);
  const body = chat.body({ prompt: 'hi', max_tokens: 8 }, { model: 'm', sampling: {}, includeUsage: true });
  const request = { method: 'POST', path: chat.path, headers: { 'content-type': 'application/json' }, body } as const;
  const closed = await new Promise<ClosedRequest>((resolve) => {
    sender.send({ position: 0, max_tokens: 8, request }, 0, 'measure', sender.now_ns(), (_reader, ended) =>
      resolve(ended),
    );
  });
  deadlines.stop();
  return { closed, firstContents, gaps };
}

/** The record of one request to a server that answers by the script. */
export async function answeredBy(script: Script, limits = GENEROUS, secrets: readonly string[] = []): Promise<Told> {
  const server = await scriptedServer(script);
  const transport = new UndiciTransport({ origin: server.origin });
  try {
    return await oneRequest(transport, limits, secrets);
  } finally {
    await transport.close();
    await server.close();
  }
}
