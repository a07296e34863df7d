import { expect, test } from '@jest/globals';
import { Admission } from './admission.ts';
import { Pauses } from './pauses.ts';
import { openingPrefill, openPrefill } from './prefill-ramp.ts';
import { FakeGate } from './testing/fake-gate.ts';
import { WHOLE } from './workers/share.ts';

const MS = 1e6;

/** As many requests as wanted wait to be sent. */
function admission(gate: FakeGate, prefillConcurrency: number, waiting: number): Admission {
  const admitted = new Admission(gate, { concurrency: null, ...openingPrefill({ prefillConcurrency }) });
  for (let i = 0; i < waiting; i++) admitted.offer(i, () => undefined);
  return admitted;
}

test('without a ramp the whole limit is there at once', () => {
  const gate = new FakeGate();
  const admitted = admission(gate, 3, 10);
  expect(gate.due).toEqual([]);
  const pauses = new Pauses(() => gate.now);
  openPrefill(admitted, { prefillConcurrency: 3 }, 5 * MS, pauses, () => gate.now);
  expect(gate.due).toEqual([0, 1, 2]);
  gate.first(1);
  expect(gate.due).toEqual([0, 1, 2, 3]);
});

test('no limit: nothing waits', () => {
  const gate = new FakeGate();
  const admitted = new Admission(gate, { concurrency: null, ...openingPrefill({ prefillConcurrency: null }) });
  admitted.offer(0, () => undefined);
  expect(gate.due).toEqual([0]);
});

test('with a ramp it grows from one to the whole', async () => {
  const gate = new FakeGate();
  const admitted = admission(gate, 3, 10);
  const pauses = new Pauses(() => gate.now);
  const plan = { prefillConcurrency: 3, prefillConcurrencyRampSeconds: 0.02, share: WHOLE };
  openPrefill(admitted, plan, 0, pauses, () => gate.now);
  expect(gate.due).toEqual([0]);
  // The second opens in the middle of the ramp, the third at its end.
  gate.now = 10 * MS;
  while (gate.due.length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(gate.due).toEqual([0, 1]);
  gate.now = 20 * MS;
  while (gate.due.length < 3) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(gate.due).toEqual([0, 1, 2]);
  pauses.stop();
});
