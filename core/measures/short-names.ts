/** The field's short words for measures, as vLLM, SGLang and AIPerf print them. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['ttft', 'time_to_first_token'],
  ['ttfo', 'time_to_first_output_token'],
  ['ttst', 'time_to_second_token'],
  ['itl', 'inter_token_latency'],
  ['tpot', 'inter_token_latency'],
  ['icl', 'inter_chunk_latency'],
  ['e2e', 'request_latency'],
  ['e2el', 'request_latency'],
  ['e2e_latency', 'request_latency'],
  ['isl', 'input_sequence_length'],
  ['osl', 'output_sequence_length'],
]);

const FROM_DUE = '_from_due';

/** The whole name of a measure that was given in short, `ttft_from_due` included; any other name as it is. */
export function wholeName(name: string): string {
  const fromDue = name.endsWith(FROM_DUE);
  const whole = SHORT_NAMES.get(fromDue ? name.slice(0, -FROM_DUE.length) : name);
  return whole === undefined ? name : `${whole}${fromDue ? FROM_DUE : ''}`;
}
