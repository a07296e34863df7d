import { AIPERF } from './aiperf.ts';
import { type OptionAnswer, type Peer, accepted, differs, instead } from './answer.ts';
import { GENAI_PERF } from './genai-perf.ts';
import { GUIDELLM } from './guidellm.ts';
import { SGLANG_BENCH } from './sglang-bench.ts';
import { VLLM_BENCH } from './vllm-bench.ts';

/** LLMPerf's token_benchmark_ray.py, and names that many programs share. */
const OTHER_NAMES: Peer = {
  name: 'LLMPerf and other names',
  command: 'token_benchmark_ray.py',
  version: '2.0',
  options: [
    ['--llm-api', instead('use `--endpoint-type`')],
    ['--mean-input-tokens', accepted('isl')],
    ['--stddev-input-tokens', accepted('isl-stddev')],
    ['--mean-output-tokens', accepted('osl')],
    ['--stddev-output-tokens', accepted('osl-stddev')],
    ['--num-concurrent-requests', accepted('concurrency')],
    ['--max-num-completed-requests', accepted('request-count')],
    ['--timeout', instead('use `--benchmark-duration` for the whole run, `--request-timeout-seconds` for one request')],
    ['--additional-sampling-params', accepted('extra-inputs')],
    ['--results-dir', instead('use `--runs-dir VALUE`')],
    ['--metadata', differs('one `KEY=VALUE` after each `--metadata`')],
    ['--endpoint-url', accepted('url')],
    [
      '--sweep',
      differs(
        '`--sweep auto` doubles the concurrency until throughput no longer grows; lists such as `--request-rate 5,10` give the loads',
      ),
    ],
    ['--qps --rps', accepted('request-rate')],
    ['--requests', accepted('request-count')],
    ['--duration', instead('use `--benchmark-duration VALUE`, in seconds')],
    ['--prompt-tokens', accepted('isl')],
    ['--output-tokens', instead('use `--osl VALUE`')],
    ['--max-tokens', instead('use `--osl VALUE`')],
    ['--output -o', instead('use `--runs-dir DIR`, or `--json` for the result on standard output')],
  ],
};

/** Benchmark tools whose options are accepted or answered, in the order of the guide. */
export const PEERS: readonly Peer[] = [AIPERF, VLLM_BENCH, SGLANG_BENCH, GUIDELLM, GENAI_PERF, OTHER_NAMES];

interface PeerResponse {
  readonly peer: string;
  readonly answer: OptionAnswer;
}

let byFlag: ReadonlyMap<string, readonly PeerResponse[]> | null = null;

/** What each tool's option of this name (with its dashes) is answered with. */
export function answersTo(flag: string): readonly PeerResponse[] {
  byFlag ??= Map.groupBy(PEERS.flatMap(responsesOf), ({ flag }) => flag);
  return byFlag.get(flag) ?? [];
}

function responsesOf({ name, options }: Peer): readonly (PeerResponse & { readonly flag: string })[] {
  return options.flatMap(([flags, answer]) => flags.split(' ').map((flag) => ({ flag, peer: name, answer })));
}

/** Our option that a flag of other tools means as well; null: none. */
export function acceptedAs(flag: string): string | null {
  for (const { answer } of answersTo(flag)) if (answer.kind === 'accepted') return answer.option;
  return null;
}

/** Every flag of other tools that means an option of ours, with the name of that option. */
export function acceptedFlags(): readonly (readonly [flag: string, option: string])[] {
  return PEERS.flatMap(responsesOf).flatMap(({ flag, answer }) =>
    answer.kind === 'accepted' ? [[flag, answer.option] as const] : [],
  );
}

/**
 * What to use instead of a flag of other tools, or why nothing; null: no tool has it. Where tools differ, it is taken as
 * the flag of the tool that has most of the `given` ones.
 */
export function answerTo(flag: string, value: string | null, given: readonly string[]): string | null {
  const refusing = answersTo(flag).flatMap(({ peer, answer }) =>
    answer.kind === 'instead' || answer.kind === 'none' ? [{ peer, answer }] : [],
  );
  const peersByText = new Map<string, string[]>();
  for (const { peer, answer } of likeliest(refusing, given)) {
    const text = plainText(answer, value);
    peersByText.set(text, [...(peersByText.get(text) ?? []), peer]);
  }
  const [only, ...others] = peersByText;
  if (only === undefined) return null;
  if (others.length === 0) return only[0];
  return [...peersByText].map(([text, peers]) => `as in ${peers.join(' and ')}: ${text}`).join('; ');
}

function likeliest<T extends { readonly peer: string }>(answers: readonly T[], given: readonly string[]): readonly T[] {
  const known = ({ peer }: T): number =>
    given.filter((flag) => answersTo(flag).some((each) => each.peer === peer)).length;
  const most = Math.max(...answers.map(known));
  return answers.filter((answer) => known(answer) === most);
}

function plainText(answer: Extract<OptionAnswer, { readonly kind: 'instead' | 'none' }>, value: string | null): string {
  const text = answer.kind === 'none' ? `there is no counterpart: ${answer.text}` : answer.text;
  return text.replaceAll('`', '').replaceAll('VALUE', value ?? 'VALUE');
}
