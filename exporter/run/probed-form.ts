import { probe } from '../bench/probe.ts';
import { waysOf } from '../bench/round-robin-transport.ts';
import type { RequestForm } from '../bench/request-feed.ts';
import type { RunControls } from '../bench/run-controls.ts';
import type { Target } from '../bench/target.ts';
import type { Transport } from '../bench/transport.ts';
import type { RunRequest } from './run-request.ts';

const PROBE_TIMEOUT_SECONDS = 120;

const WITHOUT_COUNTS =
  'the server refuses stream_options: it tells no token counts, so ITL and token throughput are absent; --tokenizer counts them here';
const COUNTED_HERE = 'the server refuses stream_options: tokens are counted by the tokenizer on this side';

export interface Probing {
  readonly request: Pick<RunRequest, 'requestTimeoutSeconds'>;
  /** Each is asked. */
  readonly targets: readonly Target[];
  readonly secrets: readonly string[];
  readonly transport: Transport;
  readonly controls: RunControls;
  readonly say: (line: string) => void;
}

/** The form of the requests after every server has answered the probe. Throws `ProbeError`. */
export async function probedForm(
  form: RequestForm,
  { request, targets, secrets, transport, controls, say }: Probing,
): Promise<RequestForm> {
  const requestTimeoutSeconds = Math.min(request.requestTimeoutSeconds, PROBE_TIMEOUT_SECONDS);
  const ways = waysOf(transport);
  let { includeUsage } = form.options;
  for (const [i, { origin, modelsPath }] of targets.entries()) {
    const options = { form, origin, modelsPath, requestTimeoutSeconds, secrets };
    const probed = await probe(options, ways[i] ?? transport, controls);
    includeUsage &&= probed.includeUsage;
  }
  if (!includeUsage) say(form.countTokens === undefined ? WITHOUT_COUNTS : COUNTED_HERE);
  return { ...form, options: { ...form.options, includeUsage } };
}
