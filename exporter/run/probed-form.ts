import { messageExcerpt } from '../errors/message-excerpt.ts';
import { probe } from '../load/requests/probe.ts';
import { waysOf } from '../load/transports/round-robin-transport.ts';
import type { RequestForm } from '../load/requests/request-feed.ts';
import type { RunControls } from '../load/phases/run-controls.ts';
import type { RequestTarget } from '../load/transports/target.ts';
import type { Transport } from '../load/transports/transport.ts';
import type { RunRequest } from './run-request.ts';

const PROBE_TIMEOUT_SECONDS = 120;

/** A server that takes longer gets a line, so that the terminal does not look dead. */
const WAITING_LINE_SECONDS = 3;

const WITHOUT_COUNTS =
  'the server rejects stream_options and reports no token counts: ITL and token throughput are not available; --tokenizer counts tokens on the client';
const COUNTED_HERE = 'the server rejects stream_options: the tokenizer of the client counts tokens';

export interface Probing {
  readonly request: Pick<RunRequest, 'requestTimeoutSeconds'>;
  /** Each gets a probe. */
  readonly targets: readonly RequestTarget[];
  readonly secrets: readonly string[];
  readonly transport: Transport;
  readonly controls: RunControls;
  readonly say: (line: string) => void;
}

/** The form of the requests after every server has responded to the probe. Throws `ProbeError`. */
export async function probedForm(
  form: RequestForm,
  { request, targets, secrets, transport, controls, say }: Probing,
): Promise<RequestForm> {
  const requestTimeoutSeconds = Math.min(request.requestTimeoutSeconds, PROBE_TIMEOUT_SECONDS);
  const ways = waysOf(transport);
  let { includeUsage } = form.options;
  for (const [i, { origin, modelsPath }] of targets.entries()) {
    const options = { form, origin, modelsPath, requestTimeoutSeconds, secrets };
    const waiting = setTimeout(
      () => say(`waiting for ${origin} to respond to the probe request, at most ${requestTimeoutSeconds} s`),
      WAITING_LINE_SECONDS * 1000,
    );
    try {
      const probed = await probe(options, ways[i] ?? transport, controls);
      includeUsage &&= probed.includeUsage;
      const { contentType } = probed;
      if (form.options.stream !== false && !contentType.startsWith('text/event-stream')) {
        say(
          `${origin} sends streams as '${messageExcerpt(contentType, secrets)}' instead of 'text/event-stream': proxies may buffer them`,
        );
      }
    } finally {
      clearTimeout(waiting);
    }
  }
  if (!includeUsage) say(form.countTokens === undefined ? WITHOUT_COUNTS : COUNTED_HERE);
  return { ...form, options: { ...form.options, includeUsage } };
}
