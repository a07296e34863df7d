import { expect, test } from '@jest/globals';
import { catalogs } from '../../../../catalog/load.ts';
import { otherLabels, processOf } from './start-proofs.ts';

// The start time of an exporter of GPUs is not that of its counters.
const servers = catalogs().filter(({ role }) => role !== 'hardware');

test.each(servers.map((each) => [each.system, each] as const))(
  '%s: what most labels mean is known: a process, or what it counts',
  (_system, { common_labels: common, families }) => {
    const cumulative = families.filter(({ type }) => type !== 'gauge');
    const labels = cumulative.flatMap((family) => [...new Set([...common, ...family.labels])]);
    const shared = [...new Set(labels)].filter((label) => {
      const count = labels.filter((each) => each === label).length;
      return count > 1 && count >= cumulative.length / 3;
    });
    const values = Object.fromEntries(shared.map((label) => [label, 'a']));
    expect([...otherLabels(values, new Set(), true).mayName.keys()]).toEqual([]);
    expect([...otherLabels({ ...values, shard: 'a' }, new Set(), true).mayName.keys()]).toEqual(['shard']);
  },
);

test('the order of labels on the page does not matter for the process that they name', () => {
  const [one, other] = [
    { pid: '7', worker: 'a', status: 'ok' },
    { worker: 'a', pid: '7' },
  ].map((labels) => processOf({ labels }, new Set()));
  expect(one).toBe('pid=7,worker=a');
  expect(other).toBe(one);
});
