import { expect, test } from '@jest/globals';
import { parseTarget } from '../servers/targets.ts';
import { recognisedTargets } from './recognised-targets.ts';

type Seen = Parameters<typeof recognisedTargets>[0][number];

/** A target as its loop shows it. */
function seen(address: string, facts: Partial<Omit<Seen, 'target'>> = {}): Seen {
  const target = parseTarget(address);
  return { target, system: target.system, state: 'up', drains: false, readUrl: target.name, ...facts };
}

const main = parseTarget('h:9000');
const recognised = (loops: readonly Seen[], named: readonly string[]) =>
  recognisedTargets(loops, [main], named.map(parseTarget));

test("the server's own page says what system it is, whatever else is named", () => {
  const loops = [seen('h:9000', { system: 'dynamo' }), seen('vllm=w:8001')];
  expect(recognised(loops, ['vllm=w:8001'])).toEqual({
    system: 'dynamo',
    urls: ['http://h:9000/metrics', 'http://w:8001/metrics'],
  });
});

test.each(['triton', 'smg'])('%s: the page that was named says it, the server has none', (system) => {
  const loops = [seen('h:9000', { state: 'not_metrics' }), seen('dcgm=h'), seen(`${system}=h:8102`)];
  expect(recognised(loops, ['dcgm=h', `${system}=h:8102`])).toEqual({
    system,
    urls: ['http://h:9400/metrics', 'http://h:8102/metrics'],
  });
});

test('what was merely found on this machine is listed and says nothing of the system', () => {
  const loops = [seen('h:9000', { state: 'not_metrics' }), seen('127.0.0.1:8000', { system: 'vllm' })];
  expect(recognised(loops, [])).toEqual({ system: null, urls: ['http://127.0.0.1:8000/metrics'] });
});

test('the address that is read is listed, also before a named page answers; never one that drains', () => {
  const moved = seen('h:9000', { system: 'trtllm', readUrl: 'http://h:9000/prometheus/metrics' });
  const draining = seen('w:1', { system: 'trtllm', drains: true });
  const late = seen('w:2', { state: 'waiting' });
  expect(recognised([moved, draining, late], ['w:1', 'w:2'])).toEqual({
    system: 'trtllm',
    urls: ['http://h:9000/prometheus/metrics', 'http://w:2/metrics'],
  });
  expect(recognised([seen('h:9000', { state: 'waiting' })], []).urls).toEqual([]);
});
