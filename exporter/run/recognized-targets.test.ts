import { expect, test } from '@jest/globals';
import { parseTarget } from '../servers/scrape/targets.ts';
import { recognizedTargets } from './recognized-targets.ts';

type Seen = Parameters<typeof recognizedTargets>[0][number];

/** A target as its loop shows it. */
function seen(address: string, facts: Partial<Omit<Seen, 'target'>> = {}): Seen {
  const target = parseTarget(address);
  return { target, system: target.system, state: 'up', drains: false, readUrl: target.name, ...facts };
}

const main = parseTarget('h:9000');
const recognized = (loops: readonly Seen[], named: readonly string[]) =>
  recognizedTargets(loops, { mains: [main], named: named.map(parseTarget) });

test("the server's own page identifies the system, regardless of other configured pages", () => {
  const loops = [seen('h:9000', { system: 'dynamo' }), seen('vllm=w:8001')];
  expect(recognized(loops, ['vllm=w:8001'])).toEqual({
    system: 'dynamo',
    urls: ['http://h:9000/metrics', 'http://w:8001/metrics'],
    read: [
      { target: 'http://h:9000/metrics', system: 'dynamo' },
      { target: 'http://w:8001/metrics', system: 'vllm' },
    ],
  });
});

test.each(['triton', 'smg'])('%s: the page that was named says it, the server has none', (system) => {
  const loops = [seen('h:9000', { state: 'not_metrics' }), seen('dcgm=h'), seen(`${system}=h:8102`)];
  expect(recognized(loops, ['dcgm=h', `${system}=h:8102`])).toEqual({
    system,
    urls: ['http://h:9400/metrics', 'http://h:8102/metrics'],
    read: [
      { target: 'http://h:9400/metrics', system: 'dcgm' },
      { target: 'http://h:8102/metrics', system },
    ],
  });
});

test('a page that was only discovered on this machine is listed and does not identify the system', () => {
  const loops = [seen('h:9000', { state: 'not_metrics' }), seen('127.0.0.1:8000', { system: 'vllm' })];
  expect(recognized(loops, [])).toMatchObject({ system: null, urls: ['http://127.0.0.1:8000/metrics'] });
});

test('the address that is read is listed, also before a named page answers; one that drains is only read', () => {
  const moved = seen('h:9000', { system: 'trtllm', readUrl: 'http://h:9000/prometheus/metrics' });
  const draining = seen('w:1', { system: 'trtllm', drains: true });
  const late = seen('w:2', { state: 'waiting' });
  expect(recognized([moved, draining, late], ['w:1', 'w:2'])).toEqual({
    system: 'trtllm',
    urls: ['http://h:9000/prometheus/metrics', 'http://w:2/metrics'],
    read: [
      { target: 'http://h:9000/metrics', system: 'trtllm' },
      { target: 'http://w:1/metrics', system: 'trtllm' },
    ],
  });
  expect(recognized([seen('h:9000', { state: 'waiting' })], []).urls).toEqual([]);
});
