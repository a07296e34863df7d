import { GOODPUT_LIMITED } from '../measures/goodput.ts';
import { wholeName } from '../measures/names.ts';
import type { GoodputLimit } from '../run/objectives.ts';
import { GrammarError, scaled, unknownMeasure } from './grammar.ts';

/**
 * Reads AIPerf's `--goodput`: `measure:limit` pairs with spaces between them, such as
 * `time_to_first_token:300 inter_token_latency:50`, or in short as vLLM's, `ttft:300 tpot:50`. Limits are in AIPerf's
 * display units: milliseconds for times, tokens per second for throughputs. Throws a `GrammarError`.
 */
export function parseGoodput(text: string): readonly GoodputLimit[] {
  const limits: GoodputLimit[] = [];
  for (const { 0: pair, index } of text.matchAll(/\S+/g)) {
    const [written = '', ...rest] = pair.split(':');
    const name = wholeName(written);
    const measure = GOODPUT_LIMITED.find((each) => each.measure === name);
    if (measure === undefined) {
      const names = GOODPUT_LIMITED.map((each) => each.measure);
      throw new GrammarError(text, index, unknownMeasure(written, names));
    }
    if (limits.some((limit) => limit.measure === name))
      throw new GrammarError(text, index, `${name} has a limit already`);
    const number = rest.join(':');
    if (!/^\d+(\.\d+)?([eE][-+]?\d+)?$/.test(number)) {
      const unit = measure.unit === 'seconds' ? 'milliseconds' : measure.unit.replaceAll('_', ' ');
      throw new GrammarError(text, index + written.length, `":" and a number of ${unit}`);
    }
    limits.push({
      measure: name,
      limit: scaled(Number(number), measure.unit === 'seconds' ? 1e-3 : 1),
      unit: measure.unit,
    });
  }
  if (limits.length === 0) throw new GrammarError(text, 0, 'a measure and its limit, such as time_to_first_token:300');
  return limits;
}
