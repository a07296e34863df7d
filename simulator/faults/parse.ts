import { FAULTS } from './known-faults.ts';
import type { Fault, FaultKey } from './known-faults.ts';
import { NO_FAULTS } from './plan.ts';
import type { FaultPlan } from './plan.ts';

/**
 * Reads faults as they stand on the command line, `name[:key=value,…]` each: `stall:after=5,seconds=2`.
 *
 * @throws Error that says in one line what was expected, beginning so that "must be" fits before it
 */
export function parseFaults(texts: readonly string[]): FaultPlan {
  return texts.reduce((plan, text) => {
    const { name, fault, pairs } = split(text);
    if (pairs.some(({ key }) => !Object.hasOwn(fault.keys, key))) {
      throw new Error(`${name} with no keys but ${Object.keys(fault.keys).join(', ')}`);
    }
    const values = Object.entries(fault.keys).map(([key, rule]) => {
      const given = pairs.findLast((pair) => pair.key === key);
      return [key, given === undefined ? rule.fallback : readNumber(given.value, rule, `${name} with ${key}`)] as const;
    });
    return checked(fault.add(plan, Object.fromEntries(values)), name);
  }, NO_FAULTS);
}

function split(text: string): { name: string; fault: Fault; pairs: { key: string; value: string }[] } {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const fault = Object.hasOwn(FAULTS, name) ? FAULTS[name] : undefined;
  if (fault === undefined) throw new Error(`one of ${Object.keys(FAULTS).join(', ')}`);
  const rest = colon < 0 ? [] : text.slice(colon + 1).split(',');
  const pairs = rest.map((pair) => {
    const [key = '', value, ...more] = pair.split('=');
    if (value === undefined || more.length > 0)
      throw new Error(`${name} with key=value after the colon, not '${pair}'`);
    return { key, value };
  });
  return { name, fault, pairs };
}

function readNumber(text: string, { min, max, integer }: FaultKey, what: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (!(value >= min && value <= max) || (integer && !Number.isInteger(value))) {
    throw new Error(`${what} a ${integer ? 'whole ' : ''}number from ${min} to ${max}`);
  }
  return value;
}

/** What comes again must have ended before. */
function checked(plan: FaultPlan, name: string): FaultPlan {
  for (const window of [plan.stall, plan.restart, ...plan.refusals]) {
    if (window !== null && window.everySeconds !== null && window.everySeconds <= window.seconds) {
      throw new Error(`${name} with every longer than seconds`);
    }
  }
  return plan;
}
