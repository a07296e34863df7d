import { FieldType, toDataFrame } from '@grafana/data';
import { panelData } from '../../../../test/panel-data.ts';
import { runRegions } from './run-regions.ts';

test('the runs of a real annotation query', () => {
  expect(runRegions(panelData('raw-cumulative-counters').annotations)).toEqual([
    { startMs: 1795285774000, endMs: 1795285806000, title: 'run r7 measure', color: '#5794F2' },
    { startMs: 1795285848000, endMs: 1795285898000, title: 'run r8 measure', color: '#5794F2' },
    { startMs: 1795285940000, endMs: 1795285954000, title: 'run r9 measure', color: '#5794F2' },
  ]);
});

test('a moment has no length, markup is left out, rows without a time are skipped', () => {
  const frame = toDataFrame({
    fields: [
      { name: 'time', type: FieldType.time, values: [5000, undefined] },
      { name: 'text', type: FieldType.string, values: ['<b>deployed</b>', 'nowhere'] },
    ],
  });
  expect(runRegions([frame])).toEqual([{ startMs: 5000, endMs: 5000, title: 'deployed', color: null }]);
});
